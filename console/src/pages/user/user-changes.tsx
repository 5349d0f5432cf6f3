import { Changes } from './changes.tsx'
import { UserPage } from './user-page.tsx'

export default function UserChanges() {
  return <UserPage>{subject => <Changes userId={subject.user_id} />}</UserPage>
}
