import type { EpochMs } from './domain/time.ts'

/** A service whose clock is further off than this from the database's is not ready: windows would end at wrong times. */
export const MAX_OFFSET_MS = 500

/** The service's clock: the machine's, corrected to the database's so that all processes agree. It never steps back. */
export interface Clock {
  now(): EpochMs
  /** Learns what time it is on the database's clock, from asking for it between two moments of the machine's clock. */
  compare(asked: EpochMs, database: EpochMs, answered: EpochMs): void
  /** How far the machine's clock is behind the database's, in milliseconds; negative when it is ahead. */
  offset(): number
}

export function createClock(machine: () => EpochMs = Date.now): Clock {
  let offset = 0
  let latest = 0
  return {
    now() {
      latest = Math.max(latest, machine() + offset)
      return latest
    },
    compare(asked, database, answered) {
      // The database read its clock somewhere in between. A difference that the journey explains is none.
      const earliest = database - answered
      const last = database - asked
      if (offset < earliest) offset = earliest
      if (offset > last) offset = last
    },
    offset: () => offset,
  }
}
