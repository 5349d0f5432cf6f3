import type { Database } from '../db/database.ts'
import { findDue, type ReservationKey } from '../db/due-reservations.ts'
import { SHARDS, type Shard } from '../domain/shard.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'

/** Reads reservations that have expired, page by page: first those that are due now, then those missed in the past. */
export interface DueReader {
  /** Reads a page of what has become due by `now`. Resolves to whether all of it has been read. */
  readDue(now: EpochMs): Promise<boolean>
  /** Reads a page of the past; `readDue` comes first. Resolves to whether there is more of it to read. */
  readPast(now: EpochMs): Promise<boolean>
}

/**
 * Reservations that were committed late, behind the point up to which the shard was read, are found by reading back.
 */
const LOOK_BACK_MS = 120_000
const LOOK_BACK_EVERY_MS = 60_000

/**
 * The whole past is read after the start, and once a day for what reading back cannot find: a commit that waited for a
 * standby, a command that failed because of a bug.
 */
const WALK_EVERY_MS = DAY_MS
/** Retention leaves only open reservations before that. */
const LONGEST_PAST_MS = 400 * DAY_MS

/** Up to where each shard is read. A shard that is read to the end is removed from it. */
type Walk = Map<Shard, EpochMs>

const walkFrom = (after: EpochMs): Walk => new Map(SHARDS.map(shard => [shard, after]))

/** `onDue` gets each reservation found with units outstanding, some of them more than once. */
export function createDueReader(db: Database, onDue: (key: ReservationKey) => void): DueReader {
  /** Up to where each shard was read for due reservations. Empty before the first step. */
  const read: Walk = new Map()
  /** Pieces of the past that are being read, the last one first. */
  const past: { walk: Walk; until: EpochMs }[] = []
  let lookBackAt = 0
  let walkedFrom = 0
  let walkedMs = Number.POSITIVE_INFINITY

  async function advance(walk: Walk, until: EpochMs): Promise<void> {
    for (const { shard, reached, due } of await findDue(db, walk, until)) {
      if (reached === null) walk.delete(shard)
      else walk.set(shard, reached)
      for (const key of due) onDue(key)
    }
  }

  /**
   * A piece as long as all pieces before it: reservations that expired while the service was stopped are found soon.
   */
  function furtherBack(): { walk: Walk; until: EpochMs } {
    const until = walkedFrom - walkedMs
    walkedMs *= 2
    const isLast = walkedMs >= LONGEST_PAST_MS
    return { walk: walkFrom(isLast ? Number.NEGATIVE_INFINITY : walkedFrom - walkedMs), until }
  }

  return {
    async readDue(now) {
      if (read.size === 0) {
        for (const [shard, from] of walkFrom(now - LOOK_BACK_MS)) read.set(shard, from)
        lookBackAt = now + LOOK_BACK_EVERY_MS
      }
      const walk = new Map(read)
      await advance(walk, now)
      for (const shard of read.keys()) read.set(shard, walk.get(shard) ?? now)
      return walk.size === 0
    },

    async readPast(now) {
      if (now >= lookBackAt) {
        past.push({ walk: walkFrom(now - LOOK_BACK_MS), until: now })
        lookBackAt = now + LOOK_BACK_EVERY_MS
      }
      if (now >= walkedFrom + WALK_EVERY_MS) {
        walkedFrom = now
        walkedMs = LOOK_BACK_MS
      }
      if (past.length === 0 && walkedMs < LONGEST_PAST_MS) past.push(furtherBack())
      const piece = past.at(-1)
      if (piece !== undefined) {
        await advance(piece.walk, piece.until)
        if (piece.walk.size === 0) past.splice(past.indexOf(piece), 1)
      }
      return past.length > 0 || walkedMs < LONGEST_PAST_MS
    },
  }
}
