/** A timestamp: whole milliseconds since 1970-01-01T00:00:00Z. The domain takes the time as a parameter and reads no clock. */
export type EpochMs = number

/** Durations in milliseconds. A calendar day is not always this long: see `window.ts`. */
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** A generous bound on how much the clocks of processes differ. A stored time that lies further ahead was written by a clock that was. */
export const CLOCK_MARGIN_MS = 60_000

/**
 * The time by which rows that were kept long enough are removed: two days behind. What a clock that is ahead decides ends when it is set
 * right; a row that it removes is gone, although the clock that is right needs it: a counter of an open window, the key of a transfer.
 */
export const removalTime = (now: EpochMs): EpochMs => now - 2 * DAY_MS

/** The first and the last timestamp that a request may name. RFC 3339 has no years of five digits. */
const EARLIEST = Date.parse('1970-01-01T00:00:00.000Z')
export const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

const RFC_3339 = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/

/**
 * A cache of formatted timestamps. Formatting is expensive, and a batch and the starts of windows repeat a few values.
 * The size is prime: full hours would otherwise collide in a few slots.
 */
const FORMATTED = Array.from({ length: 251 }, () => ({ at: Number.NaN, text: '' }))

/**
 * Formats as RFC 3339 in UTC with milliseconds, the format of every timestamp in the API. The end of a window that lies
 * beyond `LATEST` is shown as `LATEST`.
 */
export function formatTimestamp(at: EpochMs): string {
  const cached = FORMATTED[at % FORMATTED.length]
  if (cached === undefined) return new Date(at).toISOString()
  if (cached.at !== at) {
    cached.text = new Date(Math.min(at, LATEST)).toISOString()
    cached.at = at
  }
  return cached.text
}

export function formatTimestampOrNull(at: EpochMs | null): string | null {
  return at === null ? null : formatTimestamp(at)
}

/** Parses RFC 3339 with any offset; digits past the millisecond are cut off. Null if invalid or out of range. */
export function parseTimestamp(text: string): EpochMs | null {
  const match = RFC_3339.exec(text)
  if (match === null) return null
  const [, date = '', time = '', fraction = '', zone = ''] = match
  // Date.parse reads 30 February as 2 March; formatted again, the text differs.
  const wallClock = Date.parse(`${date}T${time}Z`)
  if (Number.isNaN(wallClock) || new Date(wallClock).toISOString() !== `${date}T${time}.000Z`) return null
  const at = Date.parse(`${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}${zone.toUpperCase()}`)
  return at >= EARLIEST && at <= LATEST ? at : null
}
