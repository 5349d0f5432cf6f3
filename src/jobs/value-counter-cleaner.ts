import type { Database } from '../db/connection/database.ts'
import { removeEndedCounters } from '../db/quotas/value-counters.ts'
import { SHARDS } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import { createRetentionJob, type RetentionJob } from './runner.ts'

export interface ValueCounterCleanerOptions {
  db: Database
  now: () => EpochMs
  /** Counters removed at a time, at most. */
  pageSize?: number
}

const PAGE = 5_000
const INTERVAL_MS = 60_000
/** A margin for clocks that are behind, and for batches that were decided in the window and are committed late. */
const MARGIN_MS = 10 * 60_000

/** Removes the counters of single recipients, countries and tags whose window is over. Any number of processes may run it. */
export function createValueCounterCleaner(options: ValueCounterCleanerOptions): RetentionJob {
  const { db, now: clock, pageSize = PAGE } = options
  const page = createPageSize(pageSize)

  return createRetentionJob({
    name: 'value counter cleaner',
    intervalMs: INTERVAL_MS,
    now: clock,
    async removePage(now, signal) {
      const removal = { removed: 0, isBehind: false }
      await forEachApart(SHARDS, signal, shard =>
        page.run(async rows => {
          const removed = await removeEndedCounters(db, shard, now - MARGIN_MS, rows)
          removal.removed += removed
          removal.isBehind ||= removed === rows
        }),
      )
      return removal
    },
  })
}
