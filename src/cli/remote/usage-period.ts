import { Temporal } from 'temporal-polyfill'
import type { Option } from '../arguments.ts'
import type { Terminal } from '../terminal.ts'
import type { Request } from './fields.ts'

const QUARTER_MS = 15 * 60_000
const DAYS = 7

/** The options whose defaults are not those of the service. */
export const PERIOD_OPTIONS: Readonly<Record<string, Partial<Option>>> = {
  from: { means: 'inclusive, on a quarter of an hour; default six days ago at midnight' },
  to: { means: 'exclusive, on a quarter of an hour; default now' },
  interval: { means: 'one row per hour, day, week or month; default day' },
  'time-zone': { means: 'the IANA time zone in which days begin; default that of this machine' },
}

/** What a report of usage leaves out: the last seven days of the time zone, today included, by the day. */
export function lastSevenDays(request: Request, { now, timeZone }: Pick<Terminal, 'now' | 'timeZone'>): Request {
  const { time_zone: zone = timeZone } = request
  const current = now()
  const to = new Date(Math.ceil(current / QUARTER_MS) * QUARTER_MS).toISOString()
  const from = Temporal.Instant.fromEpochMilliseconds(current)
    .toZonedDateTimeISO(String(zone))
    .subtract({ days: DAYS - 1 })
    .startOfDay()
    .toInstant()
    .toString()
  return { from, to, interval: 'day', time_zone: zone, ...request }
}
