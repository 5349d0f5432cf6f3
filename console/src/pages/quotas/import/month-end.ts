import { zonedTime } from './zoned-time.ts'

/** When the calendar month of a time ends in a time zone. */
export function monthEnd(at: number, timeZone: string): string {
  const [year, month] = zonedTime(new Date(at).toISOString(), timeZone).split('-').map(Number)
  const midnight = Date.UTC(year ?? 0, month ?? 0)
  // The offset at the end may differ from the one at midnight of UTC: the second look is near enough to see it.
  const near = midnight - offsetOf(midnight, timeZone)
  return new Date(midnight - offsetOf(near, timeZone)).toISOString()
}

/** How far the clocks of a zone are ahead of UTC, in milliseconds. */
function offsetOf(at: number, timeZone: string): number {
  const wallClock = zonedTime(new Date(at).toISOString(), timeZone).slice(0, 'YYYY-MM-DDThh:mm:ss'.length)
  return Date.parse(`${wallClock}Z`) - at
}
