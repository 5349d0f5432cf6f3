import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { EVENTS, WEBHOOK_PAYLOADS } from '../../contract/events.ts'
import { EVENT_TYPES } from '../../domain/events/event.ts'

type Webhooks = NonNullable<Extract<FastifyDynamicSwaggerOptions['openapi'], { webhooks?: unknown }>['webhooks']>

const DELIVERY =
  'Posted to the `url` of each webhook that receives this type. Signed after the Standard Webhooks specification. Deliveries are repeated until the receiver answers 2xx, for up to three days; they may arrive more than once and out of order. Recognize a repeated delivery by `webhook-id`, and order by `sequence`. Ignore types and fields that you do not know: later versions add some.'

const TEST =
  'An administrator tested the webhook with `testWebhook`. It is not an event: it is neither in the feed nor repeated. Signed like an event; its `webhook-id` begins with `evt_test_`.'

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
          description: descriptionOf(type),
          operationId: operationIdOf(type),
          tags: ['Deliveries'],
          security: [],
          parameters: HEADERS,
          requestBody: { required: true, content: { 'application/json': { schema: withLocalReferences(payload) } } },
          responses: RESPONSES,
        },
      },
    ]),
  )
}

/** Generators make a method of each, in a class for each tag: `receiveQuotaCreated`. */
function operationIdOf(type: string): string {
  return `receive${type.replaceAll(/(?:^|[._])([a-z])/g, (_all, letter: string) => letter.toUpperCase())}`
}

function descriptionOf(type: string): string {
  const event = EVENT_TYPES.find(known => known === type)
  if (event === undefined) return TEST
  const { description }: { type: string; description?: string } = EVENTS[event]
  return `${description}\n\n${DELIVERY}`
}

/** The Swagger plugin does not resolve references in this section: `SmsQuota#` is its component in the document. */
function withLocalReferences(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' ? `#/components/schemas/${String(value).replace(/#$/, '')}` : value,
  )
}
