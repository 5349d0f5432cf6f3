import { DAY_MS, type EpochMs, HOUR_MS } from './time.ts'

/** How long a delivery is attempted again and again. */
const GIVE_UP_AFTER_MS = 3 * DAY_MS

const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 4 * HOUR_MS

/**
 * When to attempt again what has failed `failures` times (1…) since `began`: after 5 s, 20 s, 80 s … at most 4 h, a
 * fifth more or less so that many do not come at once. The last attempt falls on the end of the third day; then null.
 *
 * @param chance from 0 to 1
 */
export function nextAttemptAt(failures: number, began: EpochMs, now: EpochMs, chance: number): EpochMs | null {
  const end = began + GIVE_UP_AFTER_MS
  if (now >= end) return null
  const pause = Math.min(FIRST_PAUSE_MS * 4 ** (failures - 1), LONGEST_PAUSE_MS)
  return Math.min(Math.round(now + pause * (0.8 + 0.4 * chance)), end)
}
