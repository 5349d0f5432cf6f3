import { countBehind, isBehind, readOutboxEnds } from '../db/outbox/outbox.ts'
import { type BusyWebhook, findBusyWebhooks, hasEnabledWebhook, readPending } from '../db/webhooks/deliveries.ts'
import { FAN_OUT_PAGE, fanOut } from '../db/webhooks/fan-out.ts'
import { restartPage, takeBackDeliveries, takeBackWebhooks } from '../db/webhooks/maintenance.ts'
import type { EpochMs } from '../domain/time/time.ts'
import { createPageSize, forEachApart, type PageSize } from './isolation.ts'
import { isDue, type Job } from './runner.ts'
import { createWebhookSender, type WebhookSender, type WebhookSenderOptions } from './webhook-sender.ts'

/** Sends events to webhooks. Any number of processes may run it. */
export interface Dispatcher
  extends Job,
    Pick<WebhookSender, 'idle' | 'test' | 'allowPrivate' | 'canMail' | 'userMail'> {
  /**
   * One step: writes deliveries for a page of new events per webhook, and starts the attempts that are due. Resolves
   * before they end. No more attempts start once the signal has aborted.
   */
  dispatchOnce(now: EpochMs, signal?: AbortSignal): Promise<Dispatch>
  /** Waits two seconds for the attempts under way, then aborts them; they are due again at once. */
  finish(): Promise<void>
}

/** The outcome of a step. */
interface Dispatch {
  /** Enabled webhooks. */
  webhooks: number
  /** Whether a webhook has more than the page that was done. */
  isBehind: boolean
}

/** The deliveries that wait, over all processes. */
export interface PendingReport {
  /** Counted up to 100,000. */
  count: number
  /** How long the oldest has waited; 0 if none waits. */
  oldestMs: number
  /** Events that the webhook furthest behind in the outbox has no deliveries for yet. */
  behindEvents: number
}

export interface DispatcherOptions extends WebhookSenderOptions {
  /** The pause while no webhook is enabled, in milliseconds; a second if left out. */
  idleMs?: number
  /** The wait of `finish` for receivers before it aborts their attempts, in milliseconds; two seconds if left out. */
  stopMs?: number
  /** Called every ten seconds. */
  onPending?: (report: PendingReport) => void
}

const INTERVAL_MS = 250
/** The pause while no webhook is enabled, unless the options say otherwise. */
const NO_WEBHOOKS_INTERVAL_MS = 1_000
const COUNT_INTERVAL_MS = 10_000

/** Pending deliveries of a webhook that was enabled again which one page makes due. */
const RESTART_PAGE = 1_000

/** The wait of `finish`, unless the options say otherwise. */
export const STOP_MS = 2_000

/**
 * The pages of a webhook's work, one statement each. A webhook whose pages take too long does not shorten those of
 * others.
 */
interface PageSizes {
  fanOut: PageSize
  restart: PageSize
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, now: clock, idleMs = NO_WEBHOOKS_INTERVAL_MS, stopMs = STOP_MS } = options
  /** Aborts the attempts under way. */
  const aborting = new AbortController()
  const sender = createWebhookSender(options, aborting.signal)
  let pageSizes = new Map<number, PageSizes>()
  let countAt = Number.NEGATIVE_INFINITY
  /** When the first attempt is due that has not begun, as of the last count. */
  let nextDue = Number.POSITIVE_INFINITY

  async function dispatchOnce(now: EpochMs, signal: AbortSignal = aborting.signal): Promise<Dispatch> {
    const hasWebhooks = pageSizes.size > 0 || (await hasEnabledWebhook(db))
    const webhooks = hasWebhooks ? await findBusyWebhooks(db, now) : []
    for (const { id, is_due } of webhooks) if (is_due) sender.start(id, signal)
    pageSizes = new Map(webhooks.map(({ id }) => [id, pageSizes.get(id) ?? newPageSizes()]))
    const ends = webhooks.length === 0 ? [] : await readOutboxEnds(db)
    let isAnyBehind = false
    await forEachApart(webhooks, signal, async webhook => {
      if (await serve(webhook, ends, now, signal)) isAnyBehind = true
    })
    if (isDue(now, countAt, COUNT_INTERVAL_MS)) {
      countAt = now + COUNT_INTERVAL_MS
      await takeBackWebhooks(db, now)
      await forEachApart(webhooks, signal, ({ id }) => takeBackDeliveries(db, id, now))
      const { count, oldest, next_due } = await readPending(db)
      nextDue = next_due ?? Number.POSITIVE_INFINITY
      const behind = webhooks.map(({ positions }) => countBehind(positions, ends))
      options.onPending?.({ count, oldestMs: Math.max(0, now - (oldest ?? now)), behindEvents: Math.max(0, ...behind) })
    }
    return { webhooks: webhooks.length, isBehind: isAnyBehind }
  }

  /** Does a page of a webhook's work. Returns whether there is more. */
  async function serve(
    { id, positions, is_restarting }: BusyWebhook,
    ends: readonly number[],
    now: EpochMs,
    signal: AbortSignal,
  ): Promise<boolean> {
    const hasNews = isBehind(positions, ends)
    if (!hasNews && !is_restarting) return false
    const sizes = pageSizes.get(id) ?? newPageSizes()
    const restartsMore = is_restarting && (await sizes.restart.run(rows => restartPage(db, id, now, rows)))
    const hasMore = hasNews && (await sizes.fanOut.run(rows => fanOut(db, id, now, rows)))
    sender.start(id, signal)
    return restartsMore || hasMore
  }

  return {
    name: 'webhook dispatcher',
    dispatchOnce,
    lagMs: () => Math.max(0, clock() - nextDue),
    idle: sender.idle,
    test: sender.test,
    allowPrivate: sender.allowPrivate,
    canMail: sender.canMail,
    userMail: sender.userMail,
    async step(signal) {
      const { webhooks, isBehind } = await dispatchOnce(clock(), signal)
      const restMs = webhooks > 0 ? INTERVAL_MS : idleMs
      return { isBehind, pauseMs: tookMs => (isBehind ? Math.min(5 + tookMs, INTERVAL_MS) : restMs) }
    },
    async finish() {
      const timeout = setTimeout(() => aborting.abort(), stopMs)
      await sender.idle()
      clearTimeout(timeout)
      aborting.abort()
    },
  }
}

function newPageSizes(): PageSizes {
  return { fanOut: createPageSize(FAN_OUT_PAGE), restart: createPageSize(RESTART_PAGE) }
}
