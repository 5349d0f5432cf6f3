import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { WEBHOOK_PAYLOADS } from '../../contract/events.ts'

type Webhooks = NonNullable<Extract<FastifyDynamicSwaggerOptions['openapi'], { webhooks?: unknown }>['webhooks']>

type EventName = keyof typeof WEBHOOK_PAYLOADS

const SUMMARIES: Record<EventName, string> = {
  'quota.created': 'A quota was created',
  'quota.updated': 'A quota was updated or adjusted',
  'quota.deleted': 'A quota was deleted',
  'quota.threshold_reached': 'A quota reached a percentage of its alert_at',
  'quota.expired': 'A quota expired',
  'reservation.expired': 'A reservation expired with outstanding units',
  'webhook.disabled': 'The service disabled a webhook',
  'webhook.test': 'An administrator tested the webhook',
}

const DESCRIPTION =
  'Posted to the `url` of each webhook that receives this type. Signed after the Standard Webhooks specification. Deliveries are repeated until the receiver answers 2xx, for up to three days; they may arrive more than once and out of order. Recognize a repeated delivery by `webhook-id`, and order by `sequence`. Ignore types and fields that you do not know: later versions add some.'

const TEST_DESCRIPTION =
  'Posted once by `testWebhook`. It is not an event: it is neither in the feed nor repeated. Signed like an event.'

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header' as const,
  required: true,
  description,
  schema: { type: 'string' as const, examples: [example] },
})

const HEADERS = [
  header('webhook-id', "The event's id, the same for every attempt.", 'evt_12_345'),
  header('webhook-timestamp', 'When this attempt was sent, in seconds since 1970-01-01T00:00:00Z.', '1767225600'),
  header(
    'webhook-signature',
    'One signature per valid secret, separated by spaces: two for a day after a rotation, otherwise one. Each is `v1,` followed by the base64 of the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. The key is the base64 part of the secret (after `whsec_`), decoded.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

const RESPONSES = {
  '2XX': { description: 'Received, if sent within ten seconds. The body is ignored.' },
  '410': { description: 'The receiver is gone. The service disables the webhook.' },
  default: { description: 'Not received. The service sends the event again later. Redirects are not followed.' },
}

/** The `webhooks` section of the document: what a receiver gets, by event type. */
export function webhooksSection(): Webhooks {
  return Object.fromEntries(
    Object.entries(WEBHOOK_PAYLOADS).map(([type, payload]) => [
      type,
      {
        post: {
          summary: SUMMARIES[type as EventName],
          description: type === 'webhook.test' ? TEST_DESCRIPTION : DESCRIPTION,
          tags: ['Events'],
          security: [],
          parameters: HEADERS,
          requestBody: { required: true, content: { 'application/json': { schema: withLocalReferences(payload) } } },
          responses: RESPONSES,
        },
      },
    ]),
  )
}

/** The Swagger plugin does not resolve references in this section: `SmsQuota#` is its component in the document. */
function withLocalReferences(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' ? `#/components/schemas/${String(value).replace(/#$/, '')}` : value,
  )
}
