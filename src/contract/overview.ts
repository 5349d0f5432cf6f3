import Type, { type Static, type TSchema } from 'typebox'
import { RISKS } from '../domain/at-risk.ts'
import { QUOTA_KINDS } from '../domain/quota-settings.ts'
import { DENIAL_REASONS } from '../domain/reservation.ts'
import { closed, nullable, positive, time, timeZone, uint, userNames } from './schemas.ts'
import { counts } from './usage.ts'

/** Whether all is well on the platform, in one answer. */

export const OverviewQuery = Type.Object(
  {
    time_zone: Type.Optional(
      timeZone({ default: 'UTC', description: 'The IANA time zone in which today and its hours begin.' }),
    ),
  },
  closed,
)

/** The parts of the overview, each read by itself. */
export const OVERVIEW_PARTS = [
  'pauses',
  'breaker',
  'webhooks',
  'customers',
  'requests',
  'destinations',
  'usage',
  'events',
] as const
export type OverviewPart = (typeof OVERVIEW_PARTS)[number]

export const UNREAD_REASONS = ['failed', 'timed_out'] as const

/** Rows that the overview shows of each list. */
export const MAX_SHOWN = 3
/** Users at risk that the overview shows. */
export const MAX_AT_RISK = 5
/** Events that the overview shows. */
export const MAX_EVENTS = 30

const isMore = Type.Boolean({ description: 'Whether there may be more: the service looked at a bounded number.' })

const AtRisk = Type.Object(
  {
    user_id: uint(),
    ...userNames,
    state: Type.Enum([...RISKS]),
    reason: nullable(Type.Enum([...DENIAL_REASONS]), { description: 'Of users who are blocked: why.' }),
    quota: nullable(Type.Object({ id: positive(), kind: Type.Enum([...QUOTA_KINDS]), name: nullable(Type.String()) }), {
      description: 'The quota that blocks, is near its limit or ends; null: it is of no quota in particular.',
    }),
    used_percent: nullable(uint(), { description: 'Of a quota near its limit: what is used or reserved.' }),
    sendable: nullable(uint(), {
      description:
        'Units that can be sent now: of the messages that the quota counts, else of those without country and type. null: nothing bounds it.',
    }),
    until: nullable(time(), {
      description:
        'When messages can be sent again, the window resets, the units run out, or the quota ends. null: never, or not known.',
    }),
  },
  { $id: 'AtRisk', description: 'A user whose messages are denied, or soon will be, by the most urgent reason.' },
)

const hours = Type.Array(
  Type.Object({
    start: time(),
    sent: uint({ description: 'Units committed.' }),
    denied: uint({ description: 'Units denied. Each attempt counts.' }),
  }),
  { description: 'By the hour, without gaps.' },
)

const users = (description: string) => uint({ description: `Users ${description}` })

export const Overview = Type.Object(
  {
    as_of: time({ description: 'Parts may be up to 10 seconds older. All callers get the same.' }),
    not_ready: nullable(Type.String(), {
      description: 'Why the service is not ready, as `/readyz` says it; null: it is.',
    }),
    unread: Type.Array(Type.Object({ part: Type.Enum([...OVERVIEW_PARTS]), reason: Type.Enum([...UNREAD_REASONS]) }), {
      description: 'The parts that are null, because they could not be read, or not in time.',
    }),
    pauses: nullable(Type.Object({ count: uint(), items: Type.Array(Type.Ref('Pause#')) })),
    breaker: nullable(
      Type.Object({
        tripped: uint({ description: 'Pauses that the breaker made in the last 24 hours.' }),
        observed: uint({ description: 'What it only observed in the last 24 hours.' }),
        is_more: isMore,
        items: Type.Array(Type.Ref('Pause#')),
      }),
    ),
    webhooks: nullable(
      Type.Object({
        failing: uint({ description: 'Webhooks whose deliveries fail, or that were disabled because they did.' }),
        items: Type.Array(Type.Ref('Webhook#')),
      }),
    ),
    customers: nullable(
      Type.Object({
        blocked: users('whose messages are denied now, and not on purpose, by a pause or a cap of 0.'),
        near_limit: users('with a quota that has reached an alert, and has units left.'),
        running_out: users('whose units run out within 7 days at their daily rate, of the 100 who sent most.'),
        ending: users('with a grant in use that ends within 7 days.'),
        is_more: isMore,
        items: Type.Array(Type.Ref('AtRisk#')),
      }),
    ),
    requests: nullable(
      Type.Object({
        open: uint({ description: 'Requests for more units that wait for a decision.' }),
        is_more: isMore,
        items: Type.Array(Type.Ref('IncreaseRequest#')),
      }),
    ),
    destinations: nullable(
      Type.Object({
        unusual: uint({
          description:
            'Countries to which at least 20 units, and 3 times as many as on an average day of the week before, were asked for in the last 24 hours.',
        }),
        items: Type.Array(
          Type.Object({ country: Type.String(), asked: uint(), denied: uint(), usual: Type.Number({ minimum: 0 }) }),
        ),
      }),
    ),
    usage: nullable(
      Type.Object({
        time_zone: Type.String(),
        total: Type.Object(counts, { description: 'Of all users, today.' }),
        before: Type.Object(
          { until: time(), sent: uint() },
          { description: 'Units committed yesterday until this time of day.' },
        ),
        today: hours,
        yesterday: hours,
      }),
    ),
    events: nullable(Type.Array(Type.Ref('Event#'), { description: 'The latest of the feed, oldest first.' })),
  },
  {
    $id: 'Overview',
    description:
      'Whether all is well: counts, the first rows of each list, and the usage of today. Each part is read by itself, within bounds, and null if that failed.',
  },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const OVERVIEW_COMPONENTS = { AtRisk, Overview } satisfies Record<string, TSchema>

export type OverviewQuery = Static<typeof OverviewQuery>
export type UnreadReason = (typeof UNREAD_REASONS)[number]
