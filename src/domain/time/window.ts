import { Temporal } from 'temporal-polyfill'
import { anchorOn, type DateWindows, dateWindowsOf } from './anchor.ts'
import type { Calendar, Period } from './period.ts'
import { DAY_MS, type EpochMs, HOUR_MS, LATEST, MINUTE_MS } from './time.ts'

/**
 * Calendar windows in a time zone: their boundaries and their number. A window contains `at` if
 * `lastBoundary <= at < nextBoundary`.
 *
 * A day or a period of several begins at the first instant of its first date. A date that the zone skips has no window.
 * An hour begins when the local clock reads HH:00 or jumps forward past an HH:00: an hour that the clock shows twice is
 * two windows, an hour that it skips is none, and half an hour shown twice makes one longer window. Minutes are the same in every zone.
 */

/**
 * The IANA name of a time zone in its canonical case; null if there is no such zone. Aliases are kept, because zones with
 * the same rules today may differ later. Rejects offsets, and `SystemV/…`, which only ICU knows.
 */
export function timeZoneName(text: string): string | null {
  if (!/^(?!systemv\/)[a-z][a-z0-9_+/-]*$/i.test(text)) return null
  try {
    return zonedAt(text, 0).timeZoneId
  } catch {
    return null
  }
}

/** Whether two names are of one zone: `Europe/Kiev` is an older name of `Europe/Kyiv`. */
export function isSameZone(one: string, other: string): boolean {
  return zonedAt(one, 0).equals(zonedAt(other, 0))
}

/** An end, and the day of the month and the time of the day that it keeps to, such as `31T09:00:00`. */
export interface AnchoredEnd {
  end: EpochMs
  anchor: string
}

/**
 * An end that is a duration of ISO 8601 later by the calendar of a time zone. Extended by months and years again and again, it keeps to
 * the day and the time of the first end: from 31 January to 28 February, then to 31 March. A duration with weeks or days moves the day.
 *
 * @param anchor of the end before; null if there is none. It counts as long as the end is where the anchor has it.
 */
export function extendEnd(end: EpochMs, anchor: string | null, duration: string, timeZone: string): AnchoredEnd {
  const own = zonedAt(timeZone, end)
  const { day, time } = (anchor === null ? null : anchorOf(anchor, own)) ?? { day: own.day, time: own.toPlainTime() }
  const { years, months, weeks, days } = Temporal.Duration.from(duration)
  // A month that is too short for the day has its last one instead.
  const month = own.toPlainDate().toPlainYearMonth().add({ years, months })
  const date = month.toPlainDate({ day }).add({ weeks, days })
  const kept = weeks + days === 0 ? day : date.day
  return {
    end: date.toZonedDateTime({ timeZone, plainTime: time }).epochMilliseconds,
    anchor: `${String(kept).padStart(2, '0')}T${time}`,
  }
}

/** The parts of an anchor; null if the end is not on it. */
function anchorOf(anchor: string, end: Temporal.ZonedDateTime): { day: number; time: Temporal.PlainTime } | null {
  const [day, time] = [Number(anchor.slice(0, 2)), Temporal.PlainTime.from(anchor.slice(2))]
  const date = end.toPlainDate().with({ day })
  const anchored = date.toZonedDateTime({ timeZone: end.timeZoneId, plainTime: time })
  return anchored.epochMilliseconds === end.epochMilliseconds ? { day, time } : null
}

/** A day, or a time without an offset. A leap second would be read as the second before. */
const LOCAL_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::[0-5]\d(?:\.\d{1,9})?)?)?$/

/** Whether a text is a day or a time without an offset, from 1970 in each time zone. */
export function isLocalTime(text: string): boolean {
  if (!LOCAL_TIME.test(text) || text < '1970-01-02') return false
  try {
    return Temporal.PlainDateTime.from(text) !== undefined
  } catch {
    return false
  }
}

/** When the clocks of a time zone show a local time; a day begins at midnight. West of Greenwich, 9999 ends after the last timestamp. */
export function localTimestamp(text: string, timeZone: string): EpochMs {
  return Math.min(LATEST, Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).epochMilliseconds)
}

/** The year and month of a time by the calendar of a time zone: 2026-03. */
export function monthIn(timeZone: string, at: EpochMs): string {
  return zonedAt(timeZone, at).toPlainDate().toPlainYearMonth().toString()
}

/** The anchor of a period whose windows begin on the day of `at` in a time zone; null if they cannot. */
export function anchorAt(period: Period | null, timeZone: string, at: EpochMs): string | null {
  return anchorOn(period, zonedAt(timeZone, at).toPlainDate())
}

/** The first boundary after `at`. */
export function nextBoundary(calendar: Calendar, at: EpochMs): EpochMs {
  return windowAt(calendar, at).end
}

/** The last boundary at or before `at`. */
export function lastBoundary(calendar: Calendar, at: EpochMs): EpochMs {
  return windowAt(calendar, at).start
}

/** The number of boundaries in (`from`, `to`]. The cost grows with the zone's clock changes in between. */
export function boundariesBetween(calendar: Calendar, from: EpochMs, to: EpochMs): number {
  const key = `${keyOf(calendar)} ${from}`
  const { start } = windowAt(calendar, to)
  const counted = lastCounted.get(key)
  if (counted?.start === start && from < start) return counted.count
  const count = countBoundaries(calendar, from, to)
  if (lastCounted.size >= MAX_CACHED) lastCounted.clear()
  lastCounted.set(key, { start, count })
  return count
}

/** A cache of the boundaries between a time and the start of a later window: an idle quota is rolled at each read. */
const lastCounted = new Map<string, { start: EpochMs; count: number }>()

/** The same for calendars that have the same boundaries by their fields. */
export function keyOf({ period, anchor, time_zone }: Calendar): string {
  return anchor === null ? `${period} ${time_zone}` : `${period} ${anchor} ${time_zone}`
}

function countBoundaries(calendar: Calendar, from: EpochMs, to: EpochMs): number {
  if (to < nextBoundary(calendar, from)) return 0
  const { period, time_zone: timeZone } = calendar
  if (period === 'minute') return minuteOf(to) - minuteOf(from)
  const windows = dateWindowsOf(calendar)
  if (windows === null) return hoursBetween(timeZone, from, to)
  const [first, last] = [lastBoundary(calendar, from), lastBoundary(calendar, to)]
  const count = windows.numberAt(dateAt(timeZone, last)) - windows.numberAt(dateAt(timeZone, first))
  return period === 'day' ? count - datesSkipped(timeZone, from, to) : count
}

interface Window {
  start: EpochMs
  end: EpochMs
}

/** A cache of the last window found for each calendar: most calls concern the current time. */
const lastFound = new Map<string, Window>()
const MAX_CACHED = 4096

function windowAt(calendar: Calendar, at: EpochMs): Window {
  if (calendar.period === 'minute') return { start: minuteOf(at) * MINUTE_MS, end: (minuteOf(at) + 1) * MINUTE_MS }
  const key = keyOf(calendar)
  const cached = lastFound.get(key)
  if (cached !== undefined && cached.start <= at && at < cached.end) return cached
  const windows = dateWindowsOf(calendar)
  const found = windows === null ? hourAt(calendar.time_zone, at) : datesAt(windows, calendar.time_zone, at)
  if (lastFound.size >= MAX_CACHED) lastFound.clear()
  lastFound.set(key, found)
  return found
}

const minuteOf = (at: EpochMs) => Math.floor(at / MINUTE_MS)

function datesAt(windows: DateWindows, timeZone: string, at: EpochMs): Window {
  let number = windows.numberAt(dateAt(timeZone, at))
  let end = firstInstant(timeZone, windows.firstDate(number + 1))
  // A clock set back just after midnight shows the previous date again, in a day that has begun (America/St_Johns, 00:01).
  while (end <= at) {
    number++
    end = firstInstant(timeZone, windows.firstDate(number + 1))
  }
  return { start: firstInstant(timeZone, windows.firstDate(number)), end }
}

/** The date that the zone's clock shows, in days since 1970-01-01. */
function dateAt(timeZone: string, at: EpochMs): number {
  return Math.floor((at + offsetAt(timeZone, at)) / DAY_MS)
}

/** When a date begins; for a date that the zone skips, when the next one begins. */
function firstInstant(timeZone: string, date: number): EpochMs {
  return new Temporal.PlainDate(1970, 1, 1).add({ days: date }).toZonedDateTime(timeZone).epochMilliseconds
}

function datesSkipped(timeZone: string, from: EpochMs, to: EpochMs): number {
  let skipped = 0
  let change = nextChange(timeZone, from, to)
  while (change !== null) {
    const before = zonedAt(timeZone, change - 1).toPlainDate()
    const after = zonedAt(timeZone, change).toPlainDate()
    skipped += Math.max(0, before.until(after).days - 1)
    change = nextChange(timeZone, change, to)
  }
  return skipped
}

function hourAt(timeZone: string, at: EpochMs): Window {
  return { start: lastHour(timeZone, at), end: nextHour(timeZone, at) }
}

function nextHour(timeZone: string, at: EpochMs): EpochMs {
  let from = at
  while (true) {
    const offset = offsetAt(timeZone, from)
    const mark = floorHour(from + offset) + HOUR_MS - offset
    const change = nextChange(timeZone, from, mark)
    if (change === null) return mark
    if (isHourBoundary(timeZone, change)) return change
    from = change
  }
}

function lastHour(timeZone: string, at: EpochMs): EpochMs {
  let to = at
  while (true) {
    const offset = offsetAt(timeZone, to)
    const mark = floorHour(to + offset) - offset
    const change = nextChange(timeZone, mark, to)
    if (change === null) return mark
    if (isHourBoundary(timeZone, change)) return change
    to = change - 1
  }
}

function hoursBetween(timeZone: string, from: EpochMs, to: EpochMs): number {
  let count = 0
  let start = from
  while (true) {
    const offset = offsetAt(timeZone, start)
    const change = nextChange(timeZone, start, to)
    const end = change === null ? to : change - 1
    count += (floorHour(end + offset) - floorHour(start + offset)) / HOUR_MS
    if (change === null) return count
    if (isHourBoundary(timeZone, change)) count += 1
    start = change
  }
}

/** Whether an hour window begins at a clock change: the clock then reads HH:00, or jumped past an HH:00. */
function isHourBoundary(timeZone: string, change: EpochMs): boolean {
  const before = change + offsetAt(timeZone, change - 1)
  const after = change + offsetAt(timeZone, change)
  const mark = floorHour(after)
  return mark === after || mark >= before
}

/** The first change of the zone's offset after `after` and not after `until`. */
export function nextChange(timeZone: string, after: EpochMs, until: EpochMs): EpochMs | null {
  // No zone ever changed its clock twice within an hour, and comparing offsets is far cheaper than a search.
  if (until - after <= HOUR_MS && offsetAt(timeZone, after) === offsetAt(timeZone, until)) return null
  let from = after
  while (from < until) {
    const change = zonedAt(timeZone, from).getTimeZoneTransition('next')?.epochMilliseconds
    if (change !== undefined) return change <= until ? change : null
    from += MIN_SEARCH_MS
  }
  return null
}

/** A span that every search covers: the polyfill stops three years after the later of now and the search's start. */
const MIN_SEARCH_MS = 1000 * DAY_MS

/** Milliseconds that the zone's clock is ahead of UTC. */
export function offsetAt(timeZone: string, at: EpochMs): number {
  return zonedAt(timeZone, at).offsetNanoseconds / 1e6
}

/** @param clock local time in milliseconds: an epoch timestamp plus the zone's offset */
export function floorHour(clock: number): number {
  return Math.floor(clock / HOUR_MS) * HOUR_MS
}

function zonedAt(timeZone: string, at: EpochMs): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone)
}
