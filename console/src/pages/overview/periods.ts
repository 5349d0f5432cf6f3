import { HOUR_MS } from '../../../../src/domain/time.ts'

/** The stretches of time that the overview tells of, by the viewer's clock and calendar. Usage is kept by quarters of an hour. */

const QUARTER_MS = 900_000
export interface Stretch {
  from: string
  /** Not included. */
  to: string
}

export const VIEWERS_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** From a midnight so many days ago to the end of the quarter of an hour that is under way. */
export function daysUntilNow(daysBack: number, now: Date): Stretch {
  return stretch(midnight(now, -daysBack), quarterAfter(now))
}

/** All of yesterday. */
export function yesterday(now: Date): Stretch {
  return stretch(midnight(now, -1), midnight(now))
}

/** As much of yesterday as there has been of today, by the clock on the wall. */
export function yesterdayUntilNow(now: Date): Stretch {
  const end = quarterAfter(now)
  const until = new Date(end)
  until.setDate(end.getDate() - 1)
  return stretch(midnight(now, -1), until)
}

/** The last hour: from the quarter of an hour in which it began. */
export function lastHour(now: Date): Stretch {
  return stretch(new Date(quarterOf(now.getTime() - HOUR_MS)), quarterAfter(now))
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

function stretch(from: Date, to: Date): Stretch {
  return { from: from.toISOString(), to: to.toISOString() }
}
