import Type, { type Static, type TLiteral, type TObject, type TProperties, type TSchema } from 'typebox'
import { MAX_PAGE_SIZE } from '../domain/basics/bounds.ts'
import { namedValues } from '../domain/basics/named-values.ts'
import {
  EVENT_TYPES,
  type EventType,
  type SharedEventType,
  type SystemEventType,
  type UserEventType,
} from '../domain/events/event.ts'
import type { IncreaseRequest } from './increase-requests.ts'
import type { Pause } from './pauses.ts'
import type { SmsQuota } from './quotas.ts'
import type { Reservation } from './reservations.ts'
import { closed, nullable, patterned, positive, time, uint } from './schemas.ts'
import { Webhook } from './webhooks.ts'

/** Events: one schema per type, as the feed lists them and as webhooks receive them. */

/* ── The feed ───────────────────────────────────────────────────────────────────────────────────────────────────── */

export const EventsQuery = Type.Object(
  {
    after: Type.Optional(
      patterned('cursor', {
        description:
          '`next` of the previous page, or `latest` for events from now on. Omitted: begins with the oldest event that is kept (`EVENT_RETENTION_DAYS`).',
      }),
    ),
    last: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PAGE_SIZE,
        description: 'Instead of `after`: begins with the last N events of all types and users.',
      }),
    ),
    types: Type.Optional(
      patterned('eventTypes', {
        description: 'Only these types, separated by commas.',
        examples: ['quota.created,quota.updated'],
      }),
    ),
    user_id: Type.Optional(uint({ description: "Only this user's events." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: 100 })),
    wait_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30,
        default: 0,
        description:
          'How long to wait for an event if there is none yet. At most 20 calls of one token subject wait at a time.',
      }),
    ),
  },
  closed,
)

/* ── The events ─────────────────────────────────────────────────────────────────────────────────────────────────── */

/** The name of a type's schema: `QuotaCreatedEvent` for `quota.created`. */
function nameOf(type: EventType): string {
  const words = type.split(/[._]/).map(word => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
  return `${words.join('')}Event`
}

const place = {
  id: Type.String({ description: 'Unique. The same in the feed and in `webhook-id`.', examples: ['evt_12_345'] }),
  at: time(),
}

/** An event of a user's quotas or reservations. */
const userEvent = <const Name extends UserEventType, Data extends TProperties>(type: Name, when: string, data: Data) =>
  Type.Object(
    {
      id: place.id,
      type: Type.Literal(type),
      at: place.at,
      user_id: uint(),
      sequence: uint({ description: "Numbers the user's events, from 1." }),
      data: Type.Object(data),
    },
    { $id: nameOf(type), description: when },
  )

/** An event that belongs to no user. */
const systemEvent = <const Name extends SystemEventType, Data extends TProperties>(
  type: Name,
  when: string,
  data: Data,
) =>
  Type.Object(
    {
      id: place.id,
      type: Type.Literal(type),
      at: place.at,
      user_id: nullable(uint(), { description: 'Always null.' }),
      sequence: nullable(uint(), { description: 'Always null.' }),
      data: Type.Object(data),
    },
    { $id: nameOf(type), description: when },
  )

/** An event of a user; of no user where it concerns all of them. */
const sharedEvent = <const Name extends SharedEventType, Data extends TProperties>(
  type: Name,
  when: string,
  data: Data,
) =>
  Type.Object(
    {
      id: place.id,
      type: Type.Literal(type),
      at: place.at,
      user_id: nullable(uint(), { description: 'null: it concerns all users.' }),
      sequence: nullable(uint(), { description: "Numbers the user's events, from 1; null without a user." }),
      data: Type.Object(data),
    },
    { $id: nameOf(type), description: when },
  )

const quota = Type.Ref('SmsQuota#')
const pause = Type.Ref('Pause#')
const request = Type.Ref('IncreaseRequest#')

const transferData = {
  transfer: Type.Object(
    {
      id: positive(),
      units: positive(),
      returned: uint(),
      reason: nullable(Type.String()),
      expires_at: nullable(time()),
    },
    {
      description:
        'Who is on the other side is read by `GET /api/sms/admin/transfers/{id}`: erasures leave the events of others.',
    },
  ),
  units: positive({ description: 'Units that moved now.' }),
  direction: Type.Enum(['in', 'out'], { description: "Whether they came into this user's quota, or left it." }),
  quota,
}

/**
 * The schema of each event of the domain's table: when it is emitted, and its data. The feed, its OpenAPI document, the payloads of
 * webhooks and the list of events are made from it.
 */
export const EVENTS = {
  'quota.created': userEvent('quota.created', 'An administrator created a quota.', { quota }),
  'quota.updated': userEvent(
    'quota.updated',
    'An administrator updated or adjusted a quota. `quota` is the new state.',
    { quota },
  ),
  'quota.deleted': userEvent('quota.deleted', 'An administrator deleted a quota. `quota` is its last state.', {
    quota,
  }),
  'quota.threshold_reached': userEvent(
    'quota.threshold_reached',
    '`used` reached a percentage of `alert_at`. Emitted once per window and percentage, and again after the limit was raised above it. If several are reached at once, `quota` is the state after all of them.',
    {
      quota,
      percent: Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'The percentage of `alert_at` that was reached.',
      }),
      sendable: Type.Object(
        {
          units: nullable(uint(), { description: 'null: nothing bounds it.' }),
          country: nullable(Type.String(), {
            description: 'The first country that the quota is for; null: it is for all.',
          }),
          message_type: nullable(Type.String(), { description: 'Likewise of its message types.' }),
        },
        {
          description:
            'What the user can still send of such messages, by all quotas: what the matching grants have left, overage included, up to the headroom of each matching cap that counts all values together. A warning is for a low value.',
        },
      ),
    },
  ),
  'quota.expired': userEvent(
    'quota.expired',
    'A quota reached its `expires_at`. Emitted once, within a minute; if the quota is extended or deleted before that, right before the event of that change.',
    { quota },
  ),
  'reservation.expired': userEvent(
    'reservation.expired',
    'A reservation expired with outstanding units, and was closed.',
    {
      reservation: Type.Ref('Reservation#'),
      released: uint({ description: 'Outstanding units that were released.' }),
      committed: uint({ description: 'Outstanding units that were committed, for `on_expiry: commit`.' }),
    },
  ),
  'transfer.made': userEvent(
    'transfer.made',
    'Units of a grant became a grant of another user. Giver and receiver get an event each, with their own quota.',
    transferData,
  ),
  'transfer.returned': userEvent(
    'transfer.returned',
    'Units of a transfer were given back. Giver and receiver get an event each, with their own quota.',
    transferData,
  ),
  'request.made': userEvent('request.made', 'A user asked for more units.', { request }),
  'request.decided': userEvent(
    'request.decided',
    "A user's request for more units was approved or declined, or the user withdrew it: `request.status` says which. What an approval gives has a `quota.created` or `quota.updated` of its own.",
    { request },
  ),
  'pause.made': sharedEvent(
    'pause.made',
    'An administrator, or the breaker against pumped traffic, paused a destination: messages of a user, or of all users, to a country.',
    { pause },
  ),
  'breaker.tripped': userEvent(
    'breaker.tripped',
    'The breaker found pumped traffic: `pause` is what it paused, or, if `observed`, would have paused. `evidence` has the figures.',
    { pause },
  ),
  'pause.lifted': sharedEvent(
    'pause.lifted',
    'An administrator lifted a pause before its end. That a pause ends by itself emits no event: `until` says when.',
    { pause },
  ),
  'webhook.disabled': systemEvent(
    'webhook.disabled',
    'The service disabled a webhook. `failing`: no delivery succeeded for three days. `gone`: the receiver answered 410.',
    {
      webhook: Type.Object({
        id: positive(),
        description: nullable(Type.String()),
        disabled_reason: Type.Enum(['failing', 'gone']),
        failing_since: Webhook.properties.failing_since,
      }),
    },
  ),
  'user.erased': systemEvent(
    'user.erased',
    "A user's data was erased on request. Their earlier events are not shown any more; copies elsewhere are yours to erase.",
    { erasure: Type.Object({ user_id: uint(), requested_at: time(), finished_at: time() }) },
  ),
} satisfies { [Type in EventType]: TObject<{ type: TLiteral<Type> }> }

type DataReferences = {
  'SmsQuota#': typeof SmsQuota
  'Reservation#': typeof Reservation
  'Pause#': typeof Pause
  'IncreaseRequest#': typeof IncreaseRequest
}

/** An event of a type that this version knows. Clients ignore all others. */
export type Event = { [Type in EventType]: Static<(typeof EVENTS)[Type], DataReferences> }[EventType]

export const Event = Type.Unsafe<Event>(
  Type.Union(
    EVENT_TYPES.map(type => Type.Ref(`${nameOf(type)}#`)),
    {
      $id: 'Event',
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(EVENT_TYPES.map(type => [type, `#/components/schemas/${nameOf(type)}`])),
      },
      description:
        'Something that happened, recorded in the same transaction. Ignore types and fields that you do not know: later versions add some. An event keeps the fields it was recorded with. Events of a user whose data was erased are not shown any more.',
    },
  ),
)

export const EventPage = Type.Object(
  {
    items: Type.Array(Type.Ref('Event#')),
    next: Type.String({
      description:
        '`after` of the next page. No event is ever missed, even if it commits late. If the database loses events that the cursor has passed, the answer is 410 `events_lost`; if events that it has not passed are removed, 410 `events_pruned`.',
    }),
  },
  { $id: 'EventPage', description: 'A page of the feed. An empty page does not mean that the feed has ended.' },
)

/* ── Webhooks ───────────────────────────────────────────────────────────────────────────────────────────────────── */

/** The same event as the body of a delivery, after the Standard Webhooks specification. */
function payloadOf({ properties: { type, user_id, sequence, data } }: (typeof EVENTS)[EventType]): TSchema {
  return Type.Object({ type, timestamp: time(), data: Type.Object({ user_id, sequence, ...data.properties }) })
}

/** The payload of a test, which an administrator sends. It is not an event and is not in the feed. */
export const WebhookTestPayload = Type.Object({
  type: Type.Literal('webhook.test'),
  timestamp: time(),
  data: Type.Object({ webhook: Type.Object({ id: positive(), description: nullable(Type.String()) }) }),
})

/** The body of a delivery of each type. */
export const WEBHOOK_PAYLOADS: Readonly<Record<EventType | 'webhook.test', TSchema>> = {
  ...namedValues<Record<EventType, TSchema>>(EVENT_TYPES, type => payloadOf(EVENTS[type])),
  'webhook.test': WebhookTestPayload,
}

/** The named schemas of the OpenAPI document, by `$id`; of events only the union has its type in the API's. */
export const EVENT_COMPONENTS: { Event: typeof Event; EventPage: typeof EventPage } = {
  ...Object.fromEntries(EVENT_TYPES.map(type => [nameOf(type), EVENTS[type]])),
  Event,
  EventPage,
}

export type EventsQuery = Static<typeof EventsQuery>
export type EventPage = { items: Event[]; next: string }

type PayloadOf<One> = One extends Event
  ? { type: One['type']; timestamp: string; data: Pick<One, 'user_id' | 'sequence'> & One['data'] }
  : never
/** The body of a delivery. */
export type WebhookPayload = PayloadOf<Event> | Static<typeof WebhookTestPayload>
