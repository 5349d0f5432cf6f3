import { DAY_MS, type EpochMs, HOUR_MS } from './time.ts'

/** How long a failing delivery is retried. */
export const GIVE_UP_AFTER_MS = 3 * DAY_MS

const FIRST_DELAY_MS = 5_000
const MAX_DELAY_MS = 4 * HOUR_MS
/** The longest time for which a receiver may ask. */
const MAX_ASKED_MS = DAY_MS
/**
 * No attempt is planned for later than this: neither a retry, with its jitter and the time of the attempt, nor a digest, where a day has up to
 * 26 hours (Antarctica/Troll).
 */
export const LONGEST_WAIT_MS = 27 * HOUR_MS

/**
 * When to retry a delivery that has failed `failures` times (1…) since `began`: after 5 s, 20 s, 80 s … at most 4 h,
 * with a jitter of ±20 %. A receiver may ask for longer, up to 24 h. The last attempt is at the end of the third day; after it, null.
 *
 * @param chance a random number from 0 to 1, for the jitter
 * @param askedMs the wait that the receiver has asked for; 0 for none
 */
export function nextAttemptAt(
  failures: number,
  began: EpochMs,
  now: EpochMs,
  chance: number,
  askedMs = 0,
): EpochMs | null {
  const end = began + GIVE_UP_AFTER_MS
  if (now >= end) return null
  const delay = Math.min(FIRST_DELAY_MS * 4 ** (failures - 1), MAX_DELAY_MS)
  // What waits for one receiver does not come back all at once.
  const asked = askedMs <= 0 ? 0 : Math.min(askedMs, MAX_ASKED_MS) + FIRST_DELAY_MS * chance
  return Math.min(Math.round(now + Math.max(delay * (0.8 + 0.4 * chance), asked)), end)
}

/**
 * The wait that a header `Retry-After` asks for, in milliseconds: a number of seconds, or a date of HTTP (RFC 9110). 0 for any other
 * text, and for a time that is over.
 */
export function retryAfterMs(header: string, now: EpochMs): number {
  const text = header.trim()
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1_000
  const at = Date.parse(datedInZone(text) ?? '')
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}

/** A date of one of the forms of HTTP, or as mail has it; null for any other text. Without its zone, it would be read as one of this machine. */
function datedInZone(text: string): string | null {
  if (/^[A-Z][a-z]+, .* (?:GMT|UTC|[+-]\d{4})$/.test(text)) return text
  return /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/.test(text) ? `${text} GMT` : null
}
