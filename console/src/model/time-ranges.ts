import { DAY_MS, HOUR_MS } from '../../../src/domain/time/time.ts'

/** Time ranges in the user's time zone. The service stores usage per 15 minutes, so those of the overview end on these. */

const QUARTER_MS = 900_000

export interface TimeRange {
  from: string
  /** Exclusive. */
  to: string
}

/** From midnight `daysBack` days ago to the end of the current 15 minutes. */
export function daysUntilNow(daysBack: number, now: Date): TimeRange {
  return timeRange(midnight(now, -daysBack), quarterAfter(now))
}

/** The last 24 hours, from the start of their first hour. */
export function lastDay(now: Date): TimeRange {
  const from = new Date(now.getTime() - 23 * HOUR_MS)
  from.setMinutes(0, 0, 0)
  return timeRange(from, quarterAfter(now))
}

/** The last hour, from the start of its first whole quarter: never more than an hour. */
export function lastHour(now: Date): TimeRange {
  const to = quarterAfter(now)
  return timeRange(new Date(to.getTime() - HOUR_MS), to)
}

/** The 7 days before the last 24 hours. */
export function weekBefore(now: Date): TimeRange {
  const to = new Date(lastDay(now).from)
  return timeRange(new Date(to.getTime() - 7 * DAY_MS), to)
}

/** Whole days that lists offer as filters. Weeks begin on Mondays. */
export const DAY_RANGES = ['today', 'yesterday', 'last7Days', 'lastWeek', 'thisMonth'] as const
export type DayRange = (typeof DAY_RANGES)[number]

const RANGES: Readonly<Record<DayRange, (now: Date) => TimeRange>> = {
  today: now => timeRange(midnight(now), midnight(now, 1)),
  yesterday: now => timeRange(midnight(now, -1), midnight(now)),
  last7Days: now => timeRange(midnight(now, -6), midnight(now, 1)),
  lastWeek: now => {
    const monday = -((now.getDay() + 6) % 7)
    return timeRange(midnight(now, monday - 7), midnight(now, monday))
  },
  thisMonth: now =>
    timeRange(new Date(now.getFullYear(), now.getMonth()), new Date(now.getFullYear(), now.getMonth() + 1)),
}

export const dayRange = (name: DayRange, now: Date): TimeRange => RANGES[name](now)

/** The name of a range; null if it is another one. */
export function dayRangeOf({ from, to }: { from: string | null; to: string | null }, now: Date): DayRange | null {
  return (
    DAY_RANGES.find(name => {
      const range = dayRange(name, now)
      return range.from === from && range.to === to
    }) ?? null
  )
}

/** From the quarter of an hour in which one time lies to the end of the one before another. */
export function wholeQuarters(from: string, to: string): TimeRange {
  return timeRange(new Date(quarterOf(Date.parse(from))), quarterAfter(new Date(Date.parse(to) - 1)))
}

function midnight(now: Date, days = 0): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days)
}

function quarterAfter(now: Date): Date {
  return new Date(quarterOf(now.getTime()) + QUARTER_MS)
}

function quarterOf(at: number): number {
  return Math.floor(at / QUARTER_MS) * QUARTER_MS
}

function timeRange(from: Date, to: Date): TimeRange {
  return { from: from.toISOString(), to: to.toISOString() }
}
