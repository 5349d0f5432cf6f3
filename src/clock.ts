import type { EpochMs } from './domain/time.ts'

/** Beyond this difference from the database's clock the service is not ready: windows would end at wrong times. */
export const MAX_OFFSET_MS = 500

/** The service's clock: the machine's, corrected by the database's so that all processes agree. It never steps back. */
export interface Clock {
  now(): EpochMs
  /** Corrects the clock: the database's clock was read between two times of the machine's clock. */
  compare(before: EpochMs, database: EpochMs, after: EpochMs): void
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
    compare(before, database, after) {
      // The database read its clock in between. A difference within the round trip is not corrected.
      const least = database - after
      const most = database - before
      if (offset < least) offset = least
      if (offset > most) offset = most
    },
    offset: () => offset,
  }
}
