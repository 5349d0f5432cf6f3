import { findShardsWith } from '../db/cluster/first-rows.ts'
import type { Database } from '../db/connection/database.ts'
import { expiriesAfter } from '../db/reservations/due.ts'
import {
  type DeletedQuota,
  findDeletedQuotas,
  findShardsWithDeleted,
  type RemovedPage,
  removeDeletedQuota,
  removeSettled,
  removeWindows,
} from '../db/reservations/retention.ts'
import { SHARDS, type Shard } from '../domain/basics/shard.ts'
import { DAY_MS, type EpochMs } from '../domain/time/time.ts'
import { createPageSize, forEachApart, type PageSize } from './isolation.ts'
import { createRetentionJob, isDue, type Removal, type RetentionJob } from './runner.ts'

/** `removed` are reservations. */
interface Retirement extends Removal {
  removedWindows: number
  removedQuotas: number
}

export interface RetentionOptions {
  db: Database
  now: () => EpochMs
  /** How long a reservation is kept after its last change, in milliseconds; it may be kept its own open time longer. */
  retentionMs?: number
  /** How long a window is kept after its end, in milliseconds; null: for ever. */
  historyRetentionMs?: number | null
  /** How long a deleted quota is kept, in milliseconds; null: for ever. */
  deletedQuotaRetentionMs?: number | null
  /** Called after every step. */
  onRetire?: (retirement: Retirement) => void
}

const DEFAULT_RETENTION_MS = 35 * DAY_MS

const INTERVAL_MS = 60_000

/**
 * A shard is read on from where the last step stopped. What could not be removed when it was read, because it was locked or
 * not settled, is behind that point; it is found when the shard is read from its beginning again.
 */
const REREAD_EVERY_MS = DAY_MS

/** Reservations of a page, quotas whose windows are read, deleted quotas, and rows of one deleted quota. */
const MAX_RESERVATIONS = 1_000
const MAX_QUOTAS = 500
const MAX_DELETED_QUOTAS = 100
const MAX_ROWS = 1_000

/** Reads all shards page by page. */
interface Walk {
  /**
   * Reads a page of each shard that has more, or, if none has, of those with something after what was read. A shard that fails does not
   * stop the others.
   */
  step(now: EpochMs, signal: AbortSignal | undefined): Promise<void>
  readonly removed: number
  readonly isBehind: boolean
}

/**
 * @param findShards the shards that have something after their positions
 * @param readPage reads and removes a page of a shard, after a position
 */
function createWalk<Position>(
  start: Position,
  end: (now: EpochMs) => Position,
  maxRows: number,
  findShards: (after: (shard: Shard) => Position, now: EpochMs) => Promise<Iterable<Shard>>,
  readPage: (shard: Shard, after: Position, now: EpochMs, rows: number) => Promise<RemovedPage<Position>>,
): Walk {
  const sizes = new Map<Shard, PageSize>(SHARDS.map(shard => [shard, createPageSize(maxRows)]))
  /** The position up to which each shard was read. */
  const read = new Map<Shard, Position>()
  const readUntil = (shard: Shard) => read.get(shard) ?? start
  let rereadAt = Number.NEGATIVE_INFINITY
  /** Shards that have more than a page. */
  let behind = new Set<Shard>()
  let removed = 0

  return {
    get removed() {
      return removed
    },
    get isBehind() {
      return behind.size > 0
    },
    async step(now, signal) {
      if (isDue(now, rereadAt, REREAD_EVERY_MS)) {
        read.clear()
        behind.clear()
        rereadAt = now + REREAD_EVERY_MS
      }
      const shards = behind.size > 0 ? behind : new Set(await findShards(readUntil, now))
      if (behind.size === 0) for (const shard of SHARDS) if (!shards.has(shard)) read.set(shard, end(now))
      // A shard that fails is read again with all others: while it fails, it must not be the only one that is read.
      behind = new Set()
      removed = 0
      await forEachApart(shards, signal, async shard => {
        const page = await sizes.get(shard)?.run(rows => readPage(shard, readUntil(shard), now, rows))
        if (page === undefined) return
        read.set(shard, page.reached ?? end(now))
        if (page.reached !== null) behind.add(shard)
        removed += page.removed
      })
    },
  }
}

/** Deleted quotas go one by one, because each may have any number of windows. */
async function retireQuotas(
  db: Database,
  shard: Shard,
  after: DeletedQuota,
  cutoff: EpochMs,
  rows: number,
): Promise<RemovedPage<DeletedQuota>> {
  const page = await findDeletedQuotas(db, shard, after, cutoff, Math.min(rows, MAX_DELETED_QUOTAS))
  let removed = 0
  let previous = after
  for (const quota of page) {
    const isGone = quota.is_drawn || (await removeDeletedQuota(db, shard, quota.id, rows)).isDone
    if (!isGone) return { removed, reached: previous }
    if (!quota.is_drawn) removed += 1
    previous = quota
  }
  return { removed, reached: page.length < Math.min(rows, MAX_DELETED_QUOTAS) ? null : previous }
}

/**
 * Removes what has been kept long enough: settled reservations that have not changed for the retention time, with their
 * ids, and, if so configured, old windows and deleted quotas. The units that reservations used go to the archive, so that
 * counters still equal the ledger. Any number of processes may run it.
 */
export function createRetention(options: RetentionOptions): RetentionJob<Retirement> {
  const { db, now: clock, retentionMs = DEFAULT_RETENTION_MS, onRetire } = options
  const { historyRetentionMs = null, deletedQuotaRetentionMs = null } = options
  for (const ms of [retentionMs, historyRetentionMs ?? 0, deletedQuotaRetentionMs ?? 0]) {
    if (!(ms >= 0)) throw new RangeError('times of retention must be at least 0')
  }

  const reservations = createWalk<EpochMs>(
    Number.NEGATIVE_INFINITY,
    now => now - retentionMs,
    MAX_RESERVATIONS,
    (after, now) => findShardsWith(db, expiriesAfter(after, now - retentionMs)),
    (shard, after, now, rows) => removeSettled(db, shard, after, now - retentionMs, rows),
  )
  const windows =
    historyRetentionMs === null
      ? null
      : createWalk<number>(
          0,
          () => Number.MAX_SAFE_INTEGER,
          MAX_QUOTAS,
          async after => SHARDS.filter(shard => after(shard) < Number.MAX_SAFE_INTEGER),
          (shard, after, now, rows) => removeWindows(db, shard, after, now - historyRetentionMs, rows),
        )
  const quotas =
    deletedQuotaRetentionMs === null
      ? null
      : createWalk<DeletedQuota>(
          { id: 0, deleted_at: Number.NEGATIVE_INFINITY },
          now => ({ id: 0, deleted_at: now - deletedQuotaRetentionMs }),
          MAX_ROWS,
          (after, now) => findShardsWithDeleted(db, after, now - deletedQuotaRetentionMs),
          (shard, after, now, rows) => retireQuotas(db, shard, after, now - deletedQuotaRetentionMs, rows),
        )
  const walks = [reservations, windows, quotas].filter(walk => walk !== null)

  return createRetentionJob({
    name: 'retention',
    intervalMs: INTERVAL_MS,
    now: clock,
    async removePage(now, signal) {
      await forEachApart(walks, signal, walk => walk.step(now, signal))
      const retirement = {
        removed: reservations.removed,
        removedWindows: windows?.removed ?? 0,
        removedQuotas: quotas?.removed ?? 0,
        isBehind: walks.some(walk => walk.isBehind),
      }
      onRetire?.(retirement)
      return retirement
    },
  })
}
