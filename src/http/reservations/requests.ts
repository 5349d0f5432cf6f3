import Type, { type Static } from 'typebox'
import { ExportLedgerQuery } from '../../contract/exports.ts'
import type { AdminReservationsQuery } from '../../contract/reservations.ts'
import { closed } from '../../contract/schemas.ts'
import type { EpochMs } from '../../domain/time.ts'
import type { Viewer } from '../auth/guard.ts'
import {
  cursorInteger,
  cursorsOf,
  cursorTime,
  invalidCursor,
  type PageRequest,
  pageRequestOf,
} from '../platform/cursors.ts'

/** The filters of the list of administrators. Times are milliseconds since 1970. */
const Filters = Type.Object({
  ...ExportLedgerQuery.properties,
  from: Type.Optional(cursorTime),
  to: Type.Optional(cursorTime),
})
export type Filters = Static<typeof Filters>
const FILTERS = Object.keys(Filters.properties)

/** The filters of a list, and the last reservation of a page: its creation (`at`), user (`of`) and `id`. */
const cursors = cursorsOf(
  Type.Object(
    {
      at: cursorTime,
      of: cursorInteger,
      id: Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}$' }),
      ...Filters.properties,
    },
    closed,
  ),
)

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
export function reservationPageOf(query: AdminReservationsQuery, viewer: Viewer): PageRequest<Filters, ReservationKey> {
  return pageRequestOf(query, FILTERS, text => {
    const { at, of, id, ...filters } = cursors.read(text)
    const isForAdmins = filters.user_id !== undefined || filters.sender !== undefined
    if (viewer.role === 'user' && (isForAdmins || of !== viewer.userId)) throw invalidCursor()
    return { filters, after: { at, user_id: of, id } }
  })
}

/** The cursor of the page after this reservation. */
export function cursorAfter({ at, user_id: of, id }: ReservationKey, filters: Filters): string {
  return cursors.write({ at, of, id, ...filters })
}
