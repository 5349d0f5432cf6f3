import Type, { type Static } from 'typebox'
import { type AdminListQuery, SORTS } from '../../contract/quotas.ts'
import type { Queryable } from '../../db/database.ts'
import { listQuotas, type QuotaFilter, type QuotaOrder } from '../../db/quota-lists.ts'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER } from '../../domain/bounds.ts'
import { QUOTA_STATUSES } from '../../domain/quota.ts'
import type { EpochMs } from '../../domain/time.ts'
import { viewOf } from '../../domain/view.ts'
import { invalidRequest } from '../../errors.ts'
import type { Viewer } from '../auth/guard.ts'
import { cursorsOf, invalidCursor } from '../platform/cursors.ts'

/** The last quota of a page, and the order and the filters of the list. */
const Cursor = Type.Object(
  {
    sort: Type.Enum([...SORTS]),
    value: Type.Union([Type.Integer({ minimum: 0, maximum: MAX_INTEGER }), Type.Null()]),
    id: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }),
    user_id: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_INTEGER })),
    kind: Type.Optional(Type.Enum(['grant', 'cap'])),
    status: Type.Optional(Type.Enum([...QUOTA_STATUSES])),
  },
  { additionalProperties: false },
)
type Cursor = Static<typeof Cursor>
const cursors = cursorsOf(Cursor)

/**
 * A page of quotas, for administrators and users.
 * @throws Problem `invalid_request` if the parameters contradict each other or the cursor
 */
export async function listPage(db: Queryable, query: AdminListQuery, viewer: Viewer, now: EpochMs) {
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, query, viewer)
  const { sort = '-id', kind, status, user_id } = cursor ?? query
  const userId = viewer.role === 'user' ? viewer.userId : user_id
  const order = orderOf(sort)
  if (order.by === 'remaining' && userId === undefined)
    throw invalidRequest([{ path: 'sort', message: `${sort} is possible only for a single user: add user_id` }])

  const filter: QuotaFilter = {
    ...(userId === undefined ? {} : { userId }),
    ...(kind === undefined ? {} : { kind }),
    ...(status === undefined ? {} : { status }),
  }
  const { page = 1, page_size: size = DEFAULT_PAGE_SIZE } = query
  const skip = Math.min((page - 1) * size, MAX_INTEGER)
  const start = cursor === undefined ? { skip } : { after: cursor }
  const slice = await listQuotas(db, filter, order, start, size, now)
  return {
    items: slice.quotas.map(quota => viewOf(quota, now)),
    ...(slice.total === undefined
      ? { page_size: size }
      : { total: slice.total, page, page_size: size, total_pages: Math.ceil(slice.total / size) }),
    next_cursor: slice.next && cursors.write({ sort, ...slice.next, user_id, kind, status }),
  }
}

function orderOf(sort: (typeof SORTS)[number]): QuotaOrder {
  const by = sort.replace('-', '') as QuotaOrder['by']
  return { by, descending: sort.startsWith('-') }
}

/** A cursor fixes sort and filters, so parameters may only repeat them. */
function readCursor(text: string, query: AdminListQuery, viewer: Viewer): Cursor {
  const cursor = cursors.read(text)
  const isForViewer = viewer.role === 'admin' || (cursor.user_id === undefined && cursor.status !== 'deleted')
  if (!isForViewer) throw invalidCursor()

  const issues = query.page === undefined ? [] : [{ path: 'page', message: 'cannot be combined with cursor' }]
  for (const name of ['sort', 'kind', 'status', 'user_id'] as const) {
    if (query[name] !== undefined && query[name] !== cursor[name])
      issues.push({ path: name, message: `is fixed by the cursor to ${cursor[name] ?? 'no value'}` })
  }
  if (issues.length > 0) throw invalidRequest(issues)
  return cursor
}
