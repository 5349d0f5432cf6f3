import { Reservations } from '../../parts/user/reservations.tsx'
import { MinePage } from './mine-page.tsx'

export default function MyReservations() {
  return <MinePage>{subject => <Reservations subject={subject} />}</MinePage>
}
