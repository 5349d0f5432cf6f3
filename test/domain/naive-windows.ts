import type { Calendar, Period } from '../../src/domain/time/period.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'

/**
 * A naive model of calendar windows, independent of Temporal and of the code under test: it reads the zone's clock
 * second by second. It skips spans without a boundary, so that a year takes milliseconds.
 */
const SECOND = 1000
const DAY = 24 * HOUR_MS
const STRIDES = [DAY, HOUR_MS, 60 * SECOND, SECOND]

/** The boundaries in (`from`, `to`]. */
export function naiveBoundaries(calendar: Calendar, from: number, to: number): number[] {
  const found: number[] = []
  const { period, time_zone: timeZone } = calendar
  const labelOf = labelsOf(calendar)
  if (period === 'minute') return naiveMinutes(from, to)
  const isBegin = period === 'hour' ? hourBegins(timeZone) : newDateBegins(labelOf, timeZone)

  const watch = (start: number, end: number, [stride = SECOND, ...smaller]: number[]) => {
    let clock = clockAt(timeZone, start)
    for (let at = start; at < end; at += stride) {
      const next = Math.min(at + stride, end)
      const before = clock
      clock = clockAt(timeZone, next)
      const quiet = clock - before === next - at && labelOf(clock) === labelOf(before)
      if (quiet) continue
      if (stride > SECOND) watch(at, next, smaller)
      else if (isBegin(next)) found.push(next)
    }
  }
  const start = Math.floor(from / SECOND) * SECOND
  // Two days earlier, so that a date counts as begun even when the clock shows the previous date again.
  const lead = period === 'hour' ? 0 : 2 * DAY
  isBegin(start - lead)
  watch(start - lead, Math.floor(to / SECOND) * SECOND, STRIDES)
  return found.filter(at => at > from)
}

/** Minutes are those of UTC: the clocks of zones differ by whole ones, since 1972. */
function naiveMinutes(from: number, to: number): number[] {
  const found: number[] = []
  for (let at = Math.ceil(from / SECOND) * SECOND; at <= to; at += SECOND)
    if (at > from && at % (60 * SECOND) === 0) found.push(at)
  return found
}

/** Whether an hour begins at a second: the clock shows HH:00:00, or jumped forward past it. */
function hourBegins(timeZone: string): (at: number) => boolean {
  return at => {
    const now = clockAt(timeZone, at)
    const before = clockAt(timeZone, at - SECOND)
    const jumped = now - before > SECOND && LABELS.hour(now) > LABELS.hour(before)
    return now % HOUR_MS === 0 || jumped
  }
}

/** Called for each second in order: whether the calendar shows a later period of dates than ever before. */
function newDateBegins(labelOf: Label, timeZone: string): (at: number) => boolean {
  let latest = Number.NEGATIVE_INFINITY
  return at => {
    const label = labelOf(clockAt(timeZone, at))
    if (label <= latest) return false
    latest = label
    return true
  }
}

/** A number that is the same for all local times of one period, written out for each without the table of the domain. */
const LABELS: Readonly<Record<Period, Label>> = {
  minute: clock => Math.floor(clock / (60 * SECOND)),
  hour: clock => Math.floor(clock / HOUR_MS),
  day: clock => Math.floor(clock / DAY),
  week: clock => Math.floor((clock / DAY + 3) / 7),
  month: clock => yearOf(clock) * 12 + new Date(clock).getUTCMonth(),
  year: yearOf,
}
type Label = (clock: number) => number

/** With an anchor, the days of a month or year before its own first day belong to the one before. */
function labelsOf({ period, anchor }: Calendar): Label {
  if (anchor === null) return LABELS[period]
  if (period === 'month') return clock => LABELS.month(clock) - (dayOf(clock) < firstDay(clock, Number(anchor)) ? 1 : 0)
  const [month = 0, day = 0] = anchor.split('-').map(Number)
  return clock => {
    const own = new Date(clock).getUTCMonth() + 1
    const isBefore = own < month || (own === month && dayOf(clock) < firstDay(clock, day))
    return yearOf(clock) - (isBefore ? 1 : 0)
  }
}

const dayOf = (clock: number) => new Date(clock).getUTCDate()

/** The day on which a month or year begins that begins in the month of the clock: its last, if the month is shorter. */
function firstDay(clock: number, day: number): number {
  const leap = yearOf(clock) % 4 === 0 && (yearOf(clock) % 100 !== 0 || yearOf(clock) % 400 === 0)
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][new Date(clock).getUTCMonth()] ?? 0
  return Math.min(day, days)
}

function yearOf(clock: number): number {
  return new Date(clock).getUTCFullYear()
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** The local date and time of a zone, to the second, as if it were UTC. */
export function clockAt(timeZone: string, at: number): number {
  let clock = clocks.get(timeZone)
  if (clock === undefined) {
    const two = '2-digit'
    const fields = { year: 'numeric', month: two, day: two, hour: two, minute: two, second: two } as const
    clock = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...fields })
    clocks.set(timeZone, clock)
  }
  const shown = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/.exec(clock.format(at))
  if (shown === null) throw new Error(`cannot read the clock of ${timeZone}`)
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = shown.slice(1).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
