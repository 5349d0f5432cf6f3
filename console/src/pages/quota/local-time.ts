/** Between moments of the API and what a `datetime-local` field holds: the clock of the reader's zone. */

/** The zone that the reader's machine is set to. */
export const READERS_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** A moment as the field holds it; empty for none. */
export function fieldTextOf(at: string | null): string {
  if (at === null) return ''
  const date = new Date(at)
  const clock = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString()
  // Seconds stand there only where they tell something.
  return clock.slice(0, clock.slice(17, 19) === '00' ? 16 : 19)
}

/** What the field holds as a moment of the API; what is no moment stays as it is, for the service to judge. */
export function momentOf(fieldText: string): string {
  const date = new Date(fieldText)
  return Number.isNaN(date.getTime()) ? fieldText : date.toISOString()
}
