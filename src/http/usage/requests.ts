import type { AdminUsageQuery, TopUsersQuery } from '../../contract/usage.ts'
import type { UsageFilter } from '../../db/usage/sums.ts'
import { MAX_TOP_USERS_DAYS, MAX_USAGE_INTERVALS, USAGE_BUCKET_MS } from '../../domain/basics/bounds.ts'
import { plainCalendar } from '../../domain/time/period.ts'
import { DAY_MS, type EpochMs, LATEST } from '../../domain/time/time.ts'
import { nextBoundary } from '../../domain/time/window.ts'
import { usageBucketOf } from '../../domain/units/usage.ts'
import { invalidRequest } from '../../errors.ts'
import { timestampOf } from '../platform/formats.ts'

/** The period [from, to) that a report reads: on quarters of an hour. */
interface ReportPeriod {
  from: EpochMs
  to: EpochMs
}

/** Whether it is longer than what was asked for. */
type RoundedPeriod = ReportPeriod & { rounded: boolean }

/** The last quarter of an hour that has a timestamp. */
const LAST_QUARTER = usageBucketOf(LATEST)

/** @throws Problem `invalid_request` if the period is empty */
export function periodOf(query: { from: string; to: string }): RoundedPeriod {
  const asked = { from: timestampOf(query.from), to: timestampOf(query.to) }
  if (asked.to <= asked.from) throw invalidRequest([{ path: 'to', message: 'must be after from' }])
  const from = Math.min(usageBucketOf(asked.from), LAST_QUARTER - USAGE_BUCKET_MS)
  const to = Math.min(usageBucketOf(asked.to + USAGE_BUCKET_MS - 1), LAST_QUARTER)
  return { from, to, rounded: from !== asked.from || to !== asked.to }
}

/** The period of a report over all users, which is shorter. @throws Problem `invalid_request` */
export function topUsersPeriodOf(query: { from: string; to: string }): RoundedPeriod {
  const period = periodOf(query)
  // What rounding adds is less than this.
  if (period.to - period.from >= MAX_TOP_USERS_DAYS * DAY_MS + 2 * USAGE_BUCKET_MS) {
    throw invalidRequest([{ path: 'to', message: `must be within ${MAX_TOP_USERS_DAYS} days after from` }])
  }
  return period
}

type Query = Omit<AdminUsageQuery, 'user_id'>

/** What a report selects. A filter that the database does not have is a type error here. */
export function filterOf({
  from: _from,
  to: _to,
  interval: _interval,
  time_zone: _zone,
  group_by: _group,
  ...filter
}: Query) {
  return filter satisfies Pick<UsageFilter, keyof typeof filter>
}

/** What a list of the top users selects. */
export function topUsersFilterOf({ from: _from, to: _to, limit: _limit, ...filter }: TopUsersQuery) {
  return filter satisfies Pick<UsageFilter, keyof typeof filter>
}

/**
 * The start of each interval. The first is the start of the period, the others are calendar boundaries in the time zone.
 * @throws Problem `invalid_request` if there are too many
 */
export function intervalStartsOf(
  interval: AdminUsageQuery['interval'],
  timeZone: string,
  { from, to }: ReportPeriod,
): EpochMs[] {
  const starts: EpochMs[] = []
  const calendar = plainCalendar(interval, timeZone)
  for (let start = from; start < to; start = nextBoundary(calendar, start)) {
    if (starts.length === MAX_USAGE_INTERVALS) {
      const message = `gives more than ${MAX_USAGE_INTERVALS} intervals: ask for a shorter period or longer ones`
      throw invalidRequest([{ path: 'interval', message }])
    }
    starts.push(start)
  }
  return starts
}
