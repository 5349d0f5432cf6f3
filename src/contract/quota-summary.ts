import Type, { type Static, type TInteger, type TSchema } from 'typebox'
import { DEFAULT_PAGE_SIZE, MAX_ALERTS, MAX_SENDING_SCOPES } from '../domain/basics/bounds.ts'
import { COUNTS } from '../domain/quotas/quota-settings.ts'
import { PERIODS } from '../domain/time/period.ts'
import { QUOTA_DENIAL_REASONS } from '../domain/units/reservation.ts'
import { type SmsQuota, VISIBLE_STATUSES } from './quotas.ts'
import { closed, cursorQuery, nextCursor, nullable, positive, time, uint, userNames } from './schemas.ts'

/** What a user's quotas add up to, and which quotas are running out. */

/* ── Summary ────────────────────────────────────────────────────────────────────────────────────────────────────── */

export const SummaryQuery = Type.Object(
  { user_id: uint({ description: 'The user whose summary is returned.' }) },
  closed,
)

const totals = {
  limit: nullable(uint(), {
    description: 'Units of the current windows, including what rolled over; null if unlimited.',
  }),
  used: uint(),
  reserved: uint(),
  remaining: nullable(uint()),
}
const unitsAt = <Units extends TSchema>(units: Units, description: string) =>
  nullable(Type.Object({ at: time(), units }), { description })

const scope = {
  countries: nullable(Type.Array(Type.String())),
  message_types: nullable(Type.Array(Type.String())),
}
const denial = (description: string) =>
  nullable(
    Type.Object({
      reason: Type.Enum([...QUOTA_DENIAL_REASONS]),
      limiting_quota_id: nullable(uint(), {
        description: 'The blocking cap with the lowest id, else the last matching grant.',
      }),
      retry_at: nullable(time(), {
        description: 'When it could be granted, as far as time alone decides; null if waiting does not help.',
      }),
    }),
    { description },
  )

export const QuotaSummary = Type.Object(
  {
    user_id: uint(),
    ...userNames,
    as_of: time(),
    ...totals,
    overage: uint({ description: 'limit + overage = used + reserved + remaining.' }),
    unlimited: Type.Boolean({ description: 'Whether a live grant is unlimited.' }),
    available: nullable(uint(), {
      description:
        'The largest reservation without country and message type that would be granted now, caps applied; null if nothing bounds it.',
    }),
    denial: denial(
      'Why `check` would deny one unit without country and message type now; null if it would be granted. In observe mode, such messages are granted all the same.',
    ),
    default_plan: nullable(Type.Object({ id: positive(), name: Type.String(), version: positive() }), {
      description:
        'What the user, who never had a quota, gets with the first message, which `check` knows; null: nothing.',
      examples: [null],
    }),
    available_until: unitsAt(
      uint(),
      'The next start, reset or end of a grant for messages without country and message type, within 366 days, and the most units that can be sent of them until then, in all windows of the caps; null if there is none, if nothing bounds the units, or if it is not computed: all windows until then, of caps by the hour for example, are too many.',
    ),
    scopes: Type.Array(
      Type.Object({
        ...scope,
        available: nullable(uint()),
        denial: denial('As for messages without country and message type.'),
      }),
      {
        description: `The answers to messages that name a country or message type which quotas list: \`available\` and \`denial\` of one unit. A message belongs to the row that names most of its country and type, otherwise to the fields above. null: any value, or none. At most ${MAX_SENDING_SCOPES} rows.`,
      },
    ),
    paused: Type.Array(
      Type.Object({
        id: uint(),
        country: Type.String(),
        message_types: nullable(Type.Array(Type.String()), { description: 'null: all types, and none.' }),
        until: nullable(time(), { description: 'null: until it is lifted.' }),
      }),
      {
        description:
          'Destinations that are paused for the user, or for all users: messages there are denied, also if `available` is above 0.',
      },
    ),
    by_status: Type.Partial(
      Type.Object(Object.fromEntries(VISIBLE_STATUSES.map(status => [status, uint()])) as Record<string, TInteger>),
      { description: 'The number of quotas of each status.' },
    ),
    next_reset: unitsAt(uint(), 'The next window end of a limited grant, and the units that are restored then.'),
    next_expiry: unitsAt(
      nullable(uint()),
      'The next end of a grant, and the units that are lost then; null units if the grant is unlimited.',
    ),
    caps: Type.Array(
      Type.Object({
        quota_id: uint(),
        name: nullable(Type.String()),
        limit: nullable(uint()),
        used: uint(),
        reserved: uint(),
        remaining: nullable(uint()),
        window_end: nullable(time()),
        period: nullable(Type.Enum([...PERIODS])),
        anchor: nullable(Type.String()),
        time_zone: Type.String(),
        counts: Type.Enum([...COUNTS], { description: 'What the cap counts: its figures are units, or messages.' }),
        ...scope,
        alert_at: Type.Array(Type.Integer({ minimum: 1, maximum: 100 })),
      }),
      { description: 'The live caps, but for those that count each recipient, country or tag by itself.' },
    ),
    breakdown: Type.Array(Type.Object({ ...scope, ...totals }), {
      description: 'One row for each scope, including the grants without one. The rows add up to the totals.',
    }),
    forecast: nullable(
      Type.Object({
        daily_rate: Type.Number({ minimum: 0 }),
        runs_out_at: nullable(time()),
        units_run_out_at: nullable(
          time({
            description:
              'As `runs_out_at`, without the caps: when no live grant has units left. For users whose caps reset often.',
          }),
        ),
      }),
      {
        description:
          'null before a full week of use, and if it is not computed: the windows of the quotas within 366 days, of 30 caps by the hour for example, are too many. `daily_rate`: units per day, net of refunds, averaged over the last weeks (at most four; recent weeks weigh more). `runs_out_at`: the first time within the next 366 days at which units could not be sent at that rate, because no live grant has units left, overage included, or a live cap without countries and message types has no headroom; `as_of` if none can be sent now; null if there is no such time. Starts, resets, rollover and ends of quotas are taken into account. After a reset, sending may go on. Countries and message types of grants are left out: every grant pays for every message.',
      },
    ),
  },
  { $id: 'QuotaSummary', description: "The totals of a user's live grants, from one snapshot." },
)

/* ── Alerts ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

export const AlertsQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ALERTS, default: DEFAULT_PAGE_SIZE })),
    below_percent: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 100,
        description: 'Only quotas whose highest reached percentage is below this, such as 100 for those not used up.',
      }),
    ),
    cursor: cursorQuery.cursor,
  },
  closed,
)

export const QuotaAlerts = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        quota: Type.Ref('SmsQuota#'),
        percent: Type.Integer({
          minimum: 1,
          maximum: 100,
          description:
            'The highest percentage of its `alert_at` that the quota reached in the current window and has not fallen below since.',
        }),
        at: time({ description: 'When the event for this percentage was emitted.' }),
      }),
    ),
    next_cursor: nextCursor,
  },
  {
    $id: 'QuotaAlerts',
    description:
      'Live quotas that have reached a percentage of their `alert_at`: the highest percentage first, of equal ones the latest. A call reads a bounded number of reached percentages, so a page may be short or even empty and still have a `next_cursor`.',
  },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const QUOTA_SUMMARY_COMPONENTS = { QuotaSummary, QuotaAlerts } satisfies Record<string, TSchema>

export type SummaryQuery = Static<typeof SummaryQuery>
export type QuotaSummary = Static<typeof QuotaSummary>
export type AlertsQuery = Static<typeof AlertsQuery>
export type QuotaAlerts = Static<typeof QuotaAlerts, { 'SmsQuota#': typeof SmsQuota }>
