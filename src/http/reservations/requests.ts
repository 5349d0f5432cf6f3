import Type, { type Static } from 'typebox'
import type { ReservationsQuery } from '../../contract/records.ts'
import type { Database } from '../../db/database.ts'
import { findQuota } from '../../db/quotas.ts'
import { listReservations, type ReservationFilter } from '../../db/reservation-lists.ts'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER } from '../../domain/bounds.ts'
import { RESERVATION_STATES, type Reservation } from '../../domain/reservation.ts'
import { formatTimestamp } from '../../domain/time.ts'
import { reservationViewOf } from '../../domain/view.ts'
import { invalidRequest, type ValidationIssue } from '../../errors.ts'
import { cursorsOf, notOurs } from '../platform/cursors.ts'
import type { Viewer } from '../quotas/list.ts'
import { timestampOf } from '../quotas/requests.ts'

const count = Type.Integer({ minimum: 0, maximum: MAX_INTEGER })
const instant = Type.Integer({ minimum: 0, maximum: Date.parse('9999-12-31T23:59:59.999Z') })

/** The filters of a walk, and behind which reservation it goes on (`at`, `of`, `id`). */
const Cursor = Type.Object(
  {
    at: instant,
    of: count,
    id: Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}$' }),
    user_id: Type.Optional(count),
    state: Type.Optional(Type.Enum([...RESERVATION_STATES])),
    quota_id: Type.Optional(count),
    from: Type.Optional(instant),
    to: Type.Optional(instant),
  },
  { additionalProperties: false },
)
const cursors = cursorsOf(Cursor)

const FILTERS = ['user_id', 'state', 'quota_id', 'from', 'to'] as const

/** What a query or a cursor selects; moments are instants. */
type Filters = Pick<Static<typeof Cursor>, (typeof FILTERS)[number]>

/** Answers a page of reservations: an administrator's of any user, a user's of their own. */
export async function reservationPage(db: Database, query: ReservationsQuery, viewer: Viewer) {
  const asked = filtersOf(query)
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, asked, viewer)
  const filters = cursor ?? asked
  const { page_size: size = DEFAULT_PAGE_SIZE } = query
  const filter = await narrow(db, filters, viewer)
  const after = cursor && { at: cursor.at, user_id: cursor.of, id: cursor.id }
  const { reservations, next } =
    filter === null ? { reservations: [], next: null } : await listReservations(db, filter, after, size)
  const { user_id, state, quota_id, from, to } = filters
  return {
    items: reservations.map(recordViewOf),
    page_size: size,
    next_cursor:
      next && cursors.write({ at: next.at, of: next.user_id, id: next.id, user_id, state, quota_id, from, to }),
  }
}

/** A quota is one user's, so who looks for it need not look at all users; null if nothing can be found. */
async function narrow(db: Database, filters: Filters, viewer: Viewer): Promise<ReservationFilter | null> {
  const { state, quota_id: quotaId, from, to } = filters
  let userId = viewer.role === 'user' ? viewer.userId : filters.user_id
  if (quotaId !== undefined) {
    const owner = (await findQuota(db, quotaId))?.user_id
    if (owner === undefined || (userId !== undefined && userId !== owner)) return null
    userId = owner
  }
  return {
    ...(userId === undefined ? {} : { userId }),
    ...(state === undefined ? {} : { state }),
    ...(quotaId === undefined ? {} : { quotaId }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  }
}

function filtersOf({ from, to, user_id, state, quota_id }: ReservationsQuery): Filters {
  return {
    ...(user_id === undefined ? {} : { user_id }),
    ...(state === undefined ? {} : { state }),
    ...(quota_id === undefined ? {} : { quota_id }),
    ...(from === undefined ? {} : { from: timestampOf(from) }),
    ...(to === undefined ? {} : { to: timestampOf(to) }),
  }
}

/** A cursor fixes the filters. */
function readCursor(text: string, asked: Filters, viewer: Viewer): Static<typeof Cursor> {
  const cursor = cursors.read(text)
  if (viewer.role === 'user' && (cursor.user_id !== undefined || cursor.of !== viewer.userId)) throw notOurs()
  const issues: ValidationIssue[] = FILTERS.filter(
    name => asked[name] !== undefined && asked[name] !== cursor[name],
  ).map(name => ({ path: name, message: `is fixed by the cursor to ${shown(name, cursor)}` }))
  if (issues.length > 0) throw invalidRequest(issues)
  return cursor
}

function shown(name: keyof Filters, cursor: Filters): string {
  const value = cursor[name]
  if (value === undefined) return 'no value'
  return name === 'from' || name === 'to' ? formatTimestamp(Number(value)) : String(value)
}

/** A reservation as people look it up. */
function recordViewOf(reservation: Reservation) {
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
