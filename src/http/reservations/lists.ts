import Type from 'typebox'
import { AdminReservationsQuery, type ReservationRecord, UserReservationsQuery } from '../../contract/reservations.ts'
import { closed } from '../../contract/schemas.ts'
import type { Database } from '../../db/connection/database.ts'
import type { Page } from '../../db/lists/pages.ts'
import { findQuota } from '../../db/quotas/quotas.ts'
import { listReservations, type ReservationFilter, type ReservationKey } from '../../db/reservations/lists.ts'
import { formatTimestamp } from '../../domain/time/time.ts'
import type { Reservation } from '../../domain/units/reservation.ts'
import { reservationViewOf } from '../../domain/units/view.ts'
import { cursorInteger, cursorTime } from '../platform/cursors.ts'
import { listOf, scannedUntil } from '../resource/list.ts'

const LIST = {
  key: Type.Object(
    {
      at: cursorTime,
      user_id: cursorInteger,
      // The service's own begin with `_`.
      id: Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}$' }),
    },
    closed,
  ),
  read: readReservations,
  more: scannedUntil,
}

/** The reservations of all users, with the senders that made and settled them. */
export const reservations = listOf({
  ...LIST,
  query: AdminReservationsQuery,
  view: reservation => {
    const { made_by, settled_by } = reservation
    return { ...recordViewOf(reservation), made_by, settled_by }
  },
})

/** Those of one user. */
export const ownReservations = listOf({ ...LIST, query: UserReservationsQuery, view: recordViewOf })

/** The owner of a quota is added to the filter, so that only one user's reservations are read. */
async function readReservations(db: Database, filter: ReservationFilter, page: Page<ReservationKey>) {
  const { user_id, quota_id } = filter
  if (quota_id === undefined) return listReservations(db, filter, page)
  const owner = (await findQuota(db, quota_id))?.user_id
  if (owner === undefined || (user_id !== undefined && user_id !== owner)) return { items: [], next: null }
  return listReservations(db, { ...filter, user_id: owner }, page)
}

/** A reservation with its request, as lists and exports show it. */
export function recordViewOf(reservation: Reservation): ReservationRecord {
  return {
    ...reservationViewOf(reservation),
    op: reservation.op,
    asked: reservation.asked,
    country: reservation.country,
    message_type: reservation.message_type,
    allow_partial: reservation.allow_partial,
    force: reservation.force,
    on_expiry: reservation.on_expiry,
    created_at: formatTimestamp(reservation.created_at),
  }
}
