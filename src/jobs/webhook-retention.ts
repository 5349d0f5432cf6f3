import type { Database } from '../db/connection/database.ts'
import {
  listStoredWebhooks,
  type RemovalPosition,
  removeDeliveries,
  removeEnded,
  removeWebhook,
  type StoredWebhook,
} from '../db/webhooks/maintenance.ts'
import { DAY_MS, type EpochMs } from '../domain/time/time.ts'
import { createPageSize, forEachApart, type PageSize } from './isolation.ts'
import { createRetentionJob, isDue, type PagedStep, type RetentionJob } from './runner.ts'

export interface WebhookRetentionOptions {
  db: Database
  now: () => EpochMs
  /** How long deliveries that have ended are kept after their creation, in milliseconds; default 35 days. */
  keepMs?: number
}

const KEEP_MS = 35 * DAY_MS
const INTERVAL_MS = 10_000
const PAGE = 2_000

/**
 * A webhook's deliveries are read on from where the last page ended. Those that were pending or locked then are behind
 * that point; they are found when all are read from the beginning again.
 */
const REREAD_EVERY_MS = DAY_MS

/** The progress through the deliveries of a webhook. */
interface Progress {
  isDeleted: boolean
  reached: RemovalPosition | null
  rereadAt: EpochMs
  page: PageSize
}

/**
 * Removes deliveries that ended long ago, and deleted webhooks with all their deliveries. Any number of processes may run
 * it.
 */
export function createWebhookRetention({
  db,
  now: clock,
  keepMs = KEEP_MS,
}: WebhookRetentionOptions): RetentionJob<PagedStep> {
  let progress = new Map<number, Progress>()

  async function removePage(now: EpochMs, signal?: AbortSignal): Promise<PagedStep> {
    const webhooks = await listStoredWebhooks(db)
    progress = new Map(webhooks.map(webhook => [webhook.id, progressOf(webhook, now)]))
    let isBehind = false
    await forEachApart(progress, signal, async ([id, known]) => {
      if (await removeDeliveriesOf(id, known, now)) isBehind = true
    })
    return { isBehind }
  }

  function progressOf({ id, is_deleted }: StoredWebhook, now: EpochMs): Progress {
    const known = progress.get(id)
    if (known !== undefined && known.isDeleted === is_deleted && !isDue(now, known.rereadAt, REREAD_EVERY_MS))
      return known
    const page = known?.page ?? createPageSize(PAGE)
    return { isDeleted: is_deleted, reached: null, rereadAt: now + REREAD_EVERY_MS, page }
  }

  /** Removes a page of a webhook's deliveries. Returns whether there may be more. */
  async function removeDeliveriesOf(id: number, known: Progress, now: EpochMs): Promise<boolean> {
    const { reached } = await known.page.run(rows =>
      known.isDeleted
        ? removeDeliveries(db, id, known.reached, rows)
        : removeEnded(db, id, now - keepMs, known.reached, rows),
    )
    if (reached !== null) {
      known.reached = reached
      return true
    }
    if (!known.isDeleted || (await removeWebhook(db, id))) return false
    // Deliveries were written meanwhile, before the point that was reached.
    known.reached = null
    return true
  }

  return createRetentionJob({ name: 'webhook retention', intervalMs: INTERVAL_MS, now: clock, removePage })
}
