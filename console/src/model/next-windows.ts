import { calendarOf } from '../../../src/domain/time/period.ts'
import { parseTimestamp } from '../../../src/domain/time/time.ts'
import { lastBoundary, nextBoundary, timeZoneName } from '../../../src/domain/time/window.ts'
import type { Terms } from './quota-form.ts'

/** In milliseconds since 1970; `end` is null for a window without an end. */
interface CalendarWindow {
  start: number
  end: number | null
}

/**
 * The window at `at`, or the first window if the quota starts later, and the windows after it.
 * @returns at most `max` windows, fewer if the quota expires before; null if the browser does not know the time zone
 */
export function windowsFrom(terms: Terms, at: number, max: number): CalendarWindow[] | null {
  const { time_zone, starts_at, expires_at } = terms
  const first = timestampOf(starts_at) ?? at
  const expiry = timestampOf(expires_at)
  const calendar = calendarOf(terms)
  if (calendar === null) return [{ start: first, end: expiry }]
  if (timeZoneName(time_zone) === null) return null

  const windows: CalendarWindow[] = []
  const end = expiry ?? Number.POSITIVE_INFINITY
  let start = Math.max(first, lastBoundary(calendar, Math.max(at, first)))
  while (windows.length < max && start < end) {
    const boundary = nextBoundary(calendar, start)
    windows.push({ start, end: Math.min(boundary, end) })
    start = boundary
  }
  return windows
}

function timestampOf(time: string | null): number | null {
  return time === null ? null : parseTimestamp(time)
}
