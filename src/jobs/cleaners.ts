import type { Database } from '../db/connection/database.ts'
import { findEndedAlerts, removeEndedAlerts } from '../db/quotas/alerts.ts'
import { findEndedCounters, removeEndedCounters } from '../db/quotas/value-counters.ts'
import type { Shard } from '../domain/basics/shard.ts'
import type { EpochMs } from '../domain/time/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import { createRetentionJob, type RetentionJob } from './runner.ts'

interface CleanerOptions {
  name: string
  now: () => EpochMs
  /** Rows of a shard removed at a time, at most. */
  pageSize?: number | undefined
  /** Asks in one statement which shards have rows to remove. */
  findShards(now: EpochMs): Promise<Iterable<Shard>>
  /** Removes a page of a shard's rows. Resolves to how many it removed: all `rows` if there may be more. */
  remove(shard: Shard, now: EpochMs, rows: number): Promise<number>
}

const PAGE = 5_000
const INTERVAL_MS = 60_000

/** A job that removes rows which readers pass over anyway: removed, they cost nothing. Any number of processes may run it. */
export function createCleaner({ name, now: clock, pageSize = PAGE, findShards, remove }: CleanerOptions): RetentionJob {
  const page = createPageSize(pageSize)
  return createRetentionJob({
    name,
    intervalMs: INTERVAL_MS,
    now: clock,
    async removePage(now, signal) {
      const removal = { removed: 0, isBehind: false }
      await forEachApart(await findShards(now), signal, shard =>
        page.run(async rows => {
          const removed = await remove(shard, now, rows)
          removal.removed += removed
          removal.isBehind ||= removed === rows
        }),
      )
      return removal
    },
  })
}

type OnDatabase = Pick<CleanerOptions, 'now' | 'pageSize'> & { db: Database }

/** Removes the marks of quotas (`quota_alert`) whose window or quota has ended. */
export const createAlertCleaner = ({ db, ...options }: OnDatabase): RetentionJob =>
  createCleaner({
    ...{ name: 'alert cleaner', ...options },
    findShards: now => findEndedAlerts(db, now),
    remove: (...page) => removeEndedAlerts(db, ...page),
  })

/** Removes the counters of single recipients, countries and tags whose window is over. */
export const createValueCounterCleaner = ({ db, ...options }: OnDatabase): RetentionJob =>
  createCleaner({
    ...{ name: 'value counter cleaner', ...options },
    findShards: now => findEndedCounters(db, now),
    remove: (...page) => removeEndedCounters(db, ...page),
  })
