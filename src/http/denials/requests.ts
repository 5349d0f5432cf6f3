import Type, { type Static } from 'typebox'
import type { AdminDenialsQuery } from '../../contract/denials.ts'
import { ExportDenialsQuery } from '../../contract/exports.ts'
import { closed } from '../../contract/schemas.ts'
import type { DenialFilter } from '../../db/reservations/denials.ts'
import type { DenialKey } from '../../domain/denial.ts'
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
  ...ExportDenialsQuery.properties,
  from: Type.Optional(cursorTime),
  to: Type.Optional(cursorTime),
})
type Filters = Static<typeof Filters>
const FILTERS = Object.keys(Filters.properties)

/** The filters of a list, and the last denial of a page: its time (`at`), user (`of`) and `number`. */
const cursors = cursorsOf(
  Type.Object({ at: cursorTime, of: cursorInteger, number: cursorInteger, ...Filters.properties }, closed),
)

/**
 * The filters of a query, and the denial after which its page begins.
 * @throws Problem `invalid_request` if the cursor is not the viewer's, or if a filter contradicts it
 */
export function denialPageOf(query: AdminDenialsQuery, viewer: Viewer): PageRequest<Filters, DenialKey> {
  return pageRequestOf(query, FILTERS, text => {
    const { at, of, number, ...filters } = cursors.read(text)
    const isForAdmins = filters.user_id !== undefined || filters.sender !== undefined || filters.without === 'sender'
    if (viewer.role === 'user' && (isForAdmins || of !== viewer.userId)) throw invalidCursor()
    return { filters, after: { at, user_id: of, number } }
  })
}

/** The cursor of the page after this denial. */
export function cursorAfter({ at, user_id: of, number }: DenialKey, filters: Filters): string {
  return cursors.write({ at, of, number, ...filters })
}

/** What the viewer's list selects. A filter that the database does not have is a type error here. */
export function filterOf(filters: Filters, viewer: Viewer): Pick<DenialFilter, keyof Filters> {
  return viewer.role === 'user' ? { ...filters, user_id: viewer.userId } : filters
}
