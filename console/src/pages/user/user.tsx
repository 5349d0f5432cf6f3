import { UserOverview } from '../../parts/user/overview.tsx'
import { UserPage } from './user-page.tsx'

export default function User() {
  return <UserPage>{subject => <UserOverview subject={subject} />}</UserPage>
}
