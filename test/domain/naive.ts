import { HOUR_MS } from '../../src/domain/time.ts'
import type { Period } from '../../src/domain/window.ts'

/**
 * A second opinion on calendar windows, as literal as can be: it watches a clock in the zone second by second
 * and knows nothing of Temporal nor of the code under test. Stretches in which nothing can happen are leapt over, so
 * that a year takes milliseconds.
 */
const SECOND = 1000
const DAY = 24 * HOUR_MS
const LEAPS = [DAY, HOUR_MS, 60 * SECOND, SECOND]

/** The boundaries after `from` and not after `to`. */
export function naiveBoundaries(period: Period, timeZone: string, from: number, to: number): number[] {
  const found: number[] = []
  const isBegin = period === 'hour' ? hourBegins(timeZone) : newDateBegins(period, timeZone)

  const watch = (start: number, end: number, [leap = SECOND, ...smaller]: number[]) => {
    let clock = clockAt(timeZone, start)
    for (let at = start; at < end; at += leap) {
      const next = Math.min(at + leap, end)
      const before = clock
      clock = clockAt(timeZone, next)
      const quiet = clock - before === next - at && labelOf(period, clock) === labelOf(period, before)
      if (quiet) continue
      if (leap > SECOND) watch(at, next, smaller)
      else if (isBegin(next)) found.push(next)
    }
  }
  const start = Math.floor(from / SECOND) * SECOND
  // Two days more, so that a day which has begun is known to have when the clock shows the day before again.
  const lead = period === 'hour' ? 0 : 2 * DAY
  isBegin(start - lead)
  watch(start - lead, Math.floor(to / SECOND) * SECOND, LEAPS)
  return found.filter(at => at > from)
}

/** Read at each second: the clock shows HH:00:00, or has leapt forward past it. */
function hourBegins(timeZone: string): (at: number) => boolean {
  return at => {
    const now = clockAt(timeZone, at)
    const before = clockAt(timeZone, at - SECOND)
    const leapt = now - before > SECOND && labelOf('hour', now) > labelOf('hour', before)
    return now % HOUR_MS === 0 || leapt
  }
}

/** Read at each second in turn: the calendar shows a later day, week, month or year than ever before. */
function newDateBegins(period: Period, timeZone: string): (at: number) => boolean {
  let latest = Number.NEGATIVE_INFINITY
  return at => {
    const label = labelOf(period, clockAt(timeZone, at))
    if (label <= latest) return false
    latest = label
    return true
  }
}

/** A number that all moments of the same hour, day, week, month or year on the wall share. */
function labelOf(period: Period, clock: number): number {
  const wall = new Date(clock)
  if (period === 'hour') return Math.floor(clock / HOUR_MS)
  if (period === 'day') return Math.floor(clock / DAY)
  if (period === 'week') return Math.floor((clock / DAY + 3) / 7)
  if (period === 'month') return wall.getUTCFullYear() * 12 + wall.getUTCMonth()
  return wall.getUTCFullYear()
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** What a clock and a calendar on the wall show, to the second, as if it were UTC. */
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
