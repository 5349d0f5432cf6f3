import type { Database, Log } from '../db/database.ts'
import { removeSettled } from '../db/retention.ts'
import { SHARD_COUNT } from '../domain/shard.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'
import { createLoop, type Loop } from './job.ts'

/**
 * Removes settled reservations that have not changed for the retention time; what they used goes into the archive, so
 * that counters still equal the ledger. Ids are forgotten with them. Any number of processes may do so.
 */
export interface Retention extends Loop {
  /** One step: a page of each shard that has more, each in a short transaction of its own. */
  retireOnce(now: EpochMs): Promise<Retirement>
}

interface Retirement {
  removed: number
  /** Whether a shard has more to read. */
  isBehind: boolean
}

export interface RetentionOptions {
  db: Database
  now: () => EpochMs
  log: Log
  /** How long a reservation is kept after its last change, in milliseconds; it may be kept its own open time longer. */
  retentionMs?: number
  /** Is told of every step that the loop has done. */
  onRetire?: (retirement: Retirement) => void
}

const DEFAULT_RETENTION_MS = 35 * DAY_MS

const INTERVAL_MS = 60_000

/**
 * What was settled long after it ended, or was in somebody's hands when we came by, stands behind the moment up to
 * which was read, and is met again when the shard is read from the beginning. There is nothing there but such.
 */
const REREAD_EVERY_MS = DAY_MS

export function createRetention(options: RetentionOptions): Retention {
  const { db, now: clock, log, retentionMs = DEFAULT_RETENTION_MS, onRetire } = options
  if (!(retentionMs >= 0)) throw new RangeError('the retention time is 0 ms or more')
  /** Up to where each shard was read. */
  const read = new Map<number, EpochMs>()
  let rereadAt = Number.NEGATIVE_INFINITY
  /** Shards that have more than a page. */
  let behind = new Set<number>()
  let isStopped = false

  async function retireOnce(now: EpochMs): Promise<Retirement> {
    if (now >= rereadAt) {
      read.clear()
      behind.clear()
      rereadAt = now + REREAD_EVERY_MS
    }
    const cutoff = now - retentionMs
    const shards = behind.size > 0 ? behind : Array.from({ length: SHARD_COUNT }, (_, shard) => shard)
    const stillBehind = new Set<number>()
    let removed = 0
    for (const shard of shards) {
      if (isStopped) break
      const retired = await removeSettled(db, shard, read.get(shard) ?? Number.NEGATIVE_INFINITY, cutoff)
      read.set(shard, retired.reached ?? cutoff)
      if (retired.reached !== null) stillBehind.add(shard)
      removed += retired.removed
    }
    behind = stillBehind
    return { removed, isBehind: behind.size > 0 }
  }

  const loop = createLoop({
    name: 'retention',
    log,
    async step() {
      const retirement = await retireOnce(clock())
      onRetire?.(retirement)
      // No more than half of the time, for nobody waits for it.
      return tookMs => (retirement.isBehind ? 5 + tookMs : INTERVAL_MS)
    },
  })
  return {
    retireOnce,
    start: loop.start,
    stop() {
      isStopped = true
      return loop.stop()
    },
  }
}
