import { randomUUID } from 'node:crypto'
import type { Database, Log } from '../db/database.ts'
import { type Attempt, type Claim, claimDeliveries, releaseDelivery } from '../db/deliveries.ts'
import { findEvents, type StoredEvent } from '../db/outbox.ts'
import { findWebhook } from '../db/webhooks.ts'
import { eventIdOf } from '../domain/event.ts'
import { type EpochMs, formatTimestamp } from '../domain/time.ts'
import type { Webhook } from '../domain/webhook.ts'
import { post } from '../events/post.ts'
import { type Settled, settleDelivery } from '../events/settle-delivery.ts'
import { signatureHeaders } from '../events/signature.ts'

/** Attempts the deliveries of webhooks. Serves each webhook separately, so that a slow receiver delays no other. */
export interface WebhookSender {
  /**
   * Starts the attempts at a webhook's deliveries that are due, unless they are under way. No more of them start once
   * the signal has aborted.
   */
  start(webhookId: number, signal: AbortSignal): void
  /** Resolves when no attempt is under way. */
  idle(): Promise<void>
  /** Sends a test event to one webhook, enabled or not. Resolves to the result of the attempt. */
  test(webhook: Webhook): Promise<Attempt>
  readonly allowPrivate: boolean
}

export interface WebhookSenderOptions {
  db: Database
  now: () => EpochMs
  log: Log
  /** Whether webhooks may be sent into private networks and to this machine; default false. */
  allowPrivate?: boolean
  /** How long a receiver may take to answer, in milliseconds; default 10,000. */
  timeoutMs?: number
  onDelivery?: (outcome: Settled) => void
}

const TIMEOUT_MS = 10_000

/** How long after its timeout an attempt may be claimed again, by any process. */
const LEASE_EXTRA_MS = 5_000

/** Attempts at one webhook at a time, by one process. A receiver that hangs delays only its own deliveries. */
const MAX_ATTEMPTS_AT_ONCE = 8

/** `stopping` aborts the attempts under way; those deliveries are due again at once. */
export function createWebhookSender(options: WebhookSenderOptions, stopping: AbortSignal): WebhookSender {
  const { db, now: clock, log, timeoutMs = TIMEOUT_MS, allowPrivate = false, onDelivery } = options
  /** The deliveries under way, by webhook. */
  const delivering = new Map<number, Promise<void>>()

  async function deliverDue(id: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !stopping.aborted) {
      const webhook = await findWebhook(db, id)
      if (webhook === undefined || !webhook.enabled) return
      const now = clock()
      const claims = await claimDeliveries(db, id, now, now + timeoutMs + LEASE_EXTRA_MS, MAX_ATTEMPTS_AT_ONCE)
      if (claims.length === 0) return
      const events = new Map((await findEvents(db, claims)).map(event => [eventIdOf(event), event]))
      await Promise.all(claims.map(claim => attempt(webhook, claim, events.get(eventIdOf(claim)))))
    }
  }

  async function attempt(webhook: Webhook, claim: Claim, event: StoredEvent | undefined): Promise<void> {
    const result = event === undefined ? EXPIRED : await send(webhook, eventIdOf(claim), payloadOf(event))
    // An attempt that this process has aborted says nothing about the receiver.
    if (!result.delivered && stopping.aborted) return releaseDelivery(db, webhook.id, claim, clock())
    const settled = await settleDelivery(db, webhook.id, claim, result, clock(), Math.random())
    onDelivery?.(settled)
  }

  function send(webhook: Webhook, id: string, payload: object): Promise<Attempt> {
    const body = JSON.stringify(payload)
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'sms-quota',
      ...signatureHeaders(webhook, id, body, clock()),
    }
    return post(webhook.url, headers, body, { allowPrivate, timeoutMs, signal: stopping })
  }

  return {
    start(id, signal) {
      if (signal.aborted || delivering.has(id)) return
      const done = deliverDue(id, signal)
        .catch(error => log.warn({ reason: String(error), webhook: id }, 'webhook dispatcher: deliveries interrupted'))
        .finally(() => delivering.delete(id))
      delivering.set(id, done)
    },
    async idle() {
      while (delivering.size > 0) await Promise.all(delivering.values())
    },
    test: webhook => send(webhook, `evt_test_${randomUUID()}`, testPayloadOf(webhook, clock())),
    allowPrivate,
  }
}

/** The result of an attempt whose event is no longer in the outbox. */
const EXPIRED: Attempt = { delivered: false, response_code: null, error: 'the event is not kept any more' }

function payloadOf({ type, at, user_id, sequence, data }: StoredEvent): object {
  return { type, timestamp: formatTimestamp(at), data: { user_id, sequence, ...data } }
}

function testPayloadOf({ id, description }: Webhook, now: EpochMs): object {
  return { type: 'webhook.test', timestamp: formatTimestamp(now), data: { webhook: { id, description } } }
}
