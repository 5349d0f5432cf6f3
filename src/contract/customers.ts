import Type, { type Static, type TSchema } from 'typebox'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER, MAX_PAGE_SIZE } from '../domain/basics/bounds.ts'
import { FIGURE_DAYS } from '../domain/forecasts/customer-figures.ts'
import { CUSTOMER_STATES } from '../domain/forecasts/customer-standing.ts'
import { QUOTA_DENIAL_REASONS } from '../domain/units/reservation.ts'
import { closed, nextCursor, nullable, patterned, positive, text, time, uint, userNames } from './schemas.ts'

/** Customers: users with what they can send, how soon that ends, and what their usage comes to. */

export const CUSTOMER_SORTS = ['urgency', 'name', 'used', 'denied', 'growth', 'sent', 'last_message', 'unmet'] as const
export const CUSTOMER_VIEWS = ['at_risk', 'unmet'] as const

/** The orders whose figure `least` and `most` bound, and what they bound it in. */
export const BOUNDED_SORTS = {
  used: 'percent',
  denied: 'percent',
  growth: 'percent',
  sent: 'units',
  unmet: 'units',
} as const

const bound = (which: string) =>
  Type.Optional(
    Type.Integer({
      minimum: -100,
      maximum: MAX_INTEGER,
      description: `Only users whose figure in the order of \`sort\` is at ${which} this: percent for \`used\`, \`denied\` and \`growth\`, units for \`sent\` and \`unmet\`. Other orders have none.`,
    }),
  )

export const CUSTOMER_FILTERS = {
  view: Type.Optional(
    Type.Enum([...CUSTOMER_VIEWS], {
      description:
        '`at_risk`: who is blocked, near a limit, running out or about to lose a grant, the most urgent first. `unmet`: who was denied units for lack of them, but for users who are blocked on purpose, most units first.',
    }),
  ),
  state: Type.Optional(Type.Enum([...CUSTOMER_STATES], { description: 'Only users in this state.' })),
  plan_id: Type.Optional(positive({ description: 'Only users who have this plan.' })),
  sort: Type.Optional(
    Type.Enum([...CUSTOMER_SORTS], {
      description:
        'The figure that the list is in the order of; ties by id. Default: `urgency` for `at_risk`, `unmet` for `unmet`, else `sent`. `name` ignores case, and users without one sort highest; `denied` is the share; growth from nothing is the highest; a user who never sent has the lowest `last_message`.',
    }),
  ),
  order: Type.Optional(
    Type.Enum(['asc', 'desc'], { description: 'Default: `asc` for `name`, `desc` for the other figures.' }),
  ),
  least: bound('least'),
  most: bound('most'),
}

export const CustomersQuery = Type.Object(
  {
    ...CUSTOMER_FILTERS,
    search: Type.Optional(
      text(128, {
        minLength: 1,
        description:
          'Only users whose id, reference or name begins with this text; case is ignored in names. As many are looked for as the page has, so there is no next page; see `has_more`.',
      }),
    ),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE })),
    cursor: Type.Optional(
      patterned('cursor', { description: '`next_cursor` of the previous page. It fixes order and filters.' }),
    ),
  },
  closed,
)

const percent = (options = {}) => Type.Number({ minimum: 0, ...options })

export const Customer = Type.Object(
  {
    user_id: uint({ examples: [7] }),
    ...userNames,
    sendable: nullable(uint(), {
      description:
        'The units that the user can send now: of messages without country and type, or if none of these can be sent, of the kind of which most can. null: nothing bounds them.',
    }),
    state: Type.Enum([...CUSTOMER_STATES], {
      description:
        'If several apply, the first of this list. `blocked`: no message can be sent, or none of a country or type that quotas list; or the user has no live quota, and asked for units in the last 30 days. `near_limit`: a cap, or the grants of one scope together, have reached the first percent of their `alert_at`. `running_out`: in the next 7 days at the daily rate of the summary. `ending`: a grant with units left ends in the next 7 days. `blocked_on_purpose`: by caps of 0. `no_quota`: there is no live quota, and the user asks for none.',
    }),
    reason: nullable(Type.Enum([...QUOTA_DENIAL_REASONS]), {
      description: 'Why messages are denied, as `denial` in the summary says; null if the state is not one of denials.',
    }),
    quota_id: nullable(positive(), { description: 'The quota that the state is about.' }),
    until: nullable(time(), {
      description:
        'When a blocked user could send again, as far as time alone decides; when the window ends that is nearly used up; when the units run out; when the grant ends.',
    }),
    countries: nullable(Type.Array(Type.String()), {
      description: 'The destinations that the state is about; null: all.',
    }),
    message_types: nullable(Type.Array(Type.String()), {
      description: 'The message types that the state is about; null: all.',
    }),
    used_percent: percent({
      description:
        'The share that is used of what is nearest to its end: of a cap, or of the grants of one scope together. 0 if nothing is limited.',
    }),
    daily: Type.Array(uint(), {
      minItems: FIGURE_DAYS,
      maxItems: FIGURE_DAYS,
      description: `Units sent on each of the last ${FIGURE_DAYS} days, of 24 hours back from \`figures_at\`, the latest last.`,
    }),
    sent_units: uint({ description: 'Units sent on these days.' }),
    denied_units: uint({
      description: 'Units denied on these days. A message that is tried again and again counts each time.',
    }),
    denied_percent: nullable(percent({ maximum: 100 }), {
      description: 'The share of `denied_units` in what was asked for; null if nothing was.',
    }),
    growth_percent: nullable(Type.Number(), {
      description:
        'By how much a day of these is above a day of the 30 days before, of which those since the first message count; null if they are fewer than 7, or none.',
    }),
    last_message_at: nullable(time(), { description: 'As `last_activity_at` of a user; null: never.' }),
    unmet_units: uint({
      description:
        'Units of `denied_units` that were denied by quotas or for lack of them: not for a paused destination.',
    }),
    figures_at: nullable(time(), {
      description:
        'When the figures below `used_percent` were made; null: not yet, because the user is new, and they are 0.',
    }),
  },
  {
    $id: 'Customer',
    description:
      'A user with what the user can send, how soon that ends, and what usage comes to. What is named before `daily` is of now.',
  },
)

export const CustomerPage = Type.Object(
  {
    items: Type.Array(Type.Ref('Customer#')),
    as_of: time({ description: 'When the page was read.' }),
    complete_until: nullable(time(), {
      description:
        'Figures and order have all that happened before, and the list has every user who was known then; null: the service has not looked at all users yet. Usage that was counted late may be missing for a day.',
    }),
    has_more: Type.Optional(
      Type.Boolean({ description: 'With `search`: whether more users begin so than this page looked for.' }),
    ),
    page_size: Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE }),
    next_cursor: nextCursor,
  },
  {
    $id: 'CustomerPage',
    description:
      'Customers in an order of their figures. What a row says of now is read with the page: a row whose state has changed since the figures were made is left out where a filter or view is of another state. A call reads a bounded number of users, so where filters select few among many a page may be short or even empty and still have a `next_cursor`. While figures change, a user may be on two pages or on none.',
  },
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const CUSTOMER_COMPONENTS = { Customer, CustomerPage } satisfies Record<string, TSchema>

export type CustomersQuery = Static<typeof CustomersQuery>
export type Customer = Static<typeof Customer>
export type CustomerPage = Static<typeof CustomerPage, { 'Customer#': typeof Customer }>
