import { type DateWindows, dateWindowsOf } from './anchor.ts'
import type { Calendar, Period } from './period.ts'
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS } from './time.ts'
import { floorHour, keyOf, nextChange, offsetAt } from './window.ts'

/**
 * The boundaries of windows for a year ahead, the same as `nextBoundary` finds one by one. They are computed from the zone's few
 * clock changes: a year of hours takes 0.2 ms instead of a second, and is shared until the next day.
 */

/** How far ahead boundaries are known, counted from the beginning of the current day in UTC. */
export const CALENDAR_MS = 369 * DAY_MS

/** A stretch of time in which the zone's clock has one offset, in milliseconds ahead of UTC. */
interface Span {
  start: EpochMs
  end: EpochMs
  offset: number
}

/**
 * All boundaries after the beginning of the day of `now` in UTC, ascending, until `CALENDAR_MS` later. Zones whose boundaries
 * are the same share one array, so that it can stand for the calendar itself.
 */
export function boundariesAhead(calendar: Calendar, now: EpochMs): Float64Array {
  const day = now - (now % DAY_MS)
  if (day !== cache.day) cache = { day, byZone: new Map(), bySpans: new Map() }
  const key = keyOf(calendar)
  const known = cache.byZone.get(key)
  if (known !== undefined) return known
  const windows = dateWindowsOf(calendar)
  const spans = spansOf(calendar.time_zone, day)
  const relevant = windows === null ? joinWholeHours(spans) : spans
  const signature = `${calendar.period} ${calendar.anchor} ${JSON.stringify(relevant)}`
  const boundaries = cache.bySpans.get(signature) ?? computeBoundaries(nextIn(calendar.period, windows), relevant, day)
  if (cache.byZone.size >= MAX_CACHED) cache = { day, byZone: new Map(), bySpans: new Map() }
  cache.bySpans.set(signature, boundaries)
  cache.byZone.set(key, boundaries)
  return boundaries
}

/** The index of the first boundary after `at`; the number of boundaries if there is none. */
export function firstAfter(boundaries: Float64Array, at: EpochMs): number {
  let [low, high] = [0, boundaries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((boundaries[middle] ?? 0) > at) high = middle
    else low = middle + 1
  }
  return low
}

/** For one day: all boundaries that were asked for. Hours take 70 kB, of which there are few different arrays. */
let cache = { day: Number.NaN, byZone: new Map<string, Float64Array>(), bySpans: new Map<string, Float64Array>() }
const MAX_CACHED = 4_096

/** Spans of zones for two years ahead: they outlive the day, because a search for clock changes takes 50 µs. */
const spansByZone = new Map<string, { from: EpochMs; spans: Span[] }>()
const SEARCHED_MS = 2 * CALENDAR_MS
/** A clock that was set back shows a date again that has begun before. */
const LOOK_BACK_MS = 3 * DAY_MS

function spansOf(timeZone: string, day: EpochMs): Span[] {
  const known = spansByZone.get(timeZone)
  if (known !== undefined && known.from <= day && day + CALENDAR_MS <= known.from + SEARCHED_MS) return known.spans
  const spans = findSpans(timeZone, day - LOOK_BACK_MS, day + SEARCHED_MS)
  if (spansByZone.size >= MAX_CACHED) spansByZone.clear()
  spansByZone.set(timeZone, { from: day, spans })
  return spans
}

function findSpans(timeZone: string, from: EpochMs, to: EpochMs): Span[] {
  const spans: Span[] = []
  let start = Number.NEGATIVE_INFINITY
  let at = from
  while (true) {
    const change = nextChange(timeZone, at, to)
    spans.push({ start, end: change ?? Number.POSITIVE_INFINITY, offset: offsetAt(timeZone, at) })
    if (change === null) return spans
    start = at = change
  }
}

/**
 * The spans as far as hours depend on them: a change by whole hours, at a full hour, moves no boundary. What follows it is shifted
 * by as much, and so is the whole, to an offset of less than an hour at first.
 */
function joinWholeHours(spans: readonly Span[]): Span[] {
  const joined: Span[] = []
  let shift = -floorHour(spans[0]?.offset ?? 0)
  for (const { start, end, offset } of spans) {
    const last = joined.at(-1)
    const change = last === undefined ? Number.NaN : offset + shift - last.offset
    if (last !== undefined && change % HOUR_MS === 0 && (start + offset) % HOUR_MS === 0) {
      shift -= change
      last.end = end
    } else {
      joined.push({ start, end, offset: offset + shift })
    }
  }
  return joined
}

type NextIn = (at: EpochMs, spans: readonly Span[]) => EpochMs

function nextIn(period: Period, windows: DateWindows | null): NextIn {
  if (windows !== null) return (at, spans) => nextDateIn(windows, at, spans)
  return period === 'minute' ? at => at - (at % MINUTE_MS) + MINUTE_MS : nextHourIn
}

function computeBoundaries(next: NextIn, spans: readonly Span[], day: EpochMs): Float64Array {
  const boundaries: number[] = []
  for (let at = next(day, spans); at <= day + CALENDAR_MS; at = next(at, spans)) boundaries.push(at)
  return Float64Array.from(boundaries)
}

/** An hour begins when the local clock reads HH:00 or jumps past it. */
function nextHourIn(at: EpochMs, spans: readonly Span[]): EpochMs {
  let from = at
  while (true) {
    const { end, offset } = spanAt(spans, from)
    const mark = floorHour(from + offset) + HOUR_MS - offset
    if (mark < end) return mark
    const [before, after] = [end + offset, end + spanAt(spans, end).offset]
    const reads = floorHour(after)
    if (reads === after || reads >= before) return end
    from = end
  }
}

/** A date begins at the first instant at which the local clock reads it, or a later one. */
function nextDateIn(windows: DateWindows, at: EpochMs, spans: readonly Span[]): EpochMs {
  let number = windows.numberAt(Math.floor((at + spanAt(spans, at).offset) / DAY_MS))
  while (true) {
    number++
    const midnight = windows.firstDate(number) * DAY_MS
    const { start, offset } = spans.find(span => span.end + span.offset > midnight) ?? spanAt(spans, at)
    const begins = Math.max(start, midnight - offset)
    if (begins > at) return begins
  }
}

function spanAt(spans: readonly Span[], at: EpochMs): Span {
  const span = spans.find(({ end }) => at < end)
  if (span === undefined) throw new RangeError('the last span has no end')
  return span
}
