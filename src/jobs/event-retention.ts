import type { Database } from '../db/connection/database.ts'
import { readHoldingWebhooks, removeEvents } from '../db/webhooks/event-retention.ts'
import { SHARDS, type Shard } from '../domain/shard.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import type { Job } from './runner.ts'

/**
 * Removes events that are older than the retention time and were fanned out to every webhook that may need them. Any
 * number of processes may run it.
 */
export interface EventRetention extends Job {
  /** One step: a page of each shard that has more, each in a short transaction. */
  pruneOnce(now: EpochMs, signal?: AbortSignal): Promise<Pruning>
}

interface Pruning {
  removed: number
  /** Whether a shard may have more to remove. */
  isBehind: boolean
}

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

export function createEventRetention(options: EventRetentionOptions): EventRetention {
  const { db, now: clock, retentionMs = DEFAULT_RETENTION_MS } = options
  if (!(retentionMs >= 0)) throw new RangeError('retentionMs must be at least 0')
  const pageSize = createPageSize(PAGE)
  /** Shards that had more than a page. */
  let behind: readonly Shard[] = []

  async function pruneOnce(now: EpochMs, signal?: AbortSignal): Promise<Pruning> {
    const cutoff = now - retentionMs
    const webhooks = await readHoldingWebhooks(db, cutoff)
    const shards = behind.length > 0 ? behind : SHARDS
    const stillBehind: Shard[] = []
    let sum = 0
    behind = stillBehind
    await forEachApart(shards, signal, async shard => {
      const { removed, isFull } = await pageSize.run(rows => removeEvents(db, shard, cutoff, webhooks, rows))
      sum += removed
      if (isFull) stillBehind.push(shard)
    })
    return { removed: sum, isBehind: stillBehind.length > 0 }
  }

  return {
    name: 'event retention',
    pruneOnce,
    async step(signal) {
      const { isBehind } = await pruneOnce(clock(), signal)
      // At most half of the time, because no caller waits for it.
      return tookMs => (isBehind ? 5 + tookMs : INTERVAL_MS)
    },
  }
}
