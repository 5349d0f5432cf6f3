import type { Database } from '../db/connection/database.ts'
import { removeEndedAlerts } from '../db/quotas/alerts.ts'
import { SHARDS } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import { createRetentionJob, type RetentionJob } from './runner.ts'

export interface AlertCleanerOptions {
  db: Database
  now: () => EpochMs
  /** Marks removed at a time, at most. */
  pageSize?: number
}

const PAGE = 5_000
const INTERVAL_MS = 60_000
/** A margin for processes whose clocks are behind: to them, the window is still open. */
const MARGIN_MS = 60_000

/**
 * Removes the marks of quotas (`quota_alert`) whose window or quota has ended. Readers pass over them anyway; removed, they
 * cost nothing. Any number of processes may run it.
 */
export function createAlertCleaner({ db, now: clock, pageSize = PAGE }: AlertCleanerOptions): RetentionJob {
  const page = createPageSize(pageSize)

  return createRetentionJob({
    name: 'alert cleaner',
    intervalMs: INTERVAL_MS,
    now: clock,
    async removePage(now, signal) {
      const removal = { removed: 0, isBehind: false }
      await forEachApart(SHARDS, signal, shard =>
        page.run(async rows => {
          const removed = await removeEndedAlerts(db, shard, now - MARGIN_MS, rows)
          removal.removed += removed
          removal.isBehind ||= removed === rows
        }),
      )
      return removal
    },
  })
}
