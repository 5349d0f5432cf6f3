import Type, { type Static, type TSchema } from 'typebox'
import { MAX_PAGE_SIZE } from '../domain/basics/bounds.ts'
import { EVENT_TYPES } from '../domain/events/event.ts'
import {
  DELIVERY_STATUSES,
  MAX_EMAIL_ADDRESSES,
  MAX_WEBHOOK_USERS,
  MESSAGE_LANGUAGES,
  WEBHOOK_KINDS,
} from '../domain/webhooks/webhook.ts'
import { closed, nextCursor, nullable, patterned, positive, text, time, timeZone, uint } from './schemas.ts'

/** Webhooks and their deliveries. The payloads are in `events.ts`. */

const kind = Type.Enum([...WEBHOOK_KINDS], {
  description:
    'What it writes to. `webhook`: a program, which gets signed events. `slack`, `teams`: people in a channel, who get a message for each event. `email`: people at addresses; it needs the settings SMTP_URL and MAIL_FROM. `users`: each user, who gets messages about the own events at the address that the user has confirmed; it needs the setting USER_NOTIFICATIONS.',
})

const settings = {
  url: Type.String({
    format: 'webhook-url',
    maxLength: 2_048,
    description:
      'Where events are posted; of `slack` and `teams` the URL of the incoming webhook. A private address is refused unless the operator allows it. Required, but for `email` and `users`.',
    examples: ['https://example.com/sms-quota'],
  }),
  addresses: Type.Array(Type.String({ format: 'email-address', maxLength: 254 }), {
    minItems: 1,
    maxItems: MAX_EMAIL_ADDRESSES,
    uniqueItems: true,
    description: 'The addresses of `email`, which requires them.',
    examples: [['team@example.com']],
  }),
  language: Type.Enum([...MESSAGE_LANGUAGES], {
    description: 'The language of messages to people; of `users`, each chooses. Default: `en`.',
  }),
  user_ids: nullable(Type.Array(uint(), { minItems: 1, maxItems: MAX_WEBHOOK_USERS, uniqueItems: true }), {
    description: 'Only events of these users; null: of all users, and events of no user.',
    examples: [null],
  }),
  types: nullable(
    Type.Array(Type.Enum([...EVENT_TYPES]), { minItems: 1, maxItems: EVENT_TYPES.length, uniqueItems: true }),
    {
      description:
        'The event types that it receives; null is all. `users` gets only events of users that tell them something, and null or no types are the usual ones of these.',
    },
  ),
  only_when_low: nullable(
    Type.Partial(
      Type.Object({
        units: positive({ description: 'Fewer units than this are little.' }),
        share: Type.Number({
          exclusiveMinimum: 0,
          maximum: 1,
          description: 'Less than this share of `quota.limit` of the event is little.',
        }),
      }),
      { ...closed, minProperties: 1 },
    ),
    {
      description:
        'Of `quota.threshold_reached` only events whose `sendable.units` are little: fewer than `units`, or less than `share` of the limit of the quota that reached the percentage. What the user can send by other quotas counts as left, so that a pack of 10 that runs out beside one with 1,000 left warns of nothing. Other event types are sent as ever; null: so are these.',
      examples: [null],
    },
  ),
  digest: nullable(
    Type.Object(
      {
        hour: Type.Integer({ minimum: 0, maximum: 23, description: 'The hour of the day.' }),
        time_zone: timeZone({ description: 'The IANA time zone of the hour.' }),
      },
      closed,
    ),
    {
      description:
        'Of `slack`, `teams`, `email` and `users`: once a day, at this hour, one message counts all events since the last one and lists ten. A day without events has none. Tests and what is sent again by a call go out at once, retries as ever. Another digest moves what waits; null: it goes out now, and events from then on at once.',
      examples: [null],
    },
  ),
  description: nullable(text(200), { description: 'A display text.' }),
  enabled: Type.Boolean({
    description: 'false pauses deliveries. Events that happen meanwhile are sent once it is enabled again.',
  }),
}

export const CreateWebhookReq = Type.Partial(
  Type.Object({ kind: Type.With(kind, { default: 'webhook' }), ...settings }),
  {
    $id: 'CreateWebhookReq',
    ...closed,
    examples: [{ url: 'https://example.com/sms-quota', types: ['quota.threshold_reached'] }],
  },
)

export const UpdateWebhookReq = Type.Partial(Type.Object(settings), {
  $id: 'UpdateWebhookReq',
  ...closed,
  description: 'Omitted fields keep their value; null clears a field.',
  examples: [{ enabled: false }],
})

const webhook = {
  id: positive(),
  kind,
  ...settings,
  url: nullable(Type.String(), {
    description:
      'Of `slack` and `teams` only its beginning and end: it is a secret. null: it has addresses, or users have theirs.',
  }),
  addresses: nullable(Type.Array(Type.String()), {
    description: 'null: it has a URL, or users have theirs.',
    examples: [null],
  }),
  user_ids: nullable(Type.Array(uint()), {
    description:
      'Only events of these users; null: of all users, and events of no user. Users whose data is erased leave the list, which may then be empty.',
    examples: [null],
  }),
  types: nullable(Type.Array(Type.String())),
  disabled_reason: nullable(Type.Enum(['failing', 'gone']), {
    description:
      'Why the service disabled it. `failing`: no delivery succeeded for three days. `gone`: the receiver answered 410. null if the service did not disable it.',
  }),
  failing_since: nullable(time(), { description: 'Since when all attempts have failed.' }),
  previous_until: nullable(time(), { description: 'Until when the secret before the last rotation also signs.' }),
  created_at: time(),
  created_by: Type.String(),
  updated_at: time(),
  updated_by: Type.String(),
}
export const Webhook = Type.Object(webhook, { $id: 'Webhook', description: 'A receiver of events.' })

export const WebhookWithSecret = Type.Object(
  {
    ...webhook,
    secret: nullable(Type.String(), {
      description:
        'The secret that signs deliveries (Standard Webhooks). It is shown only in this response. null for other kinds than `webhook`, and in a repeated response (`Idempotency-Key`) if the secret has been replaced since.',
      examples: ['whsec_…'],
    }),
  },
  { $id: 'WebhookWithSecret' },
)

export const WebhookList = Type.Object({ items: Type.Array(Type.Ref('Webhook#')) }, { $id: 'WebhookList' })

/* ── Deliveries ─────────────────────────────────────────────────────────────────────────────────────────────────── */

const responseCode = (options = {}) => nullable(Type.Integer({ minimum: 0, maximum: 999 }), options)

/** Answers of receivers, which are others' texts. */
const answerOf = (description: string) => nullable(Type.String({ maxLength: 500 }), { description, examples: [null] })

const delivery = {
  id: Type.String({ description: "The event's id, sent as `webhook-id`.", examples: ['evt_12_345'] }),
  type: nullable(Type.String(), { description: 'null if retention has removed the event.' }),
  status: Type.Enum([...DELIVERY_STATUSES]),
  attempts: uint({ description: 'Attempts started, including redeliveries.' }),
  next_attempt_at: nullable(time(), {
    description: 'When the next attempt is due. During an attempt: when the attempt counts as lost.',
  }),
  last_attempt_at: nullable(time()),
  response_code: responseCode({
    description: "The receiver's last status, of `email` that of the SMTP server; null if it did not respond.",
  }),
  error: nullable(Type.String()),
  answer: answerOf(
    'What the receiver answered to the last attempt: the first 500 characters, without control characters and secret parts of the URL. null if it was delivered or answered nothing, if the message was about several events, and of `users`.',
  ),
  created_at: time(),
}
export const WebhookDelivery = Type.Object(delivery, { $id: 'WebhookDelivery' })

export const WebhookDeliveryDetail = Type.Object(
  {
    ...delivery,
    payload: nullable(Type.Object({}, { additionalProperties: true }), {
      description:
        'The event: of the kind `webhook`, the body that each attempt posts; the other kinds make a message of it. null if retention has removed the event.',
      examples: [{ type: 'quota.created', timestamp: '2026-01-31T00:00:00.000Z', data: { user_id: 7, sequence: 1 } }],
    }),
  },
  { $id: 'WebhookDeliveryDetail', description: 'A delivery with what it posts.' },
)

export const WebhookDeliveryPage = Type.Object(
  { items: Type.Array(Type.Ref('WebhookDelivery#')), next_cursor: nextCursor },
  { $id: 'WebhookDeliveryPage', description: 'Deliveries, newest first.' },
)

export const WebhookAttempt = Type.Object(
  {
    delivered: Type.Boolean({
      description:
        'Whether the receiver took it in time. `webhook`: it answered 2xx; `slack`: also `ok`; `teams`: also nothing or the number of messages; `email`: the server took it, and refused no address but for good.',
    }),
    response_code: responseCode(),
    error: nullable(Type.String()),
    answer: answerOf(
      'What it answered: the first 500 characters, without control characters and secret parts of the URL. null if it answered nothing.',
    ),
  },
  { $id: 'WebhookAttempt' },
)

export const Redelivered = Type.Object(
  { redelivered: uint({ description: 'The number of deliveries that are now due again.' }) },
  { $id: 'Redelivered' },
)

export const RedeliverReq = Type.Object(
  {
    since: time({ description: 'All events from this time on are sent again.' }),
    status: Type.Optional(
      Type.Literal('failed', { description: 'Only events whose delivery has failed; without it, all events.' }),
    ),
  },
  { $id: 'RedeliverReq', ...closed, examples: [{ since: '2026-01-31T00:00:00Z' }] },
)

export const WebhookParams = Type.Object({ id: positive() })
export const DeliveryParams = Type.Object({
  id: positive(),
  delivery: patterned('deliveryId'),
})
export const DeliveriesQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: 100 })),
    cursor: Type.Optional(patterned('cursor', { description: '`next_cursor` of the previous page.' })),
  },
  closed,
)

/** The named schemas of the OpenAPI document, by `$id`. */
export const WEBHOOK_COMPONENTS = {
  CreateWebhookReq,
  UpdateWebhookReq,
  RedeliverReq,
  Webhook,
  WebhookWithSecret,
  WebhookList,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryPage,
  WebhookAttempt,
  Redelivered,
} satisfies Record<string, TSchema>

export type CreateWebhookReq = Static<typeof CreateWebhookReq>
export type UpdateWebhookReq = Static<typeof UpdateWebhookReq>
export type Webhook = Static<typeof Webhook>
export type WebhookWithSecret = Static<typeof WebhookWithSecret>
export type WebhookList = Static<typeof WebhookList, { 'Webhook#': typeof Webhook }>
export type WebhookDelivery = Static<typeof WebhookDelivery>
export type WebhookDeliveryDetail = Static<typeof WebhookDeliveryDetail>
export type WebhookDeliveryPage = Static<typeof WebhookDeliveryPage, { 'WebhookDelivery#': typeof WebhookDelivery }>
export type WebhookAttempt = Static<typeof WebhookAttempt>
export type Redelivered = Static<typeof Redelivered>
export type RedeliverReq = Static<typeof RedeliverReq>
export type DeliveriesQuery = Static<typeof DeliveriesQuery>
