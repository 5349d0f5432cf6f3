import { randomUUID } from 'node:crypto'
import type { Database, Log } from '../db/connection/database.ts'
import type { Attempt } from '../db/webhooks/deliveries.ts'
import type { SecretKeys } from '../db/webhooks/secret-keys.ts'
import { findSigningWebhook, type SigningWebhook } from '../db/webhooks/secrets.ts'
import { eventIdOf } from '../domain/event.ts'
import { type EpochMs, formatTimestamp } from '../domain/time.ts'
import type { Webhook } from '../domain/webhook.ts'
import { createPoster } from '../events/post.ts'
import type { Settled } from '../events/settle-delivery.ts'
import { signatureHeaders } from '../events/signature.ts'
import { type Payload, payloadOf } from '../events/views.ts'
import type { Tracer } from '../tracing.ts'
import { createWebhookChannel, type WebhookChannel } from './webhook-channel.ts'

/** Attempts the deliveries of webhooks. Each webhook has its own channel, so that a slow receiver delays no other. */
export interface WebhookSender {
  /** Starts the attempts at a webhook's deliveries that are due. No more start once the signal has aborted. */
  start(webhookId: number, signal: AbortSignal): void
  /** Resolves when no attempt is under way. */
  idle(): Promise<void>
  /** Sends a test event to one webhook, enabled or not. Resolves to the result; undefined if there is no such webhook. */
  test(webhookId: number): Promise<Attempt | undefined>
  readonly allowPrivate: boolean
}

export interface WebhookSenderOptions {
  db: Database
  /** The keys that decrypt the secrets that sign. */
  keys: SecretKeys
  now: () => EpochMs
  log: Log
  /** Whether webhooks may be sent into private networks and to this machine; default false. */
  allowPrivate?: boolean
  /** How long a receiver may take to answer, in milliseconds; default 10,000. */
  timeoutMs?: number
  onDelivery?: (outcome: Settled) => void
  /** Each attempt is a span, which its receiver can continue. */
  tracer?: Tracer | undefined
}

const TIMEOUT_MS = 10_000

/** `stopping` aborts the attempts under way; those deliveries are due again at once. */
export function createWebhookSender(options: WebhookSenderOptions, stopping: AbortSignal): WebhookSender {
  const { now: clock, timeoutMs = TIMEOUT_MS, allowPrivate = false } = options
  const { db, keys, log, onDelivery, tracer } = options
  const poster = createPoster({ allowPrivate, timeoutMs })
  stopping.addEventListener('abort', () => poster.close(), { once: true })
  /** The channels with something to do, by webhook. */
  const channels = new Map<number, WebhookChannel>()

  function open(id: number): WebhookChannel {
    const channel = createWebhookChannel(id, {
      db,
      keys,
      now: clock,
      log,
      timeoutMs,
      stopping,
      onDelivery,
      send: (webhook, event) => send(webhook, eventIdOf(event), payloadOf(event)),
      onIdle: () => channels.delete(id),
    })
    channels.set(id, channel)
    return channel
  }

  async function send(webhook: SigningWebhook, id: string, payload: Payload): Promise<Attempt> {
    const body = JSON.stringify(payload)
    const span = tracer?.start(`webhook ${payload.type}`, 'client')
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'sms-quota',
      ...signatureHeaders(webhook, id, body, clock()),
      ...(span === undefined ? {} : { traceparent: span.traceparent }),
    }
    const attempt = await poster.post(webhook.url, headers, body)
    span?.end(!attempt.delivered, {
      'webhook.id': id,
      'sms_quota.webhook': webhook.id,
      ...(attempt.response_code === null ? {} : { 'http.response.status_code': attempt.response_code }),
    })
    return attempt
  }

  return {
    start(id, signal) {
      const channel = channels.get(id) ?? open(id)
      channel.start(signal)
    },
    async idle() {
      // A channel whose database failed stays, and is idle.
      await Promise.all([...channels.values()].map(channel => channel.idle()))
    },
    async test(webhookId) {
      const webhook = await findSigningWebhook(db, keys, webhookId)
      if (webhook === undefined) return undefined
      const { retry_after: _, ...attempt } = await send(
        webhook,
        `evt_test_${randomUUID()}`,
        testPayloadOf(webhook, clock()),
      )
      return attempt
    },
    allowPrivate,
  }
}

function testPayloadOf({ id, description }: Webhook, now: EpochMs): Payload {
  return { type: 'webhook.test', timestamp: formatTimestamp(now), data: { webhook: { id, description } } }
}
