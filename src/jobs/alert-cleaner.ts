import type { Database } from '../db/connection/database.ts'
import { removeEndedAlerts } from '../db/quotas/alerts.ts'
import { SHARDS } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import type { Job } from './runner.ts'

/**
 * Removes the marks of quotas (`quota_alert`) whose window or quota has ended. Readers pass over them anyway; removed, they
 * cost nothing. Any number of processes may run it.
 */
export interface AlertCleaner extends Job {
  /** One step: a page of each shard, each in a short transaction. */
  cleanOnce(now: EpochMs, signal?: AbortSignal): Promise<Cleaning>
}

interface Cleaning {
  removed: number
  /** Whether a shard has more than was removed. */
  isBehind: boolean
}

export interface AlertCleanerOptions {
  db: Database
  now: () => EpochMs
  /** Marks removed at a time, at most. */
  pageSize?: number
}

const PAGE = 5_000
const INTERVAL_MS = 60_000
/** For processes whose clocks are behind: to them, the window is still open. */
const MARGIN_MS = 60_000

export function createAlertCleaner({ db, now: clock, pageSize = PAGE }: AlertCleanerOptions): AlertCleaner {
  const page = createPageSize(pageSize)

  async function cleanOnce(now: EpochMs, signal?: AbortSignal): Promise<Cleaning> {
    const cleaning: Cleaning = { removed: 0, isBehind: false }
    await forEachApart(SHARDS, signal, shard =>
      page.run(async rows => {
        const removed = await removeEndedAlerts(db, shard, now - MARGIN_MS, rows)
        cleaning.removed += removed
        cleaning.isBehind ||= removed === rows
      }),
    )
    return cleaning
  }

  return {
    name: 'alert cleaner',
    cleanOnce,
    async step(signal) {
      const { isBehind } = await cleanOnce(clock(), signal)
      // At most half of the time, because no caller waits for it.
      return tookMs => (isBehind ? 5 + tookMs : INTERVAL_MS)
    },
  }
}
