import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import { MAX_PAGE_SIZE } from '../domain/bounds.ts'
import { EVENT_TYPES, type EventType } from '../domain/event.ts'
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

/** What each type means. */
export const EVENT_DESCRIPTIONS: Readonly<Record<EventType, string>> = {
  'quota.created': 'An administrator created a quota.',
  'quota.updated': 'An administrator updated or adjusted a quota. `quota` is the new state.',
  'quota.deleted': 'An administrator deleted a quota. `quota` is its last state.',
  'quota.threshold_reached':
    '`used` reached a percentage of `alert_at`. Emitted once per window and percentage, and again after the limit was raised above it. If several are reached at once, `quota` is the state after all of them.',
  'quota.expired':
    'A quota reached its `expires_at`. Emitted once, within a minute; if the quota is extended or deleted before that, right before the event of that change.',
  'reservation.expired': 'A reservation expired with outstanding units, and was closed.',
  'webhook.disabled':
    'The service disabled a webhook. `failing`: no delivery succeeded for three days. `gone`: the receiver answered 410.',
  'user.erased':
    "A user's data was erased on request. Their earlier events are not shown any more; copies elsewhere are yours to erase.",
}

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
const userEvent = <const Name extends EventType, Data extends TProperties>(type: Name, data: Data) =>
  Type.Object(
    {
      id: place.id,
      type: Type.Literal(type),
      at: place.at,
      user_id: uint(),
      sequence: uint({ description: "Numbers the user's events, from 1." }),
      data: Type.Object(data),
    },
    { $id: nameOf(type), description: EVENT_DESCRIPTIONS[type] },
  )

/** An event that belongs to no user. */
const systemEvent = <const Name extends EventType, Data extends TProperties>(type: Name, data: Data) =>
  Type.Object(
    {
      id: place.id,
      type: Type.Literal(type),
      at: place.at,
      user_id: Type.Null(),
      sequence: Type.Null(),
      data: Type.Object(data),
    },
    { $id: nameOf(type), description: EVENT_DESCRIPTIONS[type] },
  )

const quota = Type.Ref('SmsQuota#')

export const QuotaCreatedEvent = userEvent('quota.created', { quota })

export const QuotaUpdatedEvent = userEvent('quota.updated', { quota })

export const QuotaDeletedEvent = userEvent('quota.deleted', { quota })

export const QuotaThresholdReachedEvent = userEvent('quota.threshold_reached', {
  quota,
  percent: Type.Integer({ minimum: 1, maximum: 100, description: 'The percentage of `alert_at` that was reached.' }),
})

export const QuotaExpiredEvent = userEvent('quota.expired', { quota })

export const ReservationExpiredEvent = userEvent('reservation.expired', {
  reservation: Type.Ref('Reservation#'),
  released: uint({ description: 'Outstanding units that were released.' }),
  committed: uint({ description: 'Outstanding units that were committed, for `on_expiry: commit`.' }),
})

export const WebhookDisabledEvent = systemEvent('webhook.disabled', {
  webhook: Type.Object({
    id: positive(),
    description: nullable(Type.String()),
    disabled_reason: Type.Enum(['failing', 'gone']),
    failing_since: Webhook.properties.failing_since,
  }),
})

export const UserErasedEvent = systemEvent('user.erased', {
  erasure: Type.Object({ user_id: uint(), requested_at: time(), finished_at: time() }),
})

export const Event = Type.Union(
  [
    Type.Ref('QuotaCreatedEvent#'),
    Type.Ref('QuotaUpdatedEvent#'),
    Type.Ref('QuotaDeletedEvent#'),
    Type.Ref('QuotaThresholdReachedEvent#'),
    Type.Ref('QuotaExpiredEvent#'),
    Type.Ref('ReservationExpiredEvent#'),
    Type.Ref('WebhookDisabledEvent#'),
    Type.Ref('UserErasedEvent#'),
  ],
  {
    $id: 'Event',
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(EVENT_TYPES.map(type => [type, `#/components/schemas/${nameOf(type)}`])),
    },
    description:
      'Something that happened, recorded in the same transaction. Ignore types and fields that you do not know: later versions add some. An event keeps the fields it was recorded with. Events of a user whose data was erased are not shown any more.',
  },
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
const payloadOf = <Name extends TSchema, User extends TSchema, Sequence extends TSchema, Data extends TProperties>({
  properties: { type, user_id, sequence, data },
}: TObject<{ type: Name; user_id: User; sequence: Sequence; data: TObject<Data> }>) =>
  Type.Object({ type, timestamp: time(), data: Type.Object({ user_id, sequence, ...data.properties }) })

/** The payload of a test, which an administrator sends. It is not an event and is not in the feed. */
export const WebhookTestPayload = Type.Object({
  type: Type.Literal('webhook.test'),
  timestamp: time(),
  data: Type.Object({ webhook: Type.Object({ id: positive(), description: nullable(Type.String()) }) }),
})

/** The body of a delivery of each type. */
export const WEBHOOK_PAYLOADS = {
  'quota.created': payloadOf(QuotaCreatedEvent),
  'quota.updated': payloadOf(QuotaUpdatedEvent),
  'quota.deleted': payloadOf(QuotaDeletedEvent),
  'quota.threshold_reached': payloadOf(QuotaThresholdReachedEvent),
  'quota.expired': payloadOf(QuotaExpiredEvent),
  'reservation.expired': payloadOf(ReservationExpiredEvent),
  'webhook.disabled': payloadOf(WebhookDisabledEvent),
  'user.erased': payloadOf(UserErasedEvent),
  'webhook.test': WebhookTestPayload,
} satisfies Record<EventType | 'webhook.test', TSchema>

/** The named schemas of the OpenAPI document, by `$id`. */
export const EVENT_COMPONENTS = {
  QuotaCreatedEvent,
  QuotaUpdatedEvent,
  QuotaDeletedEvent,
  QuotaThresholdReachedEvent,
  QuotaExpiredEvent,
  ReservationExpiredEvent,
  WebhookDisabledEvent,
  UserErasedEvent,
  Event,
  EventPage,
} satisfies Record<string, TSchema>

type DataReferences = { 'SmsQuota#': typeof SmsQuota; 'Reservation#': typeof Reservation }

export type EventsQuery = Static<typeof EventsQuery>
export type QuotaCreatedEvent = Static<typeof QuotaCreatedEvent, DataReferences>
export type QuotaUpdatedEvent = Static<typeof QuotaUpdatedEvent, DataReferences>
export type QuotaDeletedEvent = Static<typeof QuotaDeletedEvent, DataReferences>
export type QuotaThresholdReachedEvent = Static<typeof QuotaThresholdReachedEvent, DataReferences>
export type QuotaExpiredEvent = Static<typeof QuotaExpiredEvent, DataReferences>
export type ReservationExpiredEvent = Static<typeof ReservationExpiredEvent, DataReferences>
export type WebhookDisabledEvent = Static<typeof WebhookDisabledEvent, DataReferences>
export type UserErasedEvent = Static<typeof UserErasedEvent>
/** An event of a type that this version knows. Clients ignore all others. */
export type Event =
  | QuotaCreatedEvent
  | QuotaUpdatedEvent
  | QuotaDeletedEvent
  | QuotaThresholdReachedEvent
  | QuotaExpiredEvent
  | ReservationExpiredEvent
  | WebhookDisabledEvent
  | UserErasedEvent
export type EventPage = { items: Event[]; next: string }
/** The body of a delivery. */
export type WebhookPayload = {
  [Name in keyof typeof WEBHOOK_PAYLOADS]: Static<(typeof WEBHOOK_PAYLOADS)[Name], DataReferences>
}[keyof typeof WEBHOOK_PAYLOADS]
