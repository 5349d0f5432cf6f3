import { requireKnown } from '../basics/unknown-value.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './time.ts'

/**
 * A minute, an hour of the clock, or whole dates: that many days of a week, which begins on Monday, or that many months of a year. An anchor
 * says where such months begin: on a day, or on a date of the year.
 */
type Length =
  | { unit: 'minute' | 'hour'; count: 1 }
  | { unit: 'day'; count: 1 | 7 }
  | { unit: 'month'; count: 1 | 2 | 3 | 4 | 6 | 12; anchor?: AnchorKind }

/** A day of the month, or a month and a day. */
export type AnchorKind = 'day' | 'date'

/**
 * The table of periods, in the order in which the API and the console name them. Boundaries, calendars, schemas and choices are made
 * from it; the console has the words for each (`texts/en/periods.ts`).
 */
const LENGTHS = {
  minute: { unit: 'minute', count: 1 },
  hour: { unit: 'hour', count: 1 },
  day: { unit: 'day', count: 1 },
  week: { unit: 'day', count: 7 },
  month: { unit: 'month', count: 1, anchor: 'day' },
  year: { unit: 'month', count: 12, anchor: 'date' },
} as const satisfies Readonly<Record<string, Length>>

/** The length of a window of a quota. */
export type Period = keyof typeof LENGTHS

const isPeriod = (name: string): name is Period => Object.hasOwn(LENGTHS, name)
export const PERIODS: readonly Period[] = Object.keys(LENGTHS).filter(isPeriod)

/** The periods of quotas of every kind: only a cap that counts each value by itself can be by the minute. */
export const COMMON_PERIODS: readonly Period[] = PERIODS.filter(period => period !== 'minute')

/** The settings that the boundaries of windows depend on. A quota with a period has one. */
export interface Calendar {
  readonly period: Period
  /** Where months or years begin; null: on the first, on 1 January. */
  readonly anchor: string | null
  readonly time_zone: string
}

/** A calendar whose months and years begin on the first. */
export const plainCalendar = (period: Period, timeZone: string): Calendar => ({
  period,
  anchor: null,
  time_zone: timeZone,
})

/** The calendar of a quota; null: it has one window only. */
export function calendarOf<Q extends { period: Period | null }>(quota: Q): (Q & { period: Period }) | null {
  return hasPeriod(quota) ? quota : null
}

const hasPeriod = <Q extends { period: Period | null }>(quota: Q): quota is Q & { period: Period } =>
  quota.period !== null

/** @throws UnknownValue for a period of a newer version: a search for its boundaries may not end */
export function lengthOf(period: Period): Length {
  return LENGTHS[requireKnown('a period', PERIODS, period)]
}

/** A month and a year of the Gregorian calendar are 365.25 / 12 and 365.25 days on average. */
const AVERAGE_MS = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS, month: (365.25 / 12) * DAY_MS }

export function averageMs(period: Period): number {
  const { unit, count } = lengthOf(period)
  return AVERAGE_MS[unit] * count
}
