/**
 * The error catalogue: every code the service answers, its status and what it means. The OpenAPI document and the page
 * that `type` points to are made from this table.
 *
 * A denial is not here: `granted: false` is an answer, not an error.
 */
export const ERRORS = {
  not_found: { status: 404, title: 'Not found', means: 'There is no such route, quota, reservation or webhook.' },
  unauthenticated: {
    status: 401,
    title: 'Not authenticated',
    means: 'The bearer token is missing, malformed, expired, not yet valid, or not meant for this service.',
  },
  forbidden: { status: 403, title: 'Forbidden', means: 'The token is good, but its role may not do this.' },
  payload_too_large: { status: 413, title: 'Payload too large', means: 'The body is larger than the route accepts.' },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    means: 'The body is not declared as application/json.',
  },
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    means: 'The body, query, path or a header breaks its schema. `errors` lists every fault and what is accepted.',
  },
  version_mismatch: {
    status: 412,
    title: 'Version mismatch',
    means: '`If-Match` names another version than the quota has: somebody changed it. Read it again.',
  },
  immutable_field: {
    status: 422,
    title: 'Immutable field',
    means: 'The change names a field that cannot be changed any more, with another value. Make a new quota instead.',
  },
  below_usage: {
    status: 422,
    title: 'Below usage',
    means: 'The new limit is below what is used and reserved. `allow_below_usage: true` sets it all the same.',
  },
  too_many_quotas: {
    status: 422,
    title: 'Too many quotas',
    means: 'The user already has as many undeleted, unexpired quotas as one user can have.',
  },
  too_many_webhooks: {
    status: 422,
    title: 'Too many webhooks',
    means: 'There are as many webhooks as there can be. Delete one that nobody needs.',
  },
  exceeds_reservation: {
    status: 422,
    title: 'Exceeds the reservation',
    means:
      '`total_units` is more than was reserved. Reserve the rest under another id; `reservation` shows how it stands.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    means: 'Another quota of the user has this `external_ref`; `existing_id` names it.',
  },
  idempotency_mismatch: {
    status: 409,
    title: 'Idempotency mismatch',
    means:
      'The same `Idempotency-Key`, or the same reservation `id`, came with another content before; `errors` names what differs. A new request needs a new one.',
  },
  reservation_closed: {
    status: 409,
    title: 'Reservation closed',
    means:
      'What is asked can no longer be done with this reservation: its units are committed or given back already. `reservation` shows how it stands; a new attempt needs a new id.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    means: 'Too many calls. Wait as long as `Retry-After` says.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    means: 'A fault of the service. Its log tells more by request id.',
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    means: 'The database or the key server is away. Nothing was decided; repeat the call after `Retry-After`.',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    means: 'More is waiting than can be done soon. This call was not taken; repeat it after `Retry-After`.',
  },
} as const

export type ErrorCode = keyof typeof ERRORS

/** One thing that is wrong with the input: where (a JSON pointer into the body, or the parameter's name) and why. */
export interface ValidationIssue {
  path: string
  message: string
}

/** An error with a code of the catalogue and words for the caller. Whatever else is thrown is answered as `internal`. */
export class Problem extends Error {
  readonly code: ErrorCode
  /** Further members of the answer, for example `errors` or `existing_id`. */
  readonly members: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    detail: string,
    options: { members?: Record<string, unknown>; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(detail, { cause: options.cause })
    this.name = 'Problem'
    this.code = code
    this.members = options.members ?? {}
    this.headers = options.headers ?? {}
  }
}

/** What is wrong with the input, all of it in `errors` and the first of it in words. */
export function invalidRequest(issues: readonly ValidationIssue[]): Problem {
  const words = issues.slice(0, 3).map(({ path, message }) => `${path === '' ? 'body' : path} ${message}`)
  const more = issues.length > 3 ? [`and ${issues.length - 3} more, see errors`] : []
  return new Problem('invalid_request', [...words, ...more].join('; '), { members: { errors: issues } })
}
