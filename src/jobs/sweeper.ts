import type { Database, Log } from '../db/connection/database.ts'
import type { DueReservation } from '../db/reservations/due.ts'
import type { EpochMs } from '../domain/time/time.ts'
import { outstandingOf } from '../domain/units/reservation.ts'
import { EngineFailure } from '../engine/completion.ts'
import type { Engine } from '../engine/engine.ts'
import { createDueReader } from './due-reader.ts'
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
  /** The work that the next step can do at once: close due reservations, only read the past, or neither. */
  pending: 'due' | 'past' | 'none'
}

export interface SweeperOptions {
  db: Database
  engine: Pick<Engine, 'submit'>
  now: () => EpochMs
  log: Log
  /** The pause after ten steps that found nothing, in milliseconds; a second if left out. */
  idleMs?: number
  /** Called after every step of the job. */
  onSweep?: (sweep: Sweep) => void
}

/** A reservation is found within this time after it expires, unless the sweeper is idle. */
const INTERVAL_MS = 1_000

/** After this many steps that found nothing it is idle. */
const IDLE_AFTER = 10

/** Commands in flight: a hundredth of the engine's queue, so that senders wait behind few of them. */
const MAX_IN_FLIGHT = 500

/** No more are read while this many wait to be closed: after a long stop the table can hold any number. */
const MAX_WAITING = 20_000

export function createSweeper(options: SweeperOptions): Sweeper {
  const { db, engine, now: clock, log, idleMs = INTERVAL_MS, onSweep } = options
  /** Found and not closed yet, the longest waiting first. */
  const waiting = new Map<string, DueReservation>()
  /** The number of the last steps that found nothing. */
  let emptySteps = 0
  const reader = createDueReader(db, found => waiting.set(`${found.user_id} ${found.id}`, found))

  /** Resolves to how many are closed, and whether those are at least half of the reservations tried. */
  async function closeSome(): Promise<{ closed: number; isWorking: boolean }> {
    const keys = [...waiting.entries().take(MAX_IN_FLIGHT)]
    const closings = await Promise.all(keys.map(([, found]) => close(found)))
    for (const [index, [name, found]] of keys.entries()) {
      waiting.delete(name)
      // Behind those not tried yet: the lock of one user's rows does not delay the reservations of others.
      if (closings[index] === 'later') waiting.set(name, found)
    }
    const closed = closings.filter(closing => closing === 'closed').length
    return { closed, isWorking: closed >= keys.length / 2 }
  }

  async function close({ user_id, id }: DueReservation): Promise<'closed' | 'later' | 'failed'> {
    try {
      const outcome = await engine.submit({ op: 'expire', user_id, id })
      return outcome.outcome === 'found' && outstandingOf(outcome.reservation) > 0 ? 'later' : 'closed'
    } catch (error) {
      if (error instanceof EngineFailure) return 'later'
      log.error({ err: error, reservation: { user_id, id } }, 'sweeper: reservation cannot be expired')
      return 'failed'
    }
  }

  async function sweepOnce(now: EpochMs): Promise<Sweep> {
    let isAllRead = false
    let hasPast = true
    if (waiting.size < MAX_WAITING) {
      isAllRead = await reader.readDue(now)
      if (isAllRead && waiting.size < MAX_IN_FLIGHT) hasPast = await reader.readPast(now)
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
    lagMs() {
      let closedUntil = reader.readUntil()
      for (const { expiresAt } of waiting.values()) closedUntil = Math.min(closedUntil, expiresAt)
      return Math.max(0, clock() - closedUntil)
    },
    async step() {
      const sweep = await sweepOnce(clock())
      onSweep?.(sweep)
      const isEmpty = sweep.closed === 0 && sweep.pending === 'none' && waiting.size === 0
      emptySteps = isEmpty ? emptySteps + 1 : 0
      return {
        // Its own lag is that of the oldest reservation that is due.
        isBehind: false,
        pauseMs: tookMs => (emptySteps > IDLE_AFTER ? idleMs : pauseAfter(sweep, tookMs)),
      }
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
