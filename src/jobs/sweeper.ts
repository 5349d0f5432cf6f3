import type { Database, Log } from '../db/database.ts'
import { findDue, type ReservationKey } from '../db/due-reservations.ts'
import { outstandingOf } from '../domain/reservation.ts'
import { SHARD_COUNT } from '../domain/shard.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'
import type { Engine } from '../engine/engine.ts'
import { EngineFailure } from '../engine/failures.ts'
import { createLoop, type Loop } from './job.ts'

/**
 * Closes reservations whose time has come: finds them and asks the engine to expire each, like any sender. Any number
 * of processes may do so, for to expire what is closed already changes nothing.
 */
export interface Sweeper extends Loop {
  /**
   * One step: a look at what has come due by `now` (milliseconds, as the engine's own clock has it) and, when that is
   * all seen, at a piece of the past; then closes up to 500 of what was found.
   */
  sweepOnce(now: EpochMs): Promise<Sweep>
}

export interface Sweep {
  /** Reservations that are closed now, by this or by somebody a moment before. */
  closed: number
  /** What can be done at once: close what is due, only look at the past, or neither. */
  pending: 'due' | 'past' | 'none'
}

export interface SweeperOptions {
  db: Database
  engine: Pick<Engine, 'submit'>
  now: () => EpochMs
  log: Log
  /** Is told of every step that the loop has done. */
  onSweep?: (sweep: Sweep) => void
}

/** How long after its time a reservation is looked for at the latest; to close it takes a moment more. */
const INTERVAL_MS = 1_000

/** Commands in flight, so that senders wait for a hundredth of the queue at most. */
const MAX_IN_FLIGHT = 500

/** While so many wait to be closed nobody looks for more: after a long stop the table can hold any number. */
const MAX_WAITING = 20_000

/** What was committed late, behind the moment that was read up to, is found by looking back. */
const LOOK_BACK_MS = 120_000
const LOOK_BACK_EVERY_MS = 60_000

/**
 * The whole past is walked after a start, and once a day for what no look back could find: a commit that a standby kept
 * waiting, a command that failed by a fault.
 */
const WALK_EVERY_MS = DAY_MS
/** Further back than retention leaves anything, but for what is open. */
const LONGEST_PAST_MS = 400 * DAY_MS

/** How far each shard is read; a shard that is read to the end is not in it any more. */
type Walk = Map<number, EpochMs>

const walkFrom = (after: EpochMs): Walk => new Map(Array.from({ length: SHARD_COUNT }, (_, shard) => [shard, after]))

export function createSweeper({ db, engine, now: clock, log, onSweep }: SweeperOptions): Sweeper {
  /** Found and not closed yet, longest waiting first. */
  const waiting = new Map<string, ReservationKey>()
  /** Up to where what comes due was read. Empty before the first step. */
  const read: Walk = new Map()
  /** Looks at the past, the last one first. */
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

  /** Answers whether everything that has come due is seen. */
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

  /** Answers whether there is more of the past to look at. */
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

  /** As far again as was walked before: what came due while the service was stopped is found soon. */
  function furtherBack(): { walk: Walk; until: EpochMs } {
    const until = walkedFrom - walkedMs
    walkedMs *= 2
    const isLast = walkedMs >= LONGEST_PAST_MS
    return { walk: walkFrom(isLast ? Number.NEGATIVE_INFINITY : walkedFrom - walkedMs), until }
  }

  /** Answers how many are closed, and whether that is what most of those tried came to. */
  async function closeSome(): Promise<{ closed: number; goesWell: boolean }> {
    const keys = [...waiting.entries().take(MAX_IN_FLIGHT)]
    const closings = await Promise.all(keys.map(([, key]) => close(key)))
    for (const [index, [name, key]] of keys.entries()) {
      waiting.delete(name)
      // Behind those that were not tried yet: who holds one user's rows holds up no other.
      if (closings[index] === 'later') waiting.set(name, key)
    }
    const closed = closings.filter(closing => closing === 'closed').length
    return { closed, goesWell: closed >= keys.length / 2 }
  }

  async function close(key: ReservationKey): Promise<'closed' | 'later' | 'failed'> {
    try {
      const outcome = await engine.submit({ op: 'expire', ...key })
      return outcome.outcome === 'found' && outstandingOf(outcome.reservation) > 0 ? 'later' : 'closed'
    } catch (error) {
      if (error instanceof EngineFailure) return 'later'
      log.error({ err: error, reservation: key }, 'a reservation cannot be expired')
      return 'failed'
    }
  }

  async function sweepOnce(now: EpochMs): Promise<Sweep> {
    let isSeen = false
    let hasPast = true
    if (waiting.size < MAX_WAITING) {
      isSeen = await readDue(now)
      if (isSeen && waiting.size < MAX_IN_FLIGHT) hasPast = await readPast(now)
    }
    const { closed, goesWell } = await closeSome()
    // A store that is away, or has its hands full, is left alone for a while.
    if (!goesWell) return { closed, pending: 'none' }
    if (!isSeen || waiting.size > 0) return { closed, pending: 'due' }
    return { closed, pending: hasPast ? 'past' : 'none' }
  }

  const loop = createLoop({
    name: 'sweeper',
    log,
    async step() {
      const sweep = await sweepOnce(clock())
      onSweep?.(sweep)
      return tookMs => pauseAfter(sweep, tookMs)
    },
  })
  return { sweepOnce, ...loop }
}

/** Leaves the senders two thirds of the time at least while there is a crowd to close, and more when nobody waits. */
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
