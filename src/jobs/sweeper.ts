import type { Database, Log } from '../db/database.ts'
import { findDue, type ReservationKey } from '../db/due-reservations.ts'
import { outstandingOf } from '../domain/reservation.ts'
import { SHARDS, type Shard } from '../domain/shard.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'
import type { Engine } from '../engine/engine.ts'
import { EngineFailure } from '../engine/failures.ts'
import type { Job } from './runner.ts'

/**
 * Closes reservations that have expired: finds them, and submits an `expire` command for each to the engine. Any number
 * of processes may run it, because expiring a closed reservation changes nothing.
 */
export interface Sweeper extends Job {
  /**
   * One step: reads a page of the reservations that are due by `now` (on the engine's clock) and, if there are no more
   * of them, a piece of the past; then closes up to 500 of those found.
   */
  sweepOnce(now: EpochMs): Promise<Sweep>
}

export interface Sweep {
  /** Reservations that are closed now, by this step or by another process just before. */
  closed: number
  /** What the next step can do at once: close due reservations, only read the past, or neither. */
  pending: 'due' | 'past' | 'none'
}

export interface SweeperOptions {
  db: Database
  engine: Pick<Engine, 'submit'>
  now: () => EpochMs
  log: Log
  /** Called after every step of the job. */
  onSweep?: (sweep: Sweep) => void
}

/** A reservation is found within this time after it expires. */
const INTERVAL_MS = 1_000

/** Commands in flight: a hundredth of the engine's queue, so that senders wait behind few of them. */
const MAX_IN_FLIGHT = 500

/** No more are read while this many wait to be closed: after a long stop the table can hold any number. */
const MAX_WAITING = 20_000

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

export function createSweeper({ db, engine, now: clock, log, onSweep }: SweeperOptions): Sweeper {
  /** Found and not closed yet, the longest waiting first. */
  const waiting = new Map<string, ReservationKey>()
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
      for (const key of due) waiting.set(`${key.user_id} ${key.id}`, key)
    }
  }

  /** Resolves to whether all due reservations have been read. */
  async function readDue(now: EpochMs): Promise<boolean> {
    if (read.size === 0) {
      for (const [shard, from] of walkFrom(now - LOOK_BACK_MS)) read.set(shard, from)
      lookBackAt = now + LOOK_BACK_EVERY_MS
    }
    const walk = new Map(read)
    await advance(walk, now)
    for (const shard of read.keys()) read.set(shard, walk.get(shard) ?? now)
    return walk.size === 0
  }

  /** Resolves to whether there is more of the past to read. */
  async function readPast(now: EpochMs): Promise<boolean> {
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

  /** Resolves to how many are closed, and whether those are at least half of the reservations tried. */
  async function closeSome(): Promise<{ closed: number; isWorking: boolean }> {
    const keys = [...waiting.entries().take(MAX_IN_FLIGHT)]
    const closings = await Promise.all(keys.map(([, key]) => close(key)))
    for (const [index, [name, key]] of keys.entries()) {
      waiting.delete(name)
      // Behind those not tried yet: the lock of one user's rows does not delay the reservations of others.
      if (closings[index] === 'later') waiting.set(name, key)
    }
    const closed = closings.filter(closing => closing === 'closed').length
    return { closed, isWorking: closed >= keys.length / 2 }
  }

  async function close(key: ReservationKey): Promise<'closed' | 'later' | 'failed'> {
    try {
      const outcome = await engine.submit({ op: 'expire', ...key })
      return outcome.outcome === 'found' && outstandingOf(outcome.reservation) > 0 ? 'later' : 'closed'
    } catch (error) {
      if (error instanceof EngineFailure) return 'later'
      log.error({ err: error, reservation: key }, 'sweeper: reservation cannot be expired')
      return 'failed'
    }
  }

  async function sweepOnce(now: EpochMs): Promise<Sweep> {
    let isAllRead = false
    let hasPast = true
    if (waiting.size < MAX_WAITING) {
      isAllRead = await readDue(now)
      if (isAllRead && waiting.size < MAX_IN_FLIGHT) hasPast = await readPast(now)
    }
    const { closed, isWorking } = await closeSome()
    // A store that is away or overloaded gets a pause.
    if (!isWorking) return { closed, pending: 'none' }
    if (!isAllRead || waiting.size > 0) return { closed, pending: 'due' }
    return { closed, pending: hasPast ? 'past' : 'none' }
  }

  return {
    name: 'sweeper',
    sweepOnce,
    async step() {
      const sweep = await sweepOnce(clock())
      onSweep?.(sweep)
      return tookMs => pauseAfter(sweep, tookMs)
    },
  }
}

/**
 * Senders come first: the pause is half as long as the step while reservations are due, nine times as long to read the
 * past, and always at most a second.
 */
function pauseAfter({ pending }: Sweep, tookMs: number): number {
  switch (pending) {
    case 'due':
      return Math.min(INTERVAL_MS, 5 + tookMs / 2)
    case 'past':
      return Math.min(INTERVAL_MS, 5 + 9 * tookMs)
    case 'none':
      return INTERVAL_MS
  }
}
