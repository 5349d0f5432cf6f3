import type { Database } from '../db/connection/database.ts'
import { removeEndedCounters } from '../db/quotas/value-counters.ts'
import { type CleanerOptions, createCleaner } from './cleaner.ts'
import type { RetentionJob } from './runner.ts'

/** Removes the counters of single recipients, countries and tags whose window is over. */
export function createValueCounterCleaner({
  db,
  ...options
}: Pick<CleanerOptions, 'now' | 'pageSize'> & { db: Database }): RetentionJob {
  return createCleaner({
    name: 'value counter cleaner',
    ...options,
    remove: (shard, endedBy, rows) => removeEndedCounters(db, shard, endedBy, rows),
  })
}
