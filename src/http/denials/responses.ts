import Type, { type Static } from 'typebox'
import type { AdminDenialsQuery, DenialDetail, DenialPage, DenialRecord } from '../../contract/denials.ts'
import { ExportDenialsQuery } from '../../contract/exports.ts'
import { closed } from '../../contract/schemas.ts'
import type { Database } from '../../db/connection/database.ts'
import {
  type DenialFilter,
  findDenial,
  type ListedDenial,
  type LoggedDenial,
  listDenials,
} from '../../db/reservations/denials.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/bounds.ts'
import { type DenialKey, denialIdOf, denialKeyOf } from '../../domain/denial.ts'
import { explainEnded, explanationViewOf } from '../../domain/explanation.ts'
import { formatTimestamp, formatTimestampOrNull } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'
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
function denialPageOf(query: AdminDenialsQuery, viewer: Viewer): PageRequest<Filters, DenialKey> {
  return pageRequestOf(query, FILTERS, text => {
    const { at, of, number, ...filters } = cursors.read(text)
    const isForAdmins = filters.user_id !== undefined || filters.sender !== undefined || filters.without === 'sender'
    if (viewer.role === 'user' && (isForAdmins || of !== viewer.userId)) throw invalidCursor()
    return { filters, after: { at, user_id: of, number } }
  })
}

/** The cursor of the page after this denial. */
function cursorAfter({ at, user_id: of, number }: DenialKey, filters: Filters): string {
  return cursors.write({ at, of, number, ...filters })
}

/** What the viewer's list selects. A filter that the database does not have is a type error here. */
function filterOf(filters: Filters, viewer: Viewer): Pick<DenialFilter, keyof Filters> {
  return viewer.role === 'user' ? { ...filters, user_id: viewer.userId } : filters
}

/** A page of denials: of any user for administrators, of their own for users. */
export async function denialPage(db: Database, query: AdminDenialsQuery, viewer: Viewer): Promise<DenialPage> {
  const { filters, after } = denialPageOf(query, viewer)
  const { page_size: size = DEFAULT_PAGE_SIZE } = query
  const { denials, next } = await listDenials(db, filterOf(filters, viewer), after, size)
  return {
    items: denials.map(denial => viewFor(viewer, denial)),
    page_size: size,
    next_cursor: next && cursorAfter(next, filters),
  }
}

/**
 * A denial with its explanation. Users see their own only.
 * @throws Problem `not_found`
 */
export async function denialDetail(db: Database, id: string, viewer: Viewer): Promise<DenialDetail> {
  const key = denialKeyOf(id)
  const found = key && (await findDenial(db, key))
  if (found === undefined || (viewer.role === 'user' && viewer.userId !== found.denial.user_id)) {
    throw new Problem('not_found', `There is no denial ${id} in the log, or it is not kept any more.`)
  }
  const { denial, explanation, ended } = found
  const explain = [...explanation, ...explainEnded(ended, explanation).map(explanationViewOf)]
  return { ...viewFor(viewer, denial), explain }
}

/** Users do not see who asked: subjects name systems and people of the operator. */
function viewFor({ role }: Viewer, denial: ListedDenial): DenialRecord {
  return role === 'user' ? denialViewOf(denial) : { ...denialViewOf(denial), sender: denial.sender }
}

export function denialViewOf(denial: LoggedDenial): DenialRecord {
  return {
    denial_id: denialIdOf(denial),
    at: formatTimestamp(denial.at),
    user_id: denial.user_id,
    id: denial.id,
    op: denial.op,
    units: denial.units,
    country: denial.country,
    message_type: denial.message_type,
    allow_partial: denial.allow_partial,
    reason: denial.reason,
    remaining: denial.remaining,
    limiting_quota_id: denial.limiting_quota_id,
    retry_at: formatTimestampOrNull(denial.retry_at),
    skipped: denial.skipped,
  }
}
