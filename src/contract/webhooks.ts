import Type, { type TSchema } from 'typebox'
import { MAX_INTEGER, MAX_PAGE_SIZE } from '../domain/bounds.ts'
import { EVENT_TYPES } from '../domain/event.ts'
import { DELIVERY_STATUSES } from '../domain/webhook.ts'
import { nullable, time, uint } from './quotas.ts'

/** The shapes of webhooks. */

const closed = { additionalProperties: false }
const id = Type.Integer({ minimum: 1, maximum: MAX_INTEGER })

const settings = {
  url: Type.String({
    format: 'webhook-url',
    maxLength: 2_048,
    description:
      'Where events are posted. An address outside of the public internet is refused unless the operator allows it.',
    examples: ['https://example.com/sms-quota'],
  }),
  types: nullable(
    Type.Array(Type.Enum([...EVENT_TYPES]), { minItems: 1, maxItems: EVENT_TYPES.length, uniqueItems: true }),
    { description: 'The types of events it is sent; null is all.' },
  ),
  description: nullable(Type.String({ format: 'text', maxLength: 200 }), { description: 'Shown to people.' }),
  enabled: Type.Boolean({
    description: 'false holds deliveries back: what happens meanwhile is sent when it is enabled again.',
  }),
}
const { url, ...optionalSettings } = settings

export const CreateWebhookReq = Type.Object(
  { url, ...Type.Partial(Type.Object(optionalSettings)).properties },
  {
    $id: 'CreateWebhookReq',
    ...closed,
    examples: [{ url: 'https://example.com/sms-quota', types: ['quota.threshold_reached'] }],
  },
)

export const UpdateWebhookReq = Type.Partial(Type.Object(settings), {
  $id: 'UpdateWebhookReq',
  ...closed,
  description: 'What is omitted stays; null clears.',
  examples: [{ enabled: false }],
})

const webhook = {
  id,
  ...settings,
  url: Type.String(),
  types: nullable(Type.Array(Type.String())),
  disabled_reason: nullable(Type.Enum(['failing', 'gone']), {
    description:
      'Why the service disabled it: three days without a success, or the receiver answered 410. null if it did not.',
  }),
  failing_since: nullable(time(), { description: 'Since when every attempt has failed.' }),
  previous_until: nullable(time(), { description: 'Until when the secret before the last rotation signs as well.' }),
  created_at: time(),
  created_by: Type.String(),
  updated_at: time(),
  updated_by: Type.String(),
}
const Webhook = Type.Object(webhook, { $id: 'Webhook', description: 'Where events are sent.' })

const WebhookWithSecret = Type.Object(
  {
    ...webhook,
    secret: Type.String({
      description: 'What the signatures are made with (Standard Webhooks). It is shown this once.',
      examples: ['whsec_…'],
    }),
  },
  { $id: 'WebhookWithSecret' },
)

const WebhookList = Type.Object({ items: Type.Array(Type.Ref('Webhook#')) }, { $id: 'WebhookList' })

const WebhookDelivery = Type.Object(
  {
    id: Type.String({ description: "The event's id, sent as `webhook-id`.", examples: ['evt_12_345'] }),
    type: nullable(Type.String(), { description: 'null if the event is not kept any more.' }),
    status: Type.Enum([...DELIVERY_STATUSES]),
    attempts: uint({ description: 'Attempts begun, redeliveries included.' }),
    next_attempt_at: nullable(time(), { description: 'While an attempt is under way, when it counts as lost.' }),
    last_attempt_at: nullable(time()),
    response_code: nullable(Type.Integer({ minimum: 0, maximum: 999 }), {
      description: 'What the receiver answered last; null if it did not answer.',
    }),
    error: nullable(Type.String()),
    created_at: time(),
  },
  { $id: 'WebhookDelivery' },
)

const WebhookDeliveryPage = Type.Object(
  {
    items: Type.Array(Type.Ref('WebhookDelivery#')),
    next_cursor: nullable(Type.String(), { description: 'Where the next page begins; null on the last.' }),
  },
  { $id: 'WebhookDeliveryPage', description: 'Deliveries, the newest first.' },
)

const WebhookAttempt = Type.Object(
  {
    delivered: Type.Boolean({ description: 'Whether the receiver answered 2xx in time.' }),
    response_code: nullable(Type.Integer({ minimum: 0, maximum: 999 })),
    error: nullable(Type.String()),
  },
  { $id: 'WebhookAttempt' },
)

const Redelivered = Type.Object(
  { redelivered: uint({ description: 'How many deliveries are due now.' }) },
  { $id: 'Redelivered' },
)

export const RedeliverReq = Type.Object(
  { since: time({ description: 'Everything from this moment on is sent again.' }) },
  { $id: 'RedeliverReq', ...closed, examples: [{ since: '2026-01-31T00:00:00Z' }] },
)

export const WebhookParams = Type.Object({ id })
export const DeliveryParams = Type.Object({
  id,
  delivery: Type.String({ pattern: '^evt_(?:0|[1-9][0-9]?)_[1-9][0-9]{0,14}$' }),
})
export const DeliveriesQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: 100 })),
    cursor: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$', description: 'From `next_cursor`.' })),
  },
  closed,
)

export const WEBHOOK_COMPONENTS = {
  CreateWebhookReq,
  UpdateWebhookReq,
  RedeliverReq,
  Webhook,
  WebhookWithSecret,
  WebhookList,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookAttempt,
  Redelivered,
} satisfies Record<string, TSchema>
