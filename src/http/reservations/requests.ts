import Type, { type Static } from 'typebox'
import type { AdminReservationsQuery } from '../../contract/reservations.ts'
import { MAX_INTEGER } from '../../domain/bounds.ts'
import { RESERVATION_STATES } from '../../domain/reservation.ts'
import type { EpochMs } from '../../domain/time.ts'
import { invalidRequest } from '../../errors.ts'
import type { Viewer } from '../auth/guard.ts'
import { cursorsOf, invalidCursor, issuesWithCursor } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'

const count = Type.Integer({ minimum: 0, maximum: MAX_INTEGER })
const epochMs = Type.Integer({ minimum: 0, maximum: Date.parse('9999-12-31T23:59:59.999Z') })

/** The filters of a list, and the last reservation of a page: its creation (`at`), user (`of`) and `id`. */
const Cursor = Type.Object(
  {
    at: epochMs,
    of: count,
    id: Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}$' }),
    user_id: Type.Optional(count),
    state: Type.Optional(Type.Enum([...RESERVATION_STATES])),
    quota_id: Type.Optional(count),
    from: Type.Optional(epochMs),
    to: Type.Optional(epochMs),
  },
  { additionalProperties: false },
)
const cursors = cursorsOf(Cursor)

const FILTERS = ['user_id', 'state', 'quota_id', 'from', 'to'] as const

/** The filters of a query or a cursor. Times are milliseconds since 1970. */
export type Filters = Pick<Static<typeof Cursor>, (typeof FILTERS)[number]>

/** The place of a reservation in the list. */
export interface ReservationKey {
  at: EpochMs
  user_id: number
  id: string
}

/**
 * The filters of a query, and the reservation after which its page begins.
 * @throws Problem `invalid_request` if the cursor is not the viewer's, or if a filter contradicts it
 */
export function pageRequestOf(
  query: AdminReservationsQuery,
  viewer: Viewer,
): { filters: Filters; after: ReservationKey | undefined } {
  const asked = filtersOf(query)
  if (query.cursor === undefined) return { filters: asked, after: undefined }
  const { at, of, id, ...filters } = readCursor(query.cursor, asked, viewer)
  return { filters, after: { at, user_id: of, id } }
}

/** The cursor of the page after this reservation. */
export function cursorAfter({ at, user_id: of, id }: ReservationKey, filters: Filters): string {
  const { user_id, state, quota_id, from, to } = filters
  return cursors.write({ at, of, id, user_id, state, quota_id, from, to })
}

function filtersOf({ from, to, user_id, state, quota_id }: AdminReservationsQuery): Filters {
  return {
    ...(user_id === undefined ? {} : { user_id }),
    ...(state === undefined ? {} : { state }),
    ...(quota_id === undefined ? {} : { quota_id }),
    ...(from === undefined ? {} : { from: timestampOf(from) }),
    ...(to === undefined ? {} : { to: timestampOf(to) }),
  }
}

/** A cursor fixes the filters, so parameters may only repeat them. */
function readCursor(text: string, asked: Filters, viewer: Viewer): Static<typeof Cursor> {
  const cursor = cursors.read(text)
  if (viewer.role === 'user' && (cursor.user_id !== undefined || cursor.of !== viewer.userId)) throw invalidCursor()
  const issues = issuesWithCursor(FILTERS, asked, cursor)
  if (issues.length > 0) throw invalidRequest(issues)
  return cursor
}
