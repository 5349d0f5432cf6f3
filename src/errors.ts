/** What a code of the catalog stands for. */
interface ErrorKind {
  /** The HTTP status. */
  readonly status: number
  readonly title: string
  /** What has happened and what the client can do, for the documentation. Markdown, of which only `code` is used. */
  readonly means: string
  /** `Retry-After` of the response, in seconds, unless the problem names another value. */
  readonly retryAfterSeconds?: number
}

/**
 * The error catalog: every error code of the API. The OpenAPI document and the page that `type` links to are generated
 * from it. A denial is not an error: it is a 200 with `granted: false`.
 */
const CATALOG = {
  not_found: {
    status: 404,
    title: 'Not found',
    means: 'The route, quota, reservation, user, plan, pause, request or webhook does not exist.',
  },
  unknown_user: {
    status: 404,
    title: 'Unknown user',
    means:
      'No user has this reference (`user_ref`). Give it to a user first, with `PUT /api/sms/admin/users/{user_id}/profile`. Or start the service with `AUTO_USERS=true`: then the first `reserve`, `consume`, import or creation of a quota that names it makes the user.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    means: 'The path exists, but not with this method. `Allow` lists its methods.',
  },
  unauthenticated: {
    status: 401,
    title: 'Not authenticated',
    means: 'The bearer token is missing, malformed, expired, not yet valid, or issued for another service.',
  },
  forbidden: { status: 403, title: 'Forbidden', means: 'The token is valid, but its roles do not allow this call.' },
  payload_too_large: {
    status: 413,
    title: 'Payload too large',
    means: 'The body is larger than this route accepts.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    means:
      'The body is not sent as `application/json` in UTF-8, or it is compressed. An import is sent as `application/x-ndjson`.',
  },
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    means:
      'The body, the query, the path or a header does not match its schema. `errors` lists every issue and the accepted values.',
  },
  version_mismatch: {
    status: 412,
    title: 'Version mismatch',
    means:
      '`If-Match` names a version that the quota, plan or profile no longer has, because it was changed meanwhile. Read it again, then repeat the change.',
  },
  immutable_field: {
    status: 422,
    title: 'Immutable field',
    means:
      'The update gives a new value to a field that can no longer change. Of a quota: create a new one instead. The reference of a user never changes.',
  },
  below_usage: {
    status: 422,
    title: 'Below usage',
    means: 'The new limit is below `used` + `reserved`. Send `allow_below_usage: true` to set it anyway.',
  },
  too_many_quotas: {
    status: 422,
    title: 'Too many quotas',
    means: 'The user already has the maximum number of undeleted, unexpired quotas.',
  },
  too_many_webhooks: {
    status: 422,
    title: 'Too many webhooks',
    means: 'The maximum number of webhooks already exists. Delete one that is not needed.',
  },
  not_transferable: {
    status: 422,
    title: 'Not transferable',
    means:
      'The quota is a cap, has no limit, is suspended, has not begun, has ended or is deleted: it has no units that could change hands.',
  },
  not_enough_units: {
    status: 422,
    title: 'Not enough units',
    means: 'Fewer units than asked for are neither used nor reserved. `available` says how many are.',
  },
  no_grant: {
    status: 422,
    title: 'No grant for the units',
    means:
      'The user has no live grant with a limit, or the quota that is named is none: a cap, unlimited, suspended, not begun, ended, deleted, an extra grant, or of another user. It cannot get more units by a request.',
  },
  too_many_requests: {
    status: 422,
    title: 'Too many requests for more units',
    means:
      'The user has the maximum number of open requests for more units, or has made the maximum number in 24 hours. Wait for a decision.',
  },
  too_many_plans: {
    status: 422,
    title: 'Too many plans',
    means: 'The maximum number of plans already exists. Archive one that is not needed.',
  },
  too_many_rate_cards: {
    status: 422,
    title: 'Too many rate cards',
    means:
      'The maximum number of rate cards already exists, or of lists of prices of the card that are to come. Archive a card that is not needed, or replace a list by one of the same `valid_from`.',
  },
  no_rate: {
    status: 422,
    title: 'No rate',
    means:
      'No rate card has priced the reservation, so its segments have no units: give `total_units`. `reservation` shows the current state.',
  },
  too_many_pauses: {
    status: 422,
    title: 'Too many pauses',
    means: 'The maximum number of pauses is active already. Lift one that is not needed.',
  },
  exceeds_reservation: {
    status: 422,
    title: 'Exceeds the reservation',
    means:
      '`total_units` or `total_segments` is more than the reservation holds. Reserve the additional units under another id, or commit with `force` what was sent. `reservation` shows the current state.',
  },
  exceeds_committed: {
    status: 422,
    title: 'Exceeds what is committed',
    means:
      '`total_units` of a refund is more than has been committed so far. Commit the units first, or release them. `reservation` shows the current state.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    means:
      'Another quota of the user already has this `external_ref`, and `existing_id` is its id. Or another user has this `ref`: it is not said whose it is. That of an erased user is free ten minutes after the erasure.',
  },
  idempotency_mismatch: {
    status: 409,
    title: 'Idempotency mismatch',
    means:
      'The same `Idempotency-Key`, or the same reservation `id`, was already used for a different request. `errors` lists the fields that differ. Use a new key or id for a new request.',
  },
  reservation_closed: {
    status: 409,
    title: 'Reservation closed',
    means:
      'The reservation no longer allows this operation, because its units are already committed or given back. `reservation` shows the current state. Use a new id for a new attempt.',
  },
  request_closed: {
    status: 409,
    title: 'Request closed',
    means:
      'The request for more units was approved, declined or withdrawn before, in another way than this call asks for. List the requests for its state.',
  },
  link_outdated: {
    status: 410,
    title: 'Link outdated',
    means:
      'The link in a message does not hold any more: it is too old, the address was taken back, or another one has replaced it.',
  },
  plan_archived: {
    status: 409,
    title: 'Plan archived',
    means: 'The plan is archived, so it can neither be given nor changed. Use another plan.',
  },
  rate_card_archived: {
    status: 409,
    title: 'Rate card archived',
    means: 'The rate card is archived, so it cannot be changed. Use another one.',
  },
  rate_card_in_use: {
    status: 409,
    title: 'Rate card in use',
    means:
      'The rate card is the default, or that of a plan or a user, so it cannot be archived. Give them another one first.',
  },
  open_reservations: {
    status: 409,
    title: 'Open reservations',
    means:
      'The user has open reservations, so their data cannot be erased now. Wait until they are settled or expired, or repeat the call with `force=true`, which releases them.',
  },
  being_erased: {
    status: 409,
    title: 'Being erased',
    means:
      "The user's data is being erased, so nothing can be stored for them. Repeat the call when the erasure has finished.",
  },
  events_lost: {
    status: 410,
    title: 'Events lost',
    means:
      'The database has lost events that this cursor of the feed has passed: it has failed over to a standby without them, or was restored. Later events may have their ids and sequences, with another `at`. Go on from an older cursor, which is accepted if all that it has passed is still there, or omit `after` to begin with the oldest event. Or call with `after=latest`, read again what you keep from events (what the lost ones reported is undone), and go on from the `next` of that call.',
  },
  events_pruned: {
    status: 410,
    title: 'Events pruned',
    means:
      'Events that this cursor of the feed has not passed were removed: they are kept for `EVENT_RETENTION_DAYS`. Go on from `cursor`, which leads to all events that are left; the oldest of them is of `oldest_at`. What the removed events reported is not undone: read again what you keep from events.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    means:
      'The rate limit of the caller is exceeded, by its calls or by the rows that they read, too many of its reports wait, too many invalid tokens came from its address, or too many calls wait for the next event. Repeat the call after `Retry-After` seconds.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    means: "The service failed unexpectedly. The service's log has the details under `request_id`.",
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    means:
      'The database, the key server or the mail server is not available, or a newer version of the service has stored what this process does not know. The call may or may not have taken effect. It is safe to repeat it, with the same `id` or `Idempotency-Key`, after `Retry-After` seconds.',
    retryAfterSeconds: 1,
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    means:
      'Too many calls are waiting: of this sender, which may have as many in the queue as there is room left for others, batches of all senders, or calls of people for a database connection. The service did not accept this call, or a further step of it; it is safe to repeat it after `Retry-After` seconds, with the same `Idempotency-Key`.',
    retryAfterSeconds: 1,
  },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof CATALOG

export const ERRORS: Readonly<Record<ErrorCode, ErrorKind>> = CATALOG

/** Why a request is answered 401 or 403, as a code for the log. Responses say it in `detail`. */
export type RefusalReason =
  | 'missing'
  | 'malformed'
  | 'wrong_algorithm'
  | 'unknown_key'
  | 'bad_signature'
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_issuer'
  | 'wrong_audience'
  | 'wrong_type'
  | 'no_expiry'
  | 'far_date'
  | 'no_subject'
  | 'reserved_subject'
  | 'no_user_id'
  | 'missing_role'
  | 'above_adjust_limit'
  | 'foreign_user'

/** One issue of the input. */
export interface ValidationIssue {
  /** A JSON pointer into the body, or the name of the parameter. */
  path: string
  message: string
}

interface ProblemOptions {
  /** Further members of the response, for example `errors` or `existing_id`. */
  members?: Record<string, unknown>
  headers?: Record<string, string>
  /** `Retry-After`, in whole seconds; the default is the code's own. */
  retryAfterSeconds?: number
  cause?: unknown
  /** For the log: why a token or a call was refused. */
  reason?: RefusalReason
}

/** An error with a code of the catalog and a text for the client. Any other error is answered as `internal`. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly members: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly reason: RefusalReason | undefined

  constructor(code: ErrorCode, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause })
    const retryAfter = options.retryAfterSeconds ?? ERRORS[code].retryAfterSeconds
    this.name = 'Problem'
    this.code = code
    this.members = options.members ?? {}
    this.reason = options.reason
    this.headers = {
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...options.headers,
    }
  }
}

/** An `invalid_request` with all issues in `errors`. `detail` names the first three. */
export function invalidRequest(issues: readonly ValidationIssue[]): Problem {
  const texts = issues.slice(0, 3).map(({ path, message }) => `${path === '' ? 'body' : path} ${message}`)
  const more = issues.length > 3 ? [`and ${issues.length - 3} more, see errors`] : []
  return new Problem('invalid_request', [...texts, ...more].join('; '), { members: { errors: issues } })
}
