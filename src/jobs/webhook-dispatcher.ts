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
import { createLoop, type Loop } from './job.ts'

/** Sends events to webhooks. Any number of processes may do so. */
export interface Dispatcher extends Loop {
  /** One step: turns new events into deliveries and begins with those that are due. Ends before they do. */
  dispatchOnce(now: EpochMs): Promise<void>
  /** Settles when nothing is under way any more. */
  idle(): Promise<void>
  /** Sends an event of no consequence to one webhook, enabled or not, and answers what came of it. */
  test(webhook: Webhook): Promise<Attempt>
  readonly allowPrivate: boolean
}

export interface DispatcherOptions {
  db: Database
  now: () => EpochMs
  log: Log
  /** Whether webhooks may be sent into private networks and to this machine. */
  allowPrivate?: boolean
  /** How long deliveries that have ended are kept, in milliseconds. */
  keepMs?: number
  /** How long a receiver may take to answer, in milliseconds. */
  timeoutMs?: number
  onDelivery?: (outcome: Settled) => void
  onPending?: (count: number) => void
}

const TIMEOUT_MS = 10_000

/** What an attempt may take beyond its time-out until somebody else makes it again. */
const LEASE_EXTRA_MS = 5_000

/** Attempts at one webhook at a time, by one process. A receiver that hangs holds up these, and only its own. */
const AT_ONCE = 8

/** Of new events for one webhook, before the next one's turn. */
const MAX_PAGES = 10

const LOOK_EVERY_MS = 250
const LOOK_FOR_WEBHOOKS_EVERY_MS = 1_000
const TIDY_EVERY_MS = 10_000

/** How long a stop waits for receivers; then their attempts are broken off and made again. */
const STOP_MS = 2_000

const KEEP_MS = 35 * DAY_MS

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, now: clock, log, timeoutMs = TIMEOUT_MS, keepMs = KEEP_MS, allowPrivate = false } = options
  const breakingOff = new AbortController()
  /** By webhook: what is under way there. */
  const draining = new Map<number, Promise<void>>()
  let isStopped = false
  let tidyAt = Number.NEGATIVE_INFINITY

  async function dispatchOnce(now: EpochMs): Promise<number> {
    const webhooks = await findBusyWebhooks(db, now)
    const ends = webhooks.length === 0 ? [] : await readOutboxEnds(db)
    for (const webhook of webhooks) {
      if (isStopped) break
      const isBehind = ends.some((head, shard) => head > (webhook.positions[shard] ?? 0))
      for (let pages = 0; isBehind && pages < MAX_PAGES; pages++) {
        if (isStopped || !(await fanOut(db, webhook.id, ends, now))) break
      }
      if (isBehind || webhook.is_due) begin(webhook)
    }
    if (now >= tidyAt) await tidy(webhooks, now)
    return webhooks.length
  }

  async function tidy(webhooks: readonly BusyWebhook[], now: EpochMs): Promise<void> {
    tidyAt = now + TIDY_EVERY_MS
    options.onPending?.(await countPending(db))
    for (const { id } of webhooks) await forgetDeliveries(db, id, now - keepMs)
  }

  /** Each webhook is served apart from the others: whoever is slow is waited for by nobody else. */
  function begin({ id }: BusyWebhook): void {
    if (isStopped || draining.has(id)) return
    const done = drain(id)
      .catch(error => log.warn({ reason: String(error), webhook: id }, 'deliveries were held up'))
      .finally(() => draining.delete(id))
    draining.set(id, done)
  }

  async function drain(id: number): Promise<void> {
    while (!isStopped) {
      const webhook = await findWebhook(db, id)
      if (webhook === undefined || !webhook.enabled) return
      const now = clock()
      const claims = await claimDeliveries(db, id, now, now + timeoutMs + LEASE_EXTRA_MS, AT_ONCE)
      if (claims.length === 0) return
      const events = new Map((await findEvents(db, claims)).map(event => [eventIdOf(event), event]))
      await Promise.all(claims.map(claim => attempt(webhook, claim, events.get(eventIdOf(claim)))))
    }
  }

  async function attempt(webhook: Webhook, claim: Claim, event: StoredEvent | undefined): Promise<void> {
    const result = event === undefined ? EXPIRED : await send(webhook, eventIdOf(claim), payloadOf(event))
    // What was broken off by our own stop says nothing about the receiver.
    if (!result.delivered && breakingOff.signal.aborted) return releaseDelivery(db, webhook.id, claim, clock())
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
    return post(webhook.url, headers, body, { allowPrivate, timeoutMs, signal: breakingOff.signal })
  }

  const loop = createLoop({
    name: 'webhook dispatcher',
    log,
    async step() {
      const webhooks = await dispatchOnce(clock())
      return () => (webhooks > 0 ? LOOK_EVERY_MS : LOOK_FOR_WEBHOOKS_EVERY_MS)
    },
  })

  const idle = async () => {
    while (draining.size > 0) await Promise.all(draining.values())
  }

  return {
    async dispatchOnce(now) {
      await dispatchOnce(now)
    },
    idle,
    test: webhook =>
      send(webhook, `evt_test_${randomUUID()}`, {
        type: 'webhook.test',
        timestamp: formatTimestamp(clock()),
        data: { webhook: { id: webhook.id, description: webhook.description } },
      }),
    allowPrivate,
    start: loop.start,
    async stop() {
      isStopped = true
      const impatience = setTimeout(() => breakingOff.abort(), STOP_MS)
      await loop.stop()
      await idle()
      clearTimeout(impatience)
    },
  }
}

/** An event that is no longer in the outbox cannot be sent; the attempt tells so. */
const EXPIRED: Attempt = { delivered: false, response_code: null, error: 'the event is not kept any more' }

function payloadOf({ type, at, user_id, sequence, data }: StoredEvent): object {
  return { type, timestamp: formatTimestamp(at), data: { user_id, sequence, ...data } }
}
