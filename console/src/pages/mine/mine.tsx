import { UserOverview } from '../../parts/user/overview.tsx'
import { MinePage } from './mine-page.tsx'

export default function Mine() {
  return <MinePage>{subject => <UserOverview subject={subject} />}</MinePage>
}
