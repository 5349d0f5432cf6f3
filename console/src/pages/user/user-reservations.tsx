import { Reservations } from '../../parts/user/reservations.tsx'
import { UserPage } from './user-page.tsx'

export default function UserReservations() {
  return <UserPage>{subject => <Reservations subject={subject} />}</UserPage>
}
