import { randomUUID } from 'node:crypto'
import type { Database, Log } from '../db/database.ts'
import {
  type Attempt,
  type BusyWebhook,
  type Claim,
  claimDeliveries,
  countPending,
  fanOut,
  findBusyWebhooks,
  forgetDeliveries,
  releaseDelivery,
} from '../db/deliveries.ts'
import { findEvents, readOutboxEnds, type StoredEvent } from '../db/outbox.ts'
import { findWebhook } from '../db/webhooks.ts'
import { eventIdOf } from '../domain/event.ts'
import { DAY_MS, type EpochMs, formatTimestamp } from '../domain/time.ts'
import type { Webhook } from '../domain/webhook.ts'
import { post } from '../events/post.ts'
import { type Settled, settleDelivery } from '../events/settle-delivery.ts'
import { signatureHeaders } from '../events/signature.ts'
import type { Job } from './runner.ts'

/** Sends events to webhooks. Any number of processes may run it. */
export interface Dispatcher extends Job {
  /**
   * One step: writes deliveries for new events and starts the attempts that are due. Resolves before they end, to the
   * number of enabled webhooks. No more attempts start once the signal has aborted.
   */
  dispatchOnce(now: EpochMs, signal?: AbortSignal): Promise<number>
  /** Resolves when no attempt is under way. */
  idle(): Promise<void>
  /** Sends a test event to one webhook, enabled or not. Resolves to the result of the attempt. */
  test(webhook: Webhook): Promise<Attempt>
  readonly allowPrivate: boolean
  /** Waits two seconds for the attempts under way, then aborts them; they are due again at once. */
  finish(): Promise<void>
}

export interface DispatcherOptions {
  db: Database
  now: () => EpochMs
  log: Log
  /** Whether webhooks may be sent into private networks and to this machine; default false. */
  allowPrivate?: boolean
  /** How long deliveries that have ended are kept, in milliseconds; default 35 days. */
  keepMs?: number
  /** How long a receiver may take to answer, in milliseconds; default 10,000. */
  timeoutMs?: number
  onDelivery?: (outcome: Settled) => void
  onPending?: (count: number) => void
}

const TIMEOUT_MS = 10_000

/** How long after its timeout an attempt may be claimed again, by any process. */
const LEASE_EXTRA_MS = 5_000

/** Attempts at one webhook at a time, by one process. A receiver that hangs delays only its own deliveries. */
const MAX_ATTEMPTS_AT_ONCE = 8

/** Pages of new events written for one webhook, before the next one is served. */
const MAX_PAGES = 10

const INTERVAL_MS = 250
/** The pause while no webhook is enabled. */
const NO_WEBHOOKS_INTERVAL_MS = 1_000
const CLEANUP_INTERVAL_MS = 10_000

/** How long `finish` waits for receivers before it aborts their attempts. */
const STOP_MS = 2_000

const KEEP_MS = 35 * DAY_MS

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, now: clock, log, timeoutMs = TIMEOUT_MS, keepMs = KEEP_MS, allowPrivate = false } = options
  /** Aborts the attempts under way. */
  const aborting = new AbortController()
  /** The deliveries under way, by webhook. */
  const delivering = new Map<number, Promise<void>>()
  let cleanUpAt = Number.NEGATIVE_INFINITY

  async function dispatchOnce(now: EpochMs, signal: AbortSignal = aborting.signal): Promise<number> {
    const webhooks = await findBusyWebhooks(db, now)
    const ends = webhooks.length === 0 ? [] : await readOutboxEnds(db)
    for (const webhook of webhooks) {
      if (signal.aborted) break
      const isBehind = ends.some((end, shard) => end > (webhook.positions[shard] ?? 0))
      for (let pages = 0; isBehind && pages < MAX_PAGES; pages++) {
        if (signal.aborted || !(await fanOut(db, webhook.id, ends, now))) break
      }
      if (isBehind || webhook.is_due) startDelivering(webhook, signal)
    }
    if (now >= cleanUpAt) await cleanUp(webhooks, now)
    return webhooks.length
  }

  async function cleanUp(webhooks: readonly BusyWebhook[], now: EpochMs): Promise<void> {
    cleanUpAt = now + CLEANUP_INTERVAL_MS
    options.onPending?.(await countPending(db))
    for (const { id } of webhooks) await forgetDeliveries(db, id, now - keepMs)
  }

  /** Serves each webhook separately, so that a slow receiver delays no other. */
  function startDelivering({ id }: BusyWebhook, signal: AbortSignal): void {
    if (signal.aborted || delivering.has(id)) return
    const done = deliverDue(id, signal)
      .catch(error => log.warn({ reason: String(error), webhook: id }, 'webhook dispatcher: deliveries interrupted'))
      .finally(() => delivering.delete(id))
    delivering.set(id, done)
  }

  async function deliverDue(id: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !aborting.signal.aborted) {
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
    if (!result.delivered && aborting.signal.aborted) return releaseDelivery(db, webhook.id, claim, clock())
    const settled = await settleDelivery(db, webhook.id, claim, result, clock(), Math.random())
    options.onDelivery?.(settled)
  }

  function send(webhook: Webhook, id: string, payload: object): Promise<Attempt> {
    const body = JSON.stringify(payload)
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'sms-quota',
      ...signatureHeaders(webhook, id, body, clock()),
    }
    return post(webhook.url, headers, body, { allowPrivate, timeoutMs, signal: aborting.signal })
  }

  async function idle(): Promise<void> {
    while (delivering.size > 0) await Promise.all(delivering.values())
  }

  return {
    name: 'webhook dispatcher',
    dispatchOnce,
    idle,
    test: webhook =>
      send(webhook, `evt_test_${randomUUID()}`, {
        type: 'webhook.test',
        timestamp: formatTimestamp(clock()),
        data: { webhook: { id: webhook.id, description: webhook.description } },
      }),
    allowPrivate,
    async step(signal) {
      const webhooks = await dispatchOnce(clock(), signal)
      return () => (webhooks > 0 ? INTERVAL_MS : NO_WEBHOOKS_INTERVAL_MS)
    },
    async finish() {
      const timeout = setTimeout(() => aborting.abort(), STOP_MS)
      await idle()
      clearTimeout(timeout)
    },
  }
}

/** The result of an attempt whose event is no longer in the outbox. */
const EXPIRED: Attempt = { delivered: false, response_code: null, error: 'the event is not kept any more' }

function payloadOf({ type, at, user_id, sequence, data }: StoredEvent): object {
  return { type, timestamp: formatTimestamp(at), data: { user_id, sequence, ...data } }
}
