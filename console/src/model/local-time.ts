import { zonedTime } from './zoned-time.ts'

/** Converts between timestamps of the API and what fields hold: days and times of the user's time zone. */

/** The day of a timestamp, written 2026-03-01. */
export function dayOf(at: string): string {
  const date = new Date(at)
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

/** The start of a day. Where a clock change skips midnight, the first time after it. */
export function startOfDay(day: string): string {
  return new Date(`${day}T00:00:00`).toISOString()
}

/** The day of a timestamp in a time zone. */
export function dayIn(timeZone: string, at: string): string {
  return zonedTime(at, timeZone).slice(0, 10)
}

/** The start of a day in a time zone. Where a clock change skips midnight, the first time after it, to an hour. */
export function startOfDayIn(timeZone: string, day: string): string {
  const midnight = `${day}T00:00:00`
  const withOffsetAt = (at: string) => new Date(`${midnight}${zonedTime(at, timeZone).slice(19)}`).toISOString()
  const first = withOffsetAt(`${midnight}Z`)
  const second = withOffsetAt(first)
  return dayIn(timeZone, second) === day ? second : first
}

/** A timestamp that the user's time zone shows with this day: noon exists on every day. */
export function noonOf(day: string): string {
  return new Date(`${day}T12:00:00`).toISOString()
}

/** @param days may be negative */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/** The value of a `datetime-local` field; empty for null. */
export function toFieldText(at: string | null): string {
  if (at === null) return ''
  const date = new Date(at)
  const clock = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString()
  // Without seconds if they are 0.
  return clock.slice(0, clock.slice(17, 19) === '00' ? 16 : 19)
}

/** The timestamp of a field's value; an invalid value is returned unchanged, and the service rejects it with a message. */
export function toTimestamp(fieldText: string): string {
  const date = new Date(fieldText)
  return Number.isNaN(date.getTime()) ? fieldText : date.toISOString()
}
