import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Author } from '../../admin/author.ts'
import type { VersionCheck } from '../../admin/lock-quota.ts'
import { type AdminListQuery, type CreateQuotaReq, SORTS, type UpdateQuotaReq } from '../../contract/quotas.ts'
import type { QuotaFilter, QuotaOrder } from '../../db/quota-lists.ts'
import { MAX_INTEGER } from '../../domain/bounds.ts'
import { QUOTA_STATUSES, type QuotaDraft, type QuotaPatch } from '../../domain/quota.ts'
import type { EpochMs } from '../../domain/time.ts'
import { timeZoneName } from '../../domain/window.ts'
import { invalidRequest } from '../../errors.ts'
import { principalOf, type Viewer } from '../auth/guard.ts'
import { cursorsOf, invalidCursor } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'

/* ── Headers ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Who makes a change, when, and by which request. */
export function authorOf(request: FastifyRequest, now: EpochMs): Author {
  return { now, actor: principalOf(request).subject, requestId: request.id }
}

/** The ETag of a quota's version. */
export const etagOf = (version: number) => `"${version}"`

/** Whether a quota's version satisfies `If-Match`. */
export function versionCheck(ifMatch: string | undefined): VersionCheck {
  if (ifMatch === undefined || ifMatch === '*') return () => true
  const accepted = new Set(ifMatch.split(',').map(etag => etag.trim()))
  return version => accepted.has(etagOf(version))
}

/* ── Bodies ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** A validated body as a draft of the domain. */
export function draftOf(body: CreateQuotaReq): QuotaDraft {
  return canonical(body)
}

/** A validated body as a patch of the domain. */
export function patchOf(body: UpdateQuotaReq): QuotaPatch {
  return canonical(body)
}

/** Converts timestamps to numbers, time zone names to their canonical spelling, and sorts the lists that are sets. */
function canonical<Body extends UpdateQuotaReq>(body: Body) {
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

/** A list request as the database takes it. */
export interface ListRequest {
  filter: QuotaFilter
  order: QuotaOrder
  /** The last quota of the previous page; undefined for a list by page number. */
  after: Pick<Cursor, 'value' | 'id'> | undefined
  /** The cursor of the page after a quota. */
  cursorAfter(last: Pick<Cursor, 'value' | 'id'>): string
}

/** @throws Problem `invalid_request` if the parameters contradict each other or the cursor */
export function listRequestOf(query: AdminListQuery, viewer: Viewer): ListRequest {
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, query, viewer)
  const { sort = '-id', kind, status, user_id } = cursor ?? query
  const userId = viewer.role === 'user' ? viewer.userId : user_id
  const order = orderOf(sort)
  if (order.by === 'remaining' && userId === undefined) {
    throw invalidRequest([{ path: 'sort', message: `${sort} is possible only for a single user: add user_id` }])
  }
  return {
    filter: {
      ...(userId === undefined ? {} : { userId }),
      ...(kind === undefined ? {} : { kind }),
      ...(status === undefined ? {} : { status }),
    },
    order,
    after: cursor,
    cursorAfter: ({ value, id }) => cursors.write({ sort, value, id, user_id, kind, status }),
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
