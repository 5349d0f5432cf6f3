import type {
  AdminReservationsQuery,
  AuthoredRecord,
  ReservationDetail,
  ReservationPage,
  ReservationRecord,
} from '../../contract/reservations.ts'
import type { Database } from '../../db/connection/database.ts'
import { findQuota } from '../../db/quotas/quotas.ts'
import {
  type DetailedReservation,
  findReservation,
  type ListedReservation,
  listReservations,
  type ReservationFilter,
} from '../../db/reservations/lists.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/bounds.ts'
import type { Reservation } from '../../domain/reservation.ts'
import { formatTimestamp } from '../../domain/time.ts'
import { authorshipViewOf, reservationViewOf } from '../../domain/view.ts'
import { Problem } from '../../errors.ts'
import type { Viewer } from '../auth/guard.ts'
import { cursorAfter, type Filters, reservationPageOf } from './requests.ts'

/** A page of reservations: of any user for administrators, of their own for users. */
export async function reservationPage(
  db: Database,
  query: AdminReservationsQuery,
  viewer: Viewer,
): Promise<ReservationPage> {
  const { filters, after } = reservationPageOf(query, viewer)
  const { page_size: size = DEFAULT_PAGE_SIZE } = query
  const filter = await narrow(db, filters, viewer)
  const { reservations, next } =
    filter === null ? { reservations: [], next: null } : await listReservations(db, filter, after, size)
  return {
    items: reservations.map(viewer.role === 'admin' ? authoredViewOf : recordViewOf),
    page_size: size,
    next_cursor: next && cursorAfter(next, filters),
    scanned_until: next && formatTimestamp(next.at),
  }
}

/** Adds the owner of a quota to the filter, so that only one user's reservations are read; null if nothing can match. */
async function narrow(
  db: Database,
  filters: Filters,
  viewer: Viewer,
): Promise<Pick<ReservationFilter, keyof Filters> | null> {
  const filter = viewer.role === 'user' ? { ...filters, user_id: viewer.userId } : filters
  const { user_id, quota_id } = filter
  if (quota_id === undefined) return filter
  const owner = (await findQuota(db, quota_id))?.user_id
  if (owner === undefined || (user_id !== undefined && user_id !== owner)) return null
  return { ...filter, user_id: owner }
}

function authoredViewOf(reservation: ListedReservation): ReservationRecord {
  const { made_by, settled_by } = reservation
  return { ...recordViewOf(reservation), made_by, settled_by }
}

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
