import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../domain/basics/bounds.ts'
import { QUOTA_STATUSES } from '../domain/quotas/quota.ts'
import { QUOTA_DEFAULTS, QUOTA_KINDS, type SettingName } from '../domain/quotas/quota-settings.ts'
import { AdjustReq } from './adjust.ts'
import {
  anchor,
  closed,
  country,
  counts,
  IdempotencyHeaders,
  identifier,
  messageType,
  nextCursor,
  nullable,
  patterned,
  per,
  period,
  planOfQuota,
  positive,
  text,
  time,
  timeZone,
  uint,
  units,
  userNames,
  withUserRef,
} from './schemas.ts'

/** Quotas, their lists and the changes that administrators make. */

const userId = uint({ description: 'The user that the quota belongs to.', examples: [7] })
export const kind = Type.Enum([...QUOTA_KINDS], {
  description: 'A grant is a pool of units that pays for sends. A cap is a ceiling, whichever grant pays.',
})
const quotaTimeZone = timeZone({
  description: 'An IANA time zone name. Offsets are refused.',
  examples: ['Europe/Berlin'],
})

/** The fields that an administrator sets and can change: the settings of the table, in its order. */
const settings = {
  name: nullable(text(120), { description: 'A display name.', examples: ['Monthly package'] }),
  limit: nullable(units(), { description: 'Units per window; null is unlimited (grants only).', examples: [1000] }),
  rollover_limit: units({
    description: 'The most unused units carried into the next window. Only for a grant with a limit and a period.',
  }),
  overage_limit: units({ description: 'How far past its limit a grant may be drawn; 0 is a hard limit.' }),
  priority: Type.Integer({ minimum: 0, maximum: 255, description: 'Grants with a lower number are drawn first.' }),
  starts_at: time({ description: 'Inclusive. Cannot change once it is reached.' }),
  expires_at: nullable(time(), {
    description: 'Exclusive. A time at or before now ends the quota; moving it later again revives the quota.',
  }),
  countries: nullable(
    Type.Array(country(), {
      minItems: 1,
      maxItems: 300,
      uniqueItems: true,
    }),
    {
      description:
        'The destinations it covers (ISO 3166 alpha-2, or `001` for numbers of no country, such as satellites and free phone); null is all. A cap also counts a number that may belong to one of its countries: one of a shared calling code that numbering plans do not list.',
      examples: [['DE', 'AT']],
    },
  ),
  message_types: nullable(
    Type.Array(patterned('messageType'), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
    }),
    { description: 'The message types it covers; null is all.', examples: [['otp']] },
  ),
  alert_at: Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
    maxItems: 100,
    uniqueItems: true,
    description:
      'Percentages of limit + rolled_over that emit an event when `used` reaches them, once per window and limit: a change that adds units forgets those above the new share. A cap with `per` has none.',
  }),
  enabled: Type.Boolean({ description: 'false suspends the quota. Its windows go on.' }),
  external_ref: nullable(identifier(120, { minLength: 1 }), {
    description: "Your own reference. It is unique among the user's undeleted quotas.",
  }),
  metadata: Type.Record(patterned('metadataKey'), text(512), {
    ...closed,
    maxProperties: 16,
    description:
      "A flat map of strings, at most 16 keys. It is the administrators' own: users read `{}`. They do read `name` and `external_ref`.",
    examples: [{ contract: 'K-1042' }],
  }),
} satisfies Record<SettingName, TSchema>

const author = () =>
  nullable(Type.String(), { description: 'The subject of the token; null in what users read of their own quotas.' })

export const SmsQuota = Type.Object(
  {
    id: positive({ examples: [164] }),
    user_id: userId,
    ...userNames,
    kind,
    period,
    anchor,
    time_zone: quotaTimeZone,
    per,
    counts,
    ...settings,
    used: nullable(uint(), {
      description: 'Units or messages committed in the current window; null for a cap with `per`.',
    }),
    reserved: nullable(uint(), {
      description: 'Units or messages reserved in the current window; null for a cap with `per`.',
    }),
    rolled_over: uint({ description: 'Units carried into the current window.' }),
    remaining: nullable(uint(), {
      description:
        'max(0, limit + rolled_over − used − reserved); null if the quota is unlimited, or a cap with `per`.',
    }),
    overage: uint({ description: 'max(0, used + reserved − limit − rolled_over).' }),
    window_start: time(),
    window_end: nullable(time(), {
      description:
        'The next calendar boundary or `expires_at`, whichever is earlier; null if there is neither. If `expires_at` was moved to before the window began, the window keeps its boundary.',
    }),
    status: Type.Enum([...QUOTA_STATUSES], {
      description: 'Derived when the quota is read. If several apply, the first of this list.',
    }),
    plan: planOfQuota,
    version: positive({ description: 'Grows by one with each change by an administrator.' }),
    created_at: time(),
    created_by: author(),
    updated_at: time(),
    updated_by: author(),
  },
  { $id: 'SmsQuota', description: "A quota: units that a user may send, or a ceiling on a user's sends." },
)

/* ── Changes ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Adds the value that an omitted field takes. */
function withDefaults<T extends TProperties>(properties: T): T {
  const defaults: Record<string, unknown> = QUOTA_DEFAULTS
  const entries = Object.entries(properties).map(([name, schema]) => [
    name,
    name in defaults ? Type.With(schema, { default: defaults[name] }) : schema,
  ])
  return Object.fromEntries(entries)
}

const { limit, ...optionalSettings } = settings
const identity = { kind, period, anchor, time_zone: quotaTimeZone, per, counts }

export const CreateQuotaReq = Type.Object(
  {
    user_id: userId,
    limit,
    ...Type.Partial(Type.Object(withDefaults({ ...identity, ...optionalSettings }))).properties,
    counts: Type.Optional(counts),
    opening_used: Type.Optional(
      units({ default: 0, description: 'Units of the first window that were already used in another system.' }),
    ),
  },
  {
    $id: 'CreateQuotaReq',
    ...closed,
    description: 'A new quota. `starts_at` defaults to now.',
    examples: [{ user_id: 7, limit: 1000, period: 'month', time_zone: 'Europe/Berlin', name: 'Monthly package' }],
  },
)

export const UpdateQuotaReq = Type.Object(
  {
    ...Type.Partial(Type.Object({ user_id: userId, ...identity, ...settings })).properties,
    allow_below_usage: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Allows a limit below `used` + `reserved`. No units are taken back.',
      }),
    ),
  },
  {
    $id: 'UpdateQuotaReq',
    ...closed,
    description:
      'Omitted fields keep their value; null clears a field. `user_id`, `kind`, `period`, `anchor`, `time_zone`, `per` and `counts` are accepted only with their current value.',
    examples: [{ limit: 2000 }],
  },
)

/* ── Lists ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** The orders of lists, and those that need a single user: they depend on counters, which no index holds. */
export const SORTED_BY = [
  'id',
  'expires_at',
  'created_at',
  'name',
  'external_ref',
  'remaining',
  'used_percent',
] as const
export const SORTED_BY_USE: ReadonlySet<string> = new Set(['remaining', 'used_percent'])
export const SORTS = SORTED_BY.flatMap(by => [by, `-${by}`] as const)
export type Sort = (typeof SORTS)[number]

const pagination = {
  page: Type.Optional(
    positive({
      default: 1,
      description:
        'A page past the end is empty. A page of all users that is more than 100,000 quotas away from both ends of the list is refused: use `cursor`.',
    }),
  ),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE })),
  sort: Type.Optional(
    Type.Enum([...SORTS], {
      default: '-id',
      description:
        '`-` is descending. null sorts highest; ties sort by id. `name` ignores case. `used_percent` is the share of limit + rolled_over that is used, 0 for an unlimited quota. Deleted quotas of all users can be sorted by `id` and `expires_at` only. `remaining` and `used_percent` need a single user; for all users see `/api/sms/admin/quota/alerts`.',
    }),
  ),
  kind: Type.Optional(kind),
  name: Type.Optional(
    text(120, { minLength: 1, description: 'Only quotas whose name begins with this text; case is ignored.' }),
  ),
  external_ref: Type.Optional(
    text(120, { minLength: 1, description: 'Only quotas with exactly this `external_ref`.' }),
  ),
  country: Type.Optional(
    country({
      description: 'Only quotas whose `countries` name this one; those for all countries are not among them.',
    }),
  ),
  message_type: Type.Optional(
    messageType({
      description: 'Only quotas whose `message_types` name this one; those for all types are not among them.',
    }),
  ),
  plan_id: Type.Optional(positive({ description: 'Only quotas of this plan.' })),
  plan_version: Type.Optional(positive({ description: 'Only quotas of which this version of their plan was given.' })),
  expires_after: Type.Optional(
    time({ description: 'Only quotas that expire at this time or later. Those that never expire are not among them.' }),
  ),
  expires_before: Type.Optional(time({ description: 'Only quotas that expire before this time.' })),
  cursor: Type.Optional(
    patterned('cursor', {
      description:
        '`next_cursor` of the previous page. Reads long lists at a constant cost per page. It fixes sort and filters and excludes `page`.',
    }),
  ),
}
export const VISIBLE_STATUSES = QUOTA_STATUSES.filter(status => status !== 'deleted')

export const UserListQuery = Type.Object({ ...pagination, status: Type.Optional(Type.Enum(VISIBLE_STATUSES)) }, closed)
export const AdminListQuery = Type.Object(
  {
    ...pagination,
    user_id: Type.Optional(uint({ description: "Only this user's quotas." })),
    status: Type.Optional(
      Type.Enum([...QUOTA_STATUSES], { description: 'Deleted quotas are listed only with `deleted`.' }),
    ),
  },
  closed,
)

export const QuotaPage = Type.Object(
  {
    items: Type.Array(Type.Ref('SmsQuota#')),
    total: Type.Optional(
      nullable(uint(), {
        description:
          'How many quotas match the filters, exactly; absent with `cursor`. null if counting them would read too many quotas of all users: see `total_at_least`.',
      }),
    ),
    total_at_least: Type.Optional(
      uint({ description: 'Present if `total` is null: at least this many quotas match the filters.' }),
    ),
    page: Type.Optional(positive()),
    page_size: Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE }),
    total_pages: Type.Optional(nullable(uint(), { description: 'null if `total` is.' })),
    next_cursor: nextCursor,
  },
  {
    $id: 'QuotaPage',
    description:
      'A page of quotas (PaginationResult of SmsQuota). A call reads a bounded number of quotas of all users, so where filters select few among many a page may be short or even empty and still have a `next_cursor`.',
  },
)

/* ── Parameters and headers ─────────────────────────────────────────────────────────────────────────────────────── */

export const QuotaParams = Type.Object({ id: positive() })

export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    patterned('versions', {
      maxLength: 400,
      description: 'Makes the change only if the quota still has this version, for example `"3"`.',
    }),
  ),
})
export const ChangeHeaders = Type.Object({ ...IfMatchHeaders.properties, ...IdempotencyHeaders.properties })

/** The named schemas of the OpenAPI document, by `$id`. */
export const QUOTA_COMPONENTS = {
  SmsQuota,
  CreateQuotaReq: withUserRef(CreateQuotaReq),
  UpdateQuotaReq,
  AdjustReq,
  QuotaPage,
} satisfies Record<string, TSchema>

export type SmsQuota = Static<typeof SmsQuota>
export type CreateQuotaReq = Static<typeof CreateQuotaReq>
export type UpdateQuotaReq = Static<typeof UpdateQuotaReq>
export type UserListQuery = Static<typeof UserListQuery>
export type AdminListQuery = Static<typeof AdminListQuery>
export type QuotaPage = Static<typeof QuotaPage, { 'SmsQuota#': typeof SmsQuota }>
