/** Days of the reader's calendar, written 2026-03-01, and the moments at which they begin. */

/** The day in which a moment lies. */
export function dayOf(at: string): string {
  const date = new Date(at)
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

/** Its first moment, as the API is told it; where midnight is skipped, the one after. */
export function startOfDay(day: string): string {
  return new Date(`${day}T00:00:00`).toISOString()
}

/** So many days later, or earlier. */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/** The zone whose days these are. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

const SHORT = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })

/** 1 Mar. @param at any moment of the day */
export function shortDay(at: string): string {
  return SHORT.format(new Date(at))
}

/** Sunday, 1 March 2026. */
export function fullDay(at: string): string {
  return FULL.format(new Date(at))
}
