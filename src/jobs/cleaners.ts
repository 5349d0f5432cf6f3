import type { Database } from '../db/connection/database.ts'
import { findEndedAlerts, removeEndedAlerts } from '../db/quotas/alerts.ts'
import { findEndedCounters, removeEndedCounters } from '../db/quotas/value-counters.ts'
import type { Shard } from '../domain/basics/shard.ts'
import type { EpochMs } from '../domain/time/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import { createRetentionJob, type RetentionJob } from './runner.ts'

interface CleanerOptions {
  name: string
  db: Database
  now: () => EpochMs
  /** Rows of a shard removed at a time, at most. */
  pageSize?: number | undefined
  /** Asks in one statement which shards have rows to remove. */
  findShards(db: Database, now: EpochMs): Promise<Iterable<Shard>>
  /** Removes a page of a shard's rows. Resolves to how many it removed: all `rows` if there may be more. */
  remove(db: Database, shard: Shard, now: EpochMs, rows: number): Promise<number>
}

const PAGE = 5_000
const INTERVAL_MS = 60_000

/** A job that removes rows which readers pass over anyway: removed, they cost nothing. Any number of processes may run it. */
export function createCleaner({
  name,
  db,
  now: clock,
  pageSize = PAGE,
  findShards,
  remove,
}: CleanerOptions): RetentionJob {
  const page = createPageSize(pageSize)
  return createRetentionJob({
    name,
    intervalMs: INTERVAL_MS,
    now: clock,
    async removePage(now, signal) {
      const removal = { removed: 0, isBehind: false }
      await forEachApart(await findShards(db, now), signal, shard =>
        page.run(async rows => {
          const removed = await remove(db, shard, now, rows)
          removal.removed += removed
          removal.isBehind ||= removed === rows
        }),
      )
      return removal
    },
  })
}

type Options = Pick<CleanerOptions, 'db' | 'now' | 'pageSize'>

/** Removes the marks of quotas (`quota_alert`) whose window or quota has ended. */
export const createAlertCleaner = (options: Options): RetentionJob =>
  createCleaner({ name: 'alert cleaner', ...options, findShards: findEndedAlerts, remove: removeEndedAlerts })

/** Removes the counters of single recipients, countries and tags whose window is over. */
export const createValueCounterCleaner = (options: Options): RetentionJob =>
  createCleaner({
    name: 'value counter cleaner',
    ...options,
    findShards: findEndedCounters,
    remove: removeEndedCounters,
  })
