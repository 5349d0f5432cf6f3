import type { Database } from '../db/connection/database.ts'
import { findShardsWithOldEvents, readHoldingWebhooks, removeEvents } from '../db/webhooks/event-retention.ts'
import type { Shard } from '../domain/basics/shard.ts'
import { DAY_MS, type EpochMs } from '../domain/time/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import { createRetentionJob, type RetentionJob } from './runner.ts'

export interface EventRetentionOptions {
  db: Database
  now: () => EpochMs
  /**
   * How long an event is kept, in milliseconds. A disabled webhook keeps the events that it has not received for as long
   * as that after it was disabled or changed.
   */
  retentionMs?: number
}

const DEFAULT_RETENTION_MS = 90 * DAY_MS

const INTERVAL_MS = 60_000

/** Events of a page: some 20 ms. */
const PAGE = 1_000

/**
 * Removes events that are older than the retention time and were fanned out to every webhook that may need them. Any
 * number of processes may run it.
 */
export function createEventRetention(options: EventRetentionOptions): RetentionJob {
  const { db, now: clock, retentionMs = DEFAULT_RETENTION_MS } = options
  if (!(retentionMs >= 0)) throw new RangeError('retentionMs must be at least 0')
  const pageSize = createPageSize(PAGE)
  /** Shards that had more than a page. */
  let behind: readonly Shard[] = []

  return createRetentionJob({
    name: 'event retention',
    intervalMs: INTERVAL_MS,
    now: clock,
    async removePage(now, signal) {
      const cutoff = now - retentionMs
      const webhooks = await readHoldingWebhooks(db, cutoff)
      const shards = behind.length > 0 ? behind : await findShardsWithOldEvents(db, cutoff, webhooks)
      const stillBehind: Shard[] = []
      let sum = 0
      behind = stillBehind
      await forEachApart(shards, signal, async shard => {
        const { removed, isFull } = await pageSize.run(rows => removeEvents(db, shard, cutoff, webhooks, rows))
        sum += removed
        if (isFull) stillBehind.push(shard)
      })
      return { removed: sum, isBehind: stillBehind.length > 0 }
    },
  })
}
