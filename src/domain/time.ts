/** A moment: whole milliseconds since 1970-01-01T00:00:00Z. The domain is told the time; it has no clock of its own. */
export type EpochMs = number

/** Lengths of time in milliseconds. A day of a calendar is not always this long: see `window.ts`. */
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** The first and the last moment that a request may name. */
const EARLIEST = Date.parse('1970-01-01T00:00:00.000Z')
export const LATEST = Date.parse('9998-12-31T23:59:59.999Z')

const RFC_3339 = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/

/**
 * What moments were written as last. To write one out is dear, and those of a batch and the starts of windows are mostly
 * the same few. A prime number of them: hours would share a few places otherwise.
 */
const WRITTEN = Array.from({ length: 251 }, () => ({ at: Number.NaN, text: '' }))

/** RFC 3339 in UTC with milliseconds: how every moment leaves the service. */
export function formatTimestamp(at: EpochMs): string {
  const written = WRITTEN[at % WRITTEN.length]
  if (written === undefined) return new Date(at).toISOString()
  if (written.at !== at) {
    written.text = new Date(at).toISOString()
    written.at = at
  }
  return written.text
}

export function formatTimestampOrNull(at: EpochMs | null): string | null {
  return at === null ? null : formatTimestamp(at)
}

/** Reads RFC 3339 with any offset; digits past the millisecond are cut off. Null if it is no such moment. */
export function parseTimestamp(text: string): EpochMs | null {
  const match = RFC_3339.exec(text)
  if (match === null) return null
  const [, date = '', time = '', fraction = '', zone = ''] = match
  // Date.parse lets the 30th of February pass into March; written back, it is another text.
  const wallClock = Date.parse(`${date}T${time}Z`)
  if (Number.isNaN(wallClock) || new Date(wallClock).toISOString() !== `${date}T${time}.000Z`) return null
  const at = Date.parse(`${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}${zone.toUpperCase()}`)
  return at >= EARLIEST && at <= LATEST ? at : null
}
