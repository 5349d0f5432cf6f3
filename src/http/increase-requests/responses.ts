import type { Repeated } from '../../admin/idempotency.ts'
import type { RequestDecided, RequestMade } from '../../admin/increase-requests.ts'
import { MAX_OPEN_REQUESTS, MAX_REQUESTS_PER_DAY } from '../../domain/bounds.ts'
import type { IncreaseRequest } from '../../domain/increase-request.ts'
import { Problem } from '../../errors.ts'
import { refusal } from '../changes/responses.ts'
import { keyMismatch } from '../platform/problems.ts'

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
