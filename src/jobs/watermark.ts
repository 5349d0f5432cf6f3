import type { Database } from '../db/connection/database.ts'
import type { DuePage } from '../db/reservations/due.ts'
import {
  haveAllEnded,
  loadWatermark,
  saveWatermark,
  takeTransactionId,
  type Watermark,
} from '../db/reservations/sweeper-watermark.ts'
import { SHARDS, type Shard } from '../domain/basics/shard.ts'
import type { EpochMs } from '../domain/time/time.ts'

/**
 * One process's knowledge of the time up to which every reservation is closed, and its share in raising the watermark
 * that all processes share (docs/decisions/expiry.md).
 */
export interface WatermarkKeeper {
  /** The time up to which all is closed. Negative infinity: not known. */
  of(shard: Shard): EpochMs
  /**
   * Reads what other processes concluded, writes what this one did, and chooses the next piece to check. Called once a
   * minute, before the first piece.
   */
  synchronize(now: EpochMs): Promise<void>
  /**
   * The piece to check: from where each shard is checked up to a time before which no further reservation can appear.
   * Undefined if transactions that began before that are still under way.
   */
  next(): Promise<{ walk: Map<Shard, EpochMs>; until: EpochMs } | undefined>
  /** Notes what a page of the piece had, which was read after `from`. */
  note(page: DuePage, from: EpochMs, until: EpochMs): void
  /** Checks again from each shard's watermark, where open reservations were found. */
  restart(): void
}

/**
 * A command decides at a time and takes its transaction id at most this much later: several times what the engine's
 * timeouts permit. It also covers what the clocks of two processes differ by.
 */
const GRACE_MS = 120_000

export function createWatermarkKeeper(db: Database): WatermarkKeeper {
  const marks: Watermark = new Map()
  /** The time up to which this process has checked each shard. It is past the watermark where a reservation was open. */
  const checked: Watermark = new Map()
  /** When every transaction before `id` has ended, no reservation that expires by `until` appears any more. */
  let horizon: { until: EpochMs; id: number } | undefined

  const of = (shard: Shard) => marks.get(shard) ?? Number.NEGATIVE_INFINITY
  const checkedOf = (shard: Shard) => Math.max(checked.get(shard) ?? Number.NEGATIVE_INFINITY, of(shard))

  return {
    of,

    async synchronize(now) {
      const shared = await loadWatermark(db)
      const raised: Watermark = new Map()
      for (const shard of SHARDS) {
        const common = shared.get(shard) ?? Number.NEGATIVE_INFINITY
        // A watermark in the future comes from a clock that was wrong: what it says of the time between is not so.
        const isWrong = common > now || of(shard) > now || checkedOf(shard) > now
        if (isWrong) checked.delete(shard)
        const own = isWrong ? Number.NEGATIVE_INFINITY : of(shard)
        if (own > common || isWrong) raised.set(shard, own)
        marks.set(shard, isWrong ? own : Math.max(own, common))
      }
      if (raised.size > 0) await saveWatermark(db, raised, now)
      // An older horizon is kept until its transactions have ended: a younger one would never be reached.
      if (horizon === undefined || horizon.until > now) {
        horizon = { until: now - GRACE_MS, id: await takeTransactionId(db) }
      }
    },

    async next() {
      if (horizon === undefined || !(await haveAllEnded(db, horizon.id))) return undefined
      const { until } = horizon
      horizon = undefined
      const walk = new Map(SHARDS.map(shard => [shard, checkedOf(shard)]))
      for (const [shard, from] of walk) if (from >= until) walk.delete(shard)
      return { walk, until }
    },

    note({ shard, reached, firstOpen }, from, until) {
      const before = checkedOf(shard)
      const to = reached ?? until
      // After a restart, a piece that was begun before it has a gap before it.
      if (from > before || to <= before) return
      // The watermark stops before the first open reservation; the check goes on.
      if (before === of(shard)) marks.set(shard, Math.max(before, firstOpen === null ? to : firstOpen - 1))
      checked.set(shard, to)
    },

    restart: () => checked.clear(),
  }
}
