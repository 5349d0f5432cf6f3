import { parseTimestamp } from '../../../../src/domain/time.ts'
import { lastBoundary, nextBoundary, timeZoneName } from '../../../../src/domain/window.ts'
import type { Terms } from './effect.ts'

/** In milliseconds since 1970; an end of null never comes. */
interface CalendarWindow {
  start: number
  end: number | null
}

/**
 * The window that holds `at`, or the first one of a quota that starts later, and those after it.
 * @returns at most `most`, fewer if the quota ends before; null if this browser does not know the time zone
 */
export function windowsFrom(
  { period, time_zone, starts_at, expires_at }: Terms,
  at: number,
  most: number,
): CalendarWindow[] | null {
  const begin = timestampOf(starts_at) ?? at
  const expiry = timestampOf(expires_at)
  if (period === null) return [{ start: begin, end: expiry }]
  if (timeZoneName(time_zone) === null) return null

  const windows: CalendarWindow[] = []
  const end = expiry ?? Number.POSITIVE_INFINITY
  let start = Math.max(begin, lastBoundary(period, time_zone, Math.max(at, begin)))
  while (windows.length < most && start < end) {
    const boundary = nextBoundary(period, time_zone, start)
    windows.push({ start, end: Math.min(boundary, end) })
    start = boundary
  }
  return windows
}

function timestampOf(time: string | null): number | null {
  return time === null ? null : parseTimestamp(time)
}
