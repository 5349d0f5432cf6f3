import Type from 'typebox'
import type { Repeated } from '../../admin/idempotency.ts'
import type { RequestDecided, RequestMade } from '../../admin/increase-requests.ts'
import { IncreaseRequestsQuery } from '../../contract/increase-requests.ts'
import type { Database } from '../../db/connection/database.ts'
import { listIncreaseRequests } from '../../db/quotas/increase-requests.ts'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER, MAX_OPEN_REQUESTS, MAX_REQUESTS_PER_DAY } from '../../domain/bounds.ts'
import { type IncreaseRequest, ownRequestViewOf, requestViewOf } from '../../domain/increase-request.ts'
import { Problem } from '../../errors.ts'
import type { Viewer } from '../auth/guard.ts'
import { refusal } from '../changes/responses.ts'
import { cursorInteger, cursorsOf, pageRequestOf } from '../platform/cursors.ts'
import { keyMismatch } from '../platform/problems.ts'

const { page_size: _size, cursor: _cursor, ...filters } = IncreaseRequestsQuery.properties
const Filters = Type.Object(filters, { additionalProperties: false })
const FILTERS = Object.keys(Filters.properties)

/** The filters of a list, and the last request of a page. */
const cursors = cursorsOf(Type.Object({ filters: Filters, after: cursorInteger }, { additionalProperties: false }))

/**
 * A page of all requests, or of the user's own, also with a cursor that names another user.
 * @throws Problem `invalid_request` if a filter contradicts the cursor
 */
export async function requestPage(db: Database, query: IncreaseRequestsQuery, viewer: Viewer) {
  const { page_size: size = DEFAULT_PAGE_SIZE } = query
  const { filters, after = MAX_INTEGER } = pageRequestOf(query, FILTERS, cursors.read)
  const filter = viewer.role === 'user' ? { ...filters, user_id: viewer.userId } : filters
  const found = await listIncreaseRequests(db, filter, after, size + 1)
  const shown = found.slice(0, size)
  const last = found.length > size ? shown.at(-1) : undefined
  return {
    items: shown.map(viewer.role === 'user' ? ownRequestViewOf : requestViewOf),
    page_size: size,
    next_cursor: last === undefined ? null : cursors.write({ filters, after: last.id }),
  }
}

/** The request that a call has made. @throws Problem for any other outcome */
export function madeOrThrow(made: RequestMade | Repeated<IncreaseRequest>): IncreaseRequest {
  switch (made.outcome) {
    case 'made':
      return made.request
    case 'replayed':
      return made.answer
    case 'mismatch':
      throw keyMismatch(made.fields)
    case 'too_many_requests':
      throw tooMany(made.open)
    case 'no_grant':
      throw noGrant(made.quotaId)
    default:
      throw refusal(made)
  }
}

/** The request that a call has decided. @throws Problem for any other outcome */
export function decidedOrThrow(decided: RequestDecided, id: number): IncreaseRequest {
  switch (decided.outcome) {
    case 'decided':
    case 'unchanged':
      return decided.request
    case 'not_found':
      throw new Problem('not_found', `Request ${id} does not exist.`)
    case 'closed':
      throw requestClosed(decided.request)
    case 'no_grant':
      throw noGrant(decided.quotaId)
    default:
      throw refusal(decided)
  }
}

function tooMany(open: number): Problem {
  const detail =
    open >= MAX_OPEN_REQUESTS
      ? `${open} requests are open already, the maximum.`
      : `${MAX_REQUESTS_PER_DAY} requests were made in the last 24 hours, the maximum.`
  return new Problem('too_many_requests', detail)
}

function requestClosed({ id, status, granted_units }: IncreaseRequest): Problem {
  const given = granted_units === null ? '' : `, with ${granted_units} units`
  return new Problem('request_closed', `Request ${id} is ${status} already${given}.`)
}

function noGrant(quotaId: number | null): Problem {
  if (quotaId === null) return new Problem('no_grant', 'The user has no live grant with a limit.')
  return new Problem('no_grant', `Quota ${quotaId} is no live grant of the user with a limit.`)
}
