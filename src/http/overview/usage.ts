import { MAX_SHOWN } from '../../contract/overview.ts'
import type { Database } from '../../db/connection/database.ts'
import { sumTotals } from '../../db/usage/of-all.ts'
import { MAX_USAGE_ROWS, USAGE_BUCKET_MS } from '../../domain/basics/bounds.ts'
import { isUnusual, USUAL_DAYS } from '../../domain/forecasts/unusual-traffic.ts'
import { isPausedForAll, type PausesByCountry } from '../../domain/pauses/pause.ts'
import { plainCalendar } from '../../domain/time/period.ts'
import { DAY_MS, type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import { lastBoundary } from '../../domain/time/window.ts'
import { usageBucketOf } from '../../domain/units/usage.ts'
import { intervalStartsOf } from '../usage/requests.ts'
import { countsOf, totalOf } from '../usage/responses.ts'

/** The current quarter of an hour counts. */
const endOf = (at: EpochMs) => usageBucketOf(at) + USAGE_BUCKET_MS

/** The usage of all users today and yesterday, by the hour of a time zone: one statement. */
export async function usageOf(db: Database, timeZone: string, at: EpochMs) {
  const calendar = plainCalendar('day', timeZone)
  const to = endOf(at)
  const today = lastBoundary(calendar, at)
  const yesterday = lastBoundary(calendar, today - 1)
  const hours = intervalStartsOf('hour', timeZone, { from: yesterday, to })
  // As much of yesterday as there is of today, and all of it at most.
  const until = Math.min(yesterday + to - today, today)
  const starts = [...new Set([...hours, until])].toSorted((one, other) => one - other)
  const rows = (await sumTotals(db, { starts, to }, undefined, MAX_USAGE_ROWS)).map(row => ({
    ...row,
    start: starts[row.interval] ?? to,
  }))
  const sumOf = (from: EpochMs, end: EpochMs) => totalOf(rows.filter(({ start }) => start >= from && start < end))
  const byHour = (from: EpochMs, end: EpochMs) =>
    hours.flatMap((start, index) => {
      if (start < from || start >= end) return []
      const { committed, denied } = sumOf(start, hours[index + 1] ?? to)
      return [{ start: formatTimestamp(start), sent: committed, denied }]
    })
  return {
    time_zone: timeZone,
    total: countsOf(sumOf(today, to)),
    before: { until: formatTimestamp(until), sent: sumOf(yesterday, until).committed },
    today: byHour(today, to),
    yesterday: byHour(yesterday, today),
  }
}

/** Units asked for by country, denied ones included. */
type ByCountry = ReadonlyMap<string, { asked: number; denied: number }>

/** What was asked for in the 7 days before the last 24 hours. */
export const readUsualDays = (db: Database, at: EpochMs): Promise<ByCountry> =>
  readCountries(db, endOf(at) - (USUAL_DAYS + 1) * DAY_MS, endOf(at) - DAY_MS)

/** Countries with far more messages in the last 24 hours than usual, most first, but for those to which all are paused. */
export async function unusualCountries(db: Database, at: EpochMs, before: ByCountry, pauses: PausesByCountry) {
  const day = await readCountries(db, endOf(at) - DAY_MS, endOf(at))
  const unusual = [...day]
    .map(([country, sums]) => ({ country, ...sums, usual: (before.get(country)?.asked ?? 0) / USUAL_DAYS }))
    .filter(destination => isUnusual(destination) && !isPausedForAll(pauses, destination.country, at))
    .toSorted((one, other) => other.asked - one.asked)
  return { unusual: unusual.length, items: unusual.slice(0, MAX_SHOWN) }
}

async function readCountries(db: Database, from: EpochMs, to: EpochMs): Promise<ByCountry> {
  const rows = await sumTotals(db, { starts: [from], to }, 'country', MAX_USAGE_ROWS)
  return new Map(
    rows.flatMap(({ key, committed, denied }) =>
      typeof key === 'string' ? [[key, { asked: committed + denied, denied }] as const] : [],
    ),
  )
}
