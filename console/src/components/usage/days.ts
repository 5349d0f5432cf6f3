/** Calendar days in the user's time zone, written 2026-03-01, and the timestamps at which they start. */

/** The day of a timestamp. */
export function dayOf(at: string): string {
  const date = new Date(at)
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

/** The start of a day as an API timestamp. Where a clock change skips midnight, the first time after it. */
export function startOfDay(day: string): string {
  return new Date(`${day}T00:00:00`).toISOString()
}

/** @param days may be negative */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/** The user's time zone. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

const SHORT = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })

/** 1 Mar. @param at any timestamp of the day */
export function shortDay(at: string): string {
  return SHORT.format(new Date(at))
}

/** Sunday, 1 March 2026. */
export function fullDay(at: string): string {
  return FULL.format(new Date(at))
}
