import type { Database } from '../db/connection/database.ts'
import { removeEndedCounters } from '../db/quotas/value-counters.ts'
import { type CleanerOptions, createCleaner } from './cleaner.ts'
import type { RetentionJob } from './runner.ts'

/** A margin for clocks that are behind, and for batches that were decided in the window and are committed late. */
const MARGIN_MS = 10 * 60_000

/** Removes the counters of single recipients, countries and tags whose window is over. */
export function createValueCounterCleaner({
  db,
  ...options
}: Pick<CleanerOptions, 'now' | 'pageSize'> & { db: Database }): RetentionJob {
  return createCleaner({
    name: 'value counter cleaner',
    ...options,
    remove: (shard, now, rows) => removeEndedCounters(db, shard, now - MARGIN_MS, rows),
  })
}
