import { DAY_MS, type EpochMs, HOUR_MS } from './time.ts'

/** How long a failing delivery is retried. */
const GIVE_UP_AFTER_MS = 3 * DAY_MS

const FIRST_DELAY_MS = 5_000
const MAX_DELAY_MS = 4 * HOUR_MS
/** No attempt is planned for later than this, jitter and the time of an attempt included. */
export const LONGEST_WAIT_MS = 6 * HOUR_MS

/**
 * When to retry a delivery that has failed `failures` times (1…) since `began`: after 5 s, 20 s, 80 s … at most 4 h,
 * with a jitter of ±20 %. The last attempt is at the end of the third day; after it, null.
 *
 * @param chance a random number from 0 to 1, for the jitter
 */
export function nextAttemptAt(failures: number, began: EpochMs, now: EpochMs, chance: number): EpochMs | null {
  const end = began + GIVE_UP_AFTER_MS
  if (now >= end) return null
  const delay = Math.min(FIRST_DELAY_MS * 4 ** (failures - 1), MAX_DELAY_MS)
  return Math.min(Math.round(now + delay * (0.8 + 0.4 * chance)), end)
}
