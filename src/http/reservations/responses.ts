import type { AuthoredRecord, ReservationDetail } from '../../contract/reservations.ts'
import type { Database } from '../../db/connection/database.ts'
import { type DetailedReservation, findReservation } from '../../db/reservations/lists.ts'
import { formatTimestamp } from '../../domain/time/time.ts'
import { authorshipViewOf } from '../../domain/units/view.ts'
import { Problem } from '../../errors.ts'
import { recordViewOf } from './lists.ts'

/** One reservation, for administrators. @throws Problem `not_found` */
export async function authoredRecord(db: Database, userId: number, id: string): Promise<AuthoredRecord> {
  const found = await findReservation(db, userId, id)
  if (found === undefined) throw new Problem('not_found', `User ${userId} has no reservation "${id}".`)
  return { ...detailViewOf(found), ...authorshipViewOf(found) }
}

/** One reservation of the user who asks. @throws Problem `not_found` */
export async function ownReservation(db: Database, userId: number, id: string): Promise<ReservationDetail> {
  const found = await findReservation(db, userId, id)
  if (found === undefined) throw new Problem('not_found', `You have no reservation "${id}".`)
  return detailViewOf(found)
}

function detailViewOf(reservation: DetailedReservation): ReservationDetail {
  return { ...recordViewOf(reservation), changed_at: formatTimestamp(reservation.changed_at) }
}
