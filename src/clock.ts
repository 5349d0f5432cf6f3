/**
 * The service's clock: the database's, so that all processes agree on when a window ends and a reservation expires.
 * Between two synchronizations the machine's monotonic clock carries it on, which no change of the system time moves.
 *
 * | state   | meaning                          | enters it by                                          | leaves it by                      |
 * |---------|----------------------------------|-------------------------------------------------------|-----------------------------------|
 * | unset   | the database was not asked yet   | the start                                             | the first synchronization         |
 * | trusted | within `MAX_OFFSET_MS` of it     | a synchronization that agrees, or two that agree with | a difference, or a jump or sleep  |
 * |         |                                  | each other                                            | of the machine                    |
 * | doubted | one of the two clocks has jumped | a difference of more than `MAX_OFFSET_MS`             | two synchronizations that agree   |
 *
 * A clock in doubt tells no time: a quota that is rolled into tomorrow's window cannot be rolled back. It never steps
 * back while it is trusted, and may do so when it is trusted again.
 */
import type { Database } from './db/connection/database.ts'
import type { EpochMs } from './domain/time/time.ts'

/** Beyond this difference the clock does not believe itself, nor the database at once. */
export const MAX_OFFSET_MS = 500
/** Two synchronizations confirm each other if they are this far apart: one jump that both meet must not look confirmed. */
const CONFIRM_AFTER_MS = 1_000

export interface Clock {
  /** Null while the clock is not trusted. */
  now(): EpochMs | null
  /** How far the system time was ahead of the database's at the last synchronization, in milliseconds. */
  readonly aheadMs: number
  /** Reads the database's clock by `ask` and corrects this one. Rejects as `ask` does, and then changes nothing. */
  synchronize(ask: () => Promise<EpochMs>): Promise<void>
}

/** The clocks of the machine, in milliseconds: one that only time moves, and the system time. */
export interface Machine {
  monotonic(): number
  system(): EpochMs
}

const MACHINE: Machine = { monotonic: () => performance.now(), system: Date.now }

export function createClock({ monotonic, system }: Machine = MACHINE): Clock {
  /** What to add to the monotonic clock; undefined if unset. */
  let offset: number | undefined
  /** The offset that a synchronization found and that the next one has to confirm. */
  let candidate: { offset: number; at: number } | undefined
  let isDoubted = false
  let latest = 0
  /** How far the system time was ahead of the monotonic clock when they were last compared. */
  let lead = system() - monotonic()
  let aheadMs = 0

  function adopt(next: number): void {
    offset = next
    candidate = undefined
    isDoubted = false
  }

  return {
    now() {
      // The system time moves alone when it is set, or when the machine sleeps and the monotonic clock stands still.
      if (Math.abs(system() - monotonic() - lead) > MAX_OFFSET_MS) isDoubted = true
      if (offset === undefined || isDoubted) return null
      latest = Math.max(latest, Math.floor(monotonic() + offset))
      return latest
    },

    get aheadMs() {
      return aheadMs
    },

    async synchronize(ask) {
      const before = monotonic()
      const database = await ask()
      const after = monotonic()
      lead = system() - after
      // The database read its clock in between. A difference within the round trip is not corrected.
      const [least, most] = [database - after, database - before]
      aheadMs = lead + (before + after) / 2 - database
      const known = offset ?? least
      const found = Math.min(Math.max(known, least), most)
      if (offset === undefined || Math.abs(found - offset) <= MAX_OFFSET_MS) return adopt(found)
      isDoubted = true
      if (candidate === undefined || Math.abs(found - candidate.offset) > MAX_OFFSET_MS) {
        candidate = { offset: found, at: after }
        return
      }
      if (after - candidate.at < CONFIRM_AFTER_MS) return
      adopt(found)
      latest = 0
    },
  }
}

/** Synchronizes the clock with the database's. Resolves to whether the database refuses to be written. */
export async function synchronize(clock: Clock, db: Pick<Database, 'ping'>): Promise<{ isReadOnly: boolean }> {
  let isReadOnly = false
  await clock.synchronize(async () => {
    const answer = await db.ping()
    isReadOnly = answer.isReadOnly
    return answer.now
  })
  return { isReadOnly }
}
