import Type, { type Static, type TSchema } from 'typebox'
import { CustomerPage } from './customers.ts'
import { closed, nullable, time, timeZone, uint } from './schemas.ts'
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
/** Customers at risk that the overview shows. */
export const MAX_AT_RISK = 5
/** Events that the overview shows. */
export const MAX_EVENTS = 30

const isMore = Type.Boolean({ description: 'Whether there may be more: the service looked at a bounded number.' })

const hours = Type.Array(
  Type.Object({
    start: time(),
    sent: uint({ description: 'Units committed.' }),
    denied: uint({ description: 'Units denied. Each attempt counts.' }),
  }),
  { description: 'By the hour, without gaps.' },
)

export const Overview = Type.Object(
  {
    as_of: time({ description: 'Parts may be up to 5 seconds older. All callers get the same.' }),
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
        observed: uint({
          description:
            'What it only observed in the last 24 hours; 0 while no user gives feedback, for then each code looks pumped.',
        }),
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
      Type.Object(
        {
          blocked: uint(),
          near_limit: uint(),
          running_out: uint(),
          ending: uint(),
          is_more: isMore,
          complete_until: CustomerPage.properties.complete_until,
          items: Type.Array(Type.Ref('Customer#')),
        },
        {
          description:
            'Customers in each state of risk, as `GET /api/sms/admin/customers?view=at_risk` lists them, and the first of these. The counts are those of their figures.',
        },
      ),
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
export const OVERVIEW_COMPONENTS = { Overview } satisfies Record<string, TSchema>

export type OverviewQuery = Static<typeof OverviewQuery>
export type UnreadReason = (typeof UNREAD_REASONS)[number]
