import type { Database } from '../db/database.ts'
import { removeSettled } from '../db/retention.ts'
import { SHARDS, type Shard } from '../domain/shard.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'
import type { Job } from './runner.ts'

/**
 * Removes settled reservations that have not changed for the retention time, and their ids with them. The units that
 * they used go to the archive, so that counters still equal the ledger. Any number of processes may run it.
 */
export interface Retention extends Job {
  /** One step: a page of each shard that has more, each in a short transaction. */
  retireOnce(now: EpochMs, signal?: AbortSignal): Promise<Retirement>
}

interface Retirement {
  removed: number
  /** Whether a shard has more to read. */
  isBehind: boolean
}

export interface RetentionOptions {
  db: Database
  now: () => EpochMs
  /** How long a reservation is kept after its last change, in milliseconds; it may be kept its own open time longer. */
  retentionMs?: number
  /** Called after every step of the job. */
  onRetire?: (retirement: Retirement) => void
}

const DEFAULT_RETENTION_MS = 35 * DAY_MS

const INTERVAL_MS = 60_000

/**
 * A shard is read on from where the last step stopped. Reservations that were settled long after they ended, or were
 * locked when they were read, are behind that point; they are found when the shard is read from its beginning again.
 */
const REREAD_EVERY_MS = DAY_MS

export function createRetention(options: RetentionOptions): Retention {
  const { db, now: clock, retentionMs = DEFAULT_RETENTION_MS, onRetire } = options
  if (!(retentionMs >= 0)) throw new RangeError('retentionMs must be at least 0')
  /** Up to where each shard was read. */
  const read = new Map<Shard, EpochMs>()
  let rereadAt = Number.NEGATIVE_INFINITY
  /** Shards that have more than a page. */
  let behind = new Set<Shard>()

  async function retireOnce(now: EpochMs, signal?: AbortSignal): Promise<Retirement> {
    if (now >= rereadAt) {
      read.clear()
      behind.clear()
      rereadAt = now + REREAD_EVERY_MS
    }
    const cutoff = now - retentionMs
    const shards = behind.size > 0 ? behind : SHARDS
    const stillBehind = new Set<Shard>()
    let removed = 0
    for (const shard of shards) {
      if (signal?.aborted) break
      const retired = await removeSettled(db, shard, read.get(shard) ?? Number.NEGATIVE_INFINITY, cutoff)
      read.set(shard, retired.reached ?? cutoff)
      if (retired.reached !== null) stillBehind.add(shard)
      removed += retired.removed
    }
    behind = stillBehind
    return { removed, isBehind: behind.size > 0 }
  }

  return {
    name: 'retention',
    retireOnce,
    async step(signal) {
      const retirement = await retireOnce(clock(), signal)
      onRetire?.(retirement)
      // At most half of the time, because no caller waits for it.
      return tookMs => (retirement.isBehind ? 5 + tookMs : INTERVAL_MS)
    },
  }
}
