import { type BusyWebhook, countPending, fanOut, findBusyWebhooks, forgetDeliveries } from '../db/deliveries.ts'
import { isBehind, readOutboxEnds } from '../db/outbox.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'
import type { Job } from './runner.ts'
import { createWebhookSender, type WebhookSender, type WebhookSenderOptions } from './webhook-sender.ts'

/** Sends events to webhooks. Any number of processes may run it. */
export interface Dispatcher extends Job, Pick<WebhookSender, 'idle' | 'test' | 'allowPrivate'> {
  /**
   * One step: writes deliveries for new events and starts the attempts that are due. Resolves before they end, to the
   * number of enabled webhooks. No more attempts start once the signal has aborted.
   */
  dispatchOnce(now: EpochMs, signal?: AbortSignal): Promise<number>
  /** Waits two seconds for the attempts under way, then aborts them; they are due again at once. */
  finish(): Promise<void>
}

export interface DispatcherOptions extends WebhookSenderOptions {
  /** How long deliveries that have ended are kept, in milliseconds; default 35 days. */
  keepMs?: number
  onPending?: (count: number) => void
}

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
  const { db, now: clock, keepMs = KEEP_MS } = options
  /** Aborts the attempts under way. */
  const aborting = new AbortController()
  const sender = createWebhookSender(options, aborting.signal)
  let cleanUpAt = Number.NEGATIVE_INFINITY

  async function dispatchOnce(now: EpochMs, signal: AbortSignal = aborting.signal): Promise<number> {
    const webhooks = await findBusyWebhooks(db, now)
    const ends = webhooks.length === 0 ? [] : await readOutboxEnds(db)
    for (const webhook of webhooks) {
      if (signal.aborted) break
      const hasNews = isBehind(webhook.positions, ends)
      for (let pages = 0; hasNews && pages < MAX_PAGES; pages++) {
        if (signal.aborted || !(await fanOut(db, webhook.id, now))) break
      }
      if (hasNews || webhook.is_due) sender.start(webhook.id, signal)
    }
    if (now >= cleanUpAt) await cleanUp(webhooks, now)
    return webhooks.length
  }

  async function cleanUp(webhooks: readonly BusyWebhook[], now: EpochMs): Promise<void> {
    cleanUpAt = now + CLEANUP_INTERVAL_MS
    options.onPending?.(await countPending(db))
    for (const { id } of webhooks) await forgetDeliveries(db, id, now - keepMs)
  }

  return {
    name: 'webhook dispatcher',
    dispatchOnce,
    idle: sender.idle,
    test: sender.test,
    allowPrivate: sender.allowPrivate,
    async step(signal) {
      const webhooks = await dispatchOnce(clock(), signal)
      return () => (webhooks > 0 ? INTERVAL_MS : NO_WEBHOOKS_INTERVAL_MS)
    },
    async finish() {
      const timeout = setTimeout(() => aborting.abort(), STOP_MS)
      await sender.idle()
      clearTimeout(timeout)
    },
  }
}
