import Type, { type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { ImportedQuota, LocalTimes } from '../../admin/many/import-quotas.ts'
import { ExportQuotasQuery } from '../../contract/exports.ts'
import type { ImportRow } from '../../contract/import.ts'
import {
  type AdminListQuery,
  CreateQuotaReq,
  SORTED_BY,
  SORTED_BY_USE,
  SORTS,
  type Sort,
  UpdateQuotaReq,
} from '../../contract/quotas.ts'
import type { QuotaFilter } from '../../db/quotas/conditions.ts'
import type { QuotaOrder } from '../../db/quotas/lists.ts'
import { ORDERS_OF_DELETED } from '../../db/quotas/streams.ts'
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import type { QuotaDraft, QuotaPatch } from '../../domain/quotas/quota.ts'
import { isLocalTime, timeZoneName } from '../../domain/time/window.ts'
import { invalidRequest } from '../../errors.ts'
import type { Viewer } from '../auth/guard.ts'
import { cursorInteger, cursorsOf, cursorTime, invalidCursor, issuesWithCursor } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'

/* ── Bodies ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** A validated body as a draft of the domain. */
export function draftOf(body: CreateQuotaReq): QuotaDraft {
  return canonical(body, CreateQuotaReq)
}

/** A validated body as a patch of the domain. */
export function patchOf(body: UpdateQuotaReq): QuotaPatch {
  return canonical(body, UpdateQuotaReq)
}

/** A validated row of an import: the draft of a quota, or a patch of the one that it names. */
export function importedQuotaOf(row: ImportRow, user_id: number): ImportedQuota {
  const { id, limit, external_ref, opening_used } = row
  const local = localTimesOf(row)
  const exact = Object.fromEntries(Object.entries(row).filter(([name]) => !Object.hasOwn(local, name)))
  const settings = { ...canonical(exact, UpdateQuotaReq), ...(Object.keys(local).length === 0 ? {} : { local }) }
  if (id !== undefined) return { ...settings, id, user_id }
  if (limit === undefined || external_ref == null) throw new Error('the row was not validated')
  const opening = opening_used === undefined ? {} : { opening_used }
  return { ...settings, ...opening, user_id, limit, external_ref }
}

function localTimesOf({ starts_at, expires_at }: ImportRow): LocalTimes {
  return {
    ...(starts_at !== undefined && isLocalTime(starts_at) ? { starts_at } : {}),
    ...(expires_at != null && isLocalTime(expires_at) ? { expires_at } : {}),
  }
}

/**
 * Converts timestamps to numbers, time zone names to their canonical spelling, and sorts the lists that are sets. Only
 * fields of the schema are taken: any other would become one of the quota's own, such as `used`.
 */
export function canonical<Body extends UpdateQuotaReq>(given: Body, { properties }: { properties: object }) {
  const known = Object.entries(given).filter(([name]) => Object.hasOwn(properties, name))
  const body = Object.fromEntries(known) as Body
  const { starts_at, expires_at, time_zone, countries, message_types, alert_at, ...rest } = body
  return {
    ...rest,
    ...(starts_at === undefined ? {} : { starts_at: timestampOf(starts_at) }),
    ...(expires_at === undefined ? {} : { expires_at: expires_at === null ? null : timestampOf(expires_at) }),
    ...(time_zone === undefined ? {} : { time_zone: timeZoneName(time_zone) ?? time_zone }),
    ...(countries === undefined ? {} : { countries: countries?.toSorted() ?? null }),
    ...(message_types === undefined ? {} : { message_types: message_types?.toSorted() ?? null }),
    ...(alert_at === undefined ? {} : { alert_at: alert_at.toSorted((one, other) => one - other) }),
  }
}

/* ── Lists ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Lower case can be longer than what an administrator wrote. */
const sortText = Type.String({ format: 'text', maxLength: 500 })

/** The filters of the list of administrators. Times are milliseconds since 1970. */
const Filters = Type.Object({
  ...ExportQuotasQuery.properties,
  expires_after: Type.Optional(cursorTime),
  expires_before: Type.Optional(cursorTime),
})
type Filters = Static<typeof Filters>
const FILTERS = Object.keys(Filters.properties)

/** The last quota of a page, and the order and the filters of the list. */
const Cursor = Type.Object(
  {
    sort: Type.Enum(SORTS),
    value: Type.Union([cursorInteger, sortText, Type.Null()]),
    id: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
    ...Filters.properties,
  },
  { additionalProperties: false },
)
type Cursor = Static<typeof Cursor>
const cursors = cursorsOf(Cursor)

const SORT_VALUES: Record<QuotaOrder['by'], TSchema> = {
  id: cursorInteger,
  expires_at: cursorTime,
  created_at: cursorTime,
  name: sortText,
  external_ref: sortText,
  remaining: cursorInteger,
  used_percent: cursorInteger,
}

/** The cursors of alerts: the last one of a page. */
export const alertCursors = cursorsOf(
  Type.Object(
    { percent: Type.Integer({ minimum: 1, maximum: 100 }), at: cursorTime, id: cursorInteger },
    { additionalProperties: false },
  ),
)

/** A list request as the database takes it. */
export interface ListRequest {
  filter: Pick<QuotaFilter, keyof Filters>
  order: QuotaOrder
  /** The last quota of the previous page; undefined for a list by page number. */
  after: Pick<Cursor, 'value' | 'id'> | undefined
  /** The cursor of the page after a quota. */
  cursorAfter(last: Pick<Cursor, 'value' | 'id'>): string
}

/** The sorts of the deleted quotas of all users. */
const SORTS_OF_DELETED: readonly string[] = ORDERS_OF_DELETED.flatMap(by => [by, `-${by}`])

/** @throws Problem `invalid_request` if the parameters contradict each other or the cursor */
export function listRequestOf(query: AdminListQuery, viewer: Viewer): ListRequest {
  const asked = filtersOf(query)
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, asked, query, viewer)
  const { sort = '-id' } = cursor ?? query
  const filters = cursor === undefined ? asked : filtersIn(cursor)
  const filter = viewer.role === 'user' ? { ...filters, user_id: viewer.userId } : filters
  const isOfOneUser = filter.user_id !== undefined
  if (SORTED_BY_USE.has(orderOf(sort).by) && !isOfOneUser) {
    const message = `${sort} is possible only for a single user: add user_id. For all users, /api/sms/admin/quota/alerts lists the quotas that are running out`
    throw invalidRequest([{ path: 'sort', message }])
  }
  if (filter.status === 'deleted' && !isOfOneUser && !SORTS_OF_DELETED.includes(sort)) {
    const message = `of the deleted quotas of all users must be one of ${SORTS_OF_DELETED.join(', ')}; add user_id for ${sort}`
    throw invalidRequest([{ path: 'sort', message }])
  }
  return {
    filter,
    order: orderOf(sort),
    after: cursor,
    cursorAfter: ({ value, id }) => cursors.write({ ...filters, sort, value, id }),
  }
}

function filtersIn({ sort: _sort, value: _value, id: _id, ...filters }: Cursor): Filters {
  return filters
}

function filtersOf({ page: _page, sort: _sort, page_size: _size, cursor: _cursor, ...query }: AdminListQuery): Filters {
  const { expires_after, expires_before, ...others } = query
  return {
    ...others,
    ...(expires_after === undefined ? {} : { expires_after: timestampOf(expires_after) }),
    ...(expires_before === undefined ? {} : { expires_before: timestampOf(expires_before) }),
  }
}

function orderOf(sort: Sort): QuotaOrder {
  const by = SORTED_BY.find(name => sort === name || sort === `-${name}`) ?? 'id'
  return { by, descending: sort.startsWith('-') }
}

/** A cursor fixes sort and filters, so parameters may only repeat them. */
function readCursor(text: string, asked: Filters, { page, sort }: AdminListQuery, viewer: Viewer): Cursor {
  const cursor = cursors.read(text)
  const isForViewer = viewer.role === 'admin' || (cursor.user_id === undefined && cursor.status !== 'deleted')
  const isOfOrder = cursor.value === null || Value.Check(SORT_VALUES[orderOf(cursor.sort).by], cursor.value)
  if (!isForViewer || !isOfOrder) throw invalidCursor()

  const issues = [
    ...(page === undefined ? [] : [{ path: 'page', message: 'cannot be combined with cursor' }]),
    ...issuesWithCursor(['sort', ...FILTERS], { ...asked, sort }, cursor),
  ]
  if (issues.length > 0) throw invalidRequest(issues)
  return cursor
}
