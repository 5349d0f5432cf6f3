import Type, { type Static, type TInteger, type TProperties, type TSchema } from 'typebox'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER, MAX_PAGE_SIZE, MAX_UNITS, QUOTA_DEFAULTS } from '../domain/bounds.ts'
import { QUOTA_STATUSES } from '../domain/quota.ts'
import { PERIODS } from '../domain/window.ts'
import { ERRORS, type ErrorCode } from '../errors.ts'

/**
 * Every shape that crosses the wire, once: requests are checked, answers serialized, types inferred and the OpenAPI
 * document made from these.
 */

export const nullable = <T extends TSchema>(schema: T, options = {}) => Type.Union([schema, Type.Null()], options)
export const uint = (options = {}) => Type.Integer({ minimum: 0, maximum: MAX_INTEGER, ...options })
const units = (options = {}) => Type.Integer({ minimum: 0, maximum: MAX_UNITS, ...options })
export const time = (options = {}) => Type.String({ format: 'date-time', ...options })
const text = (maxLength: number, options = {}) => Type.String({ format: 'text', maxLength, ...options })

/* ── Quotas ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

const userId = uint({ description: 'Whose quota it is.', examples: [7] })
export const kind = Type.Enum(['grant', 'cap'], {
  description: 'A grant is a pool of units that pays for sends; a cap is a ceiling, whichever grant pays.',
})
const period = nullable(Type.Enum([...PERIODS]), {
  description:
    'How long a window is. null: one window, from `starts_at` to `expires_at`. Otherwise counters start anew at each calendar boundary in `time_zone`; weeks begin on Monday.',
})
const timeZone = Type.String({
  format: 'time-zone',
  maxLength: 64,
  description: 'An IANA time zone name. Offsets are refused.',
  examples: ['Europe/Berlin'],
})

/** What an administrator may set and change. */
const settings = {
  name: nullable(text(120), { description: 'Shown to people.', examples: ['Monthly package'] }),
  limit: nullable(units(), { description: 'Units per window; null is unlimited (grants only).', examples: [1000] }),
  rollover_limit: units({
    description: 'The most unused units carried into the next window. For a grant with a limit and a period.',
  }),
  overage_limit: units({ description: 'How far past its limit a grant may be drawn; 0 is a hard limit.' }),
  priority: Type.Integer({ minimum: 0, maximum: 255, description: 'Lower burns first.' }),
  starts_at: time({ description: 'Included. Cannot be changed once it is reached.' }),
  expires_at: nullable(time(), {
    description: 'Not included. At or before now it ends the quota; moved later again it revives it.',
  }),
  countries: nullable(
    Type.Array(Type.String({ format: 'country', minLength: 2, maxLength: 2 }), {
      minItems: 1,
      maxItems: 300,
      uniqueItems: true,
    }),
    { description: 'Destinations it covers (ISO 3166 alpha-2); null is all.', examples: [['DE', 'AT']] },
  ),
  message_types: nullable(
    Type.Array(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
    }),
    { description: 'Message types it covers; null is all.', examples: [['otp']] },
  ),
  alert_at: Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Percents of limit + rolled_over at which an event is emitted, once per window.',
  }),
  enabled: Type.Boolean({ description: 'false suspends the quota; its calendar goes on.' }),
  external_ref: nullable(text(120, { minLength: 1 }), {
    description: "Your own reference, unique among the user's undeleted quotas.",
  }),
  metadata: Type.Record(Type.String({ pattern: '^[A-Za-z0-9_.:-]{1,64}$' }), text(512), {
    additionalProperties: false,
    maxProperties: 16,
    description: 'A flat map of strings, at most 16 keys.',
    examples: [{ contract: 'K-1042' }],
  }),
}

export const SmsQuota = Type.Object(
  {
    id: Type.Integer({ minimum: 1, maximum: MAX_INTEGER, examples: [164] }),
    user_id: userId,
    kind,
    period,
    time_zone: timeZone,
    ...settings,
    used: uint({ description: 'Units committed in the window that holds now.' }),
    reserved: uint({ description: 'Units set aside in the window that holds now.' }),
    rolled_over: uint({ description: 'Units carried into the window that holds now.' }),
    remaining: nullable(uint(), {
      description: 'max(0, limit + rolled_over − used − reserved); null if the quota is unlimited.',
    }),
    overage: uint({ description: 'max(0, used + reserved − limit − rolled_over).' }),
    window_start: time(),
    window_end: nullable(time(), {
      description: 'The earlier of the next calendar boundary and `expires_at`; null if there is neither.',
    }),
    status: Type.Enum([...QUOTA_STATUSES], { description: 'Derived at the moment of reading; the first that holds.' }),
    version: Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: "Counts administrators' changes." }),
    created_at: time(),
    created_by: Type.String(),
    updated_at: time(),
    updated_by: Type.String(),
  },
  { $id: 'SmsQuota', description: 'One record of sending allowance for one user.' },
)

/** Says in the document what an omitted field becomes. */
function withDefaults<T extends TProperties>(properties: T): T {
  const defaults: Record<string, unknown> = QUOTA_DEFAULTS
  const entries = Object.entries(properties).map(([name, schema]) => [
    name,
    name in defaults ? Type.With(schema, { default: defaults[name] }) : schema,
  ])
  return Object.fromEntries(entries)
}

const { limit, ...optionalSettings } = settings

export const CreateQuotaReq = Type.Object(
  {
    user_id: userId,
    limit,
    ...Type.Partial(Type.Object(withDefaults({ kind, period, time_zone: timeZone, ...optionalSettings }))).properties,
    opening_used: Type.Optional(
      units({ default: 0, description: 'Units already used elsewhere in the first window, when you move here.' }),
    ),
  },
  {
    $id: 'CreateQuotaReq',
    additionalProperties: false,
    description: 'A quota to be made. `starts_at` defaults to now.',
    examples: [{ user_id: 7, limit: 1000, period: 'month', time_zone: 'Europe/Berlin', name: 'Monthly package' }],
  },
)

export const UpdateQuotaReq = Type.Object(
  {
    ...Type.Partial(Type.Object({ user_id: userId, kind, period, time_zone: timeZone, ...settings })).properties,
    allow_below_usage: Type.Optional(
      Type.Boolean({ description: 'Set a limit below what is already used and reserved; nothing is taken back.' }),
    ),
  },
  {
    $id: 'UpdateQuotaReq',
    additionalProperties: false,
    description:
      'What is omitted stays; null clears. `user_id`, `kind`, `period` and `time_zone` may be named if they are equal.',
    examples: [{ limit: 2000 }],
  },
)

/* ── Lists ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

export const SORTS = ['id', '-id', 'expires_at', '-expires_at', 'remaining', '-remaining'] as const

const pagination = {
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_INTEGER, default: 1, description: 'A page past the end is empty.' }),
  ),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE })),
  sort: Type.Optional(
    Type.Enum([...SORTS], {
      default: '-id',
      description: 'Nulls are highest, ties go by id. `remaining` only within one user.',
    }),
  ),
  kind: Type.Optional(kind),
  cursor: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{1,1000}$',
      description: 'From `next_cursor`: walks deep lists at a steady cost. It fixes sort and filters; not with `page`.',
    }),
  ),
}
const visibleStatuses = QUOTA_STATUSES.filter(status => status !== 'deleted')

export const UserListQuery = Type.Object(
  { ...pagination, status: Type.Optional(Type.Enum(visibleStatuses)) },
  { additionalProperties: false },
)
export const AdminListQuery = Type.Object(
  {
    ...pagination,
    user_id: Type.Optional(uint({ description: "Only this user's quotas." })),
    status: Type.Optional(
      Type.Enum([...QUOTA_STATUSES], { description: 'Deleted quotas show only when asked for with `deleted`.' }),
    ),
  },
  { additionalProperties: false },
)

const QuotaPage = Type.Object(
  {
    items: Type.Array(Type.Ref('SmsQuota#')),
    total: Type.Optional(uint({ description: 'All that the filters select; absent when walking by cursor.' })),
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INTEGER })),
    page_size: Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE }),
    total_pages: Type.Optional(uint()),
    next_cursor: nullable(Type.String(), { description: 'Where the next page begins; null on the last.' }),
  },
  { $id: 'QuotaPage', description: 'A page of quotas (PaginationResult of SmsQuota).' },
)

/* ── Summary ────────────────────────────────────────────────────────────────────────────────────────────────────── */

export const SummaryQuery = Type.Object(
  { user_id: uint({ description: 'The user whose summary is returned.' }) },
  { additionalProperties: false },
)

const totals = {
  limit: nullable(uint(), {
    description: 'Units of the windows of now, what rolled over included; null if unlimited.',
  }),
  used: uint(),
  reserved: uint(),
  remaining: nullable(uint()),
}
const turn = (description: string) => nullable(Type.Object({ at: time(), units: uint() }), { description })

const QuotaSummary = Type.Object(
  {
    user_id: uint(),
    as_of: time(),
    ...totals,
    overage: uint({ description: 'limit + overage = used + reserved + remaining.' }),
    unlimited: Type.Boolean({ description: 'Whether a live grant is unlimited.' }),
    available: nullable(uint(), {
      description:
        'The largest reservation naming no country and no message type that would be granted now, caps applied; null if nothing bounds it.',
    }),
    by_status: Type.Partial(
      Type.Object(Object.fromEntries(visibleStatuses.map(status => [status, uint()])) as Record<string, TInteger>),
      { description: 'How many quotas have each status.' },
    ),
    next_reset: turn('The soonest window end of a grant, and the units restored then.'),
    next_expiry: turn('The soonest end of a grant, and the units lost then.'),
    caps: Type.Array(
      Type.Object({
        quota_id: uint(),
        name: nullable(Type.String()),
        limit: nullable(uint()),
        used: uint(),
        reserved: uint(),
        remaining: nullable(uint()),
        window_end: nullable(time()),
      }),
    ),
    breakdown: Type.Array(
      Type.Object({
        countries: nullable(Type.Array(Type.String())),
        message_types: nullable(Type.Array(Type.String())),
        ...totals,
      }),
      { description: 'A row per scope, the unscoped one included; the rows add up to the totals.' },
    ),
    forecast: nullable(Type.Object({ daily_rate: Type.Number({ minimum: 0 }), runs_out_at: nullable(time()) }), {
      description:
        'Units a day, net of refunds, over the last weeks (at most four, recent ones weighing more), and when the remaining units run out at that rate, resets and expiries reckoned in; null within the next year. The whole is null before a week of use: too little to tell.',
    }),
  },
  { $id: 'QuotaSummary', description: "What a user's live grants hold, used and leave, in one snapshot." },
)

/* ── Parameters, headers, operations ────────────────────────────────────────────────────────────────────────────── */

export const QuotaParams = Type.Object({ id: Type.Integer({ minimum: 1, maximum: MAX_INTEGER }) })

/** Routes without query parameters refuse them all, so that a typo never becomes a silent default. */
export const NoQuery = Type.Object({}, { additionalProperties: false })

const etag = '"(?:0|[1-9][0-9]{0,15})"'
export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      pattern: `^(?:\\*|${etag}(?: *, *${etag})*)$`,
      maxLength: 400,
      description: 'The change is made only if the quota still has this version, for example `"3"`.',
    }),
  ),
})
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,255}$',
      description: 'The same key with the same body gives the same answer, for 24 hours at least.',
    }),
  ),
})

const Health = Type.Object({ status: Type.Literal('ok') }, { $id: 'Health' })

/* ── Errors ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

const ProblemDetails = Type.Object(
  {
    type: Type.String({
      description: "A page of the service's own docs that explains the code.",
      format: 'uri-reference',
    }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    code: Type.Enum(Object.keys(ERRORS) as ErrorCode[]),
    detail: Type.String(),
    request_id: Type.String(),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), { description: 'All issues at once.' }),
    ),
    existing_id: Type.Optional(uint({ description: 'The quota that already has this `external_ref`.' })),
    reservation: Type.Optional(Type.Ref('Reservation#')),
  },
  { $id: 'Problem', description: 'RFC 9457 problem details.', additionalProperties: true },
)

/** The shapes that the document names, by their `$id`; the sender's are in sender-contract.ts. */
export const QUOTA_COMPONENTS = {
  SmsQuota,
  CreateQuotaReq,
  UpdateQuotaReq,
  QuotaPage,
  QuotaSummary,
  Health,
  Problem: ProblemDetails,
} satisfies Record<string, TSchema>

export type CreateQuotaReq = Static<typeof CreateQuotaReq>
export type UpdateQuotaReq = Static<typeof UpdateQuotaReq>
export type ListQuery = Static<typeof AdminListQuery>
