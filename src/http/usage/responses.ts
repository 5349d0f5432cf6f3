import type { AdminUsageQuery, TopUsersQuery } from '../../contract/usage.ts'
import type { Queryable } from '../../db/database.ts'
import { sumUsage, topUsers, type UsageSums } from '../../db/usage-sums.ts'
import { MAX_USAGE_ROWS } from '../../domain/bounds.ts'
import { formatTimestamp } from '../../domain/time.ts'
import type { UsageGroup } from '../../domain/usage.ts'
import { timeZoneName } from '../../domain/window.ts'
import { invalidRequest } from '../../errors.ts'
import { intervalStartsOf, periodOf, topUsersPeriodOf } from './requests.ts'

const GROUP_FIELD = { user: 'user_id', quota: 'quota_id', country: 'country', message_type: 'message_type' } as const

/**
 * The usage of one user, or of all users if `userId` is undefined.
 * @throws Problem `invalid_request` if the report would be too large
 */
export async function usageReport(db: Queryable, query: Omit<AdminUsageQuery, 'user_id'>, userId: number | undefined) {
  const period = periodOf(query)
  const { from, to } = period
  const { interval, group_by: group } = query
  const timeZone = timeZoneName(query.time_zone ?? 'UTC') ?? 'UTC'
  const starts = intervalStartsOf(interval, timeZone, period)
  const rows = await sumUsage(db, userId, starts, to, group, MAX_USAGE_ROWS + 1)
  const keys = group === undefined ? [null] : [...new Set(rows.map(row => row.key))].sort(byKey)
  if (rows.length > MAX_USAGE_ROWS || keys.length * starts.length > MAX_USAGE_ROWS) {
    const message = `gives more than ${MAX_USAGE_ROWS} rows: ask for a shorter period or longer intervals`
    throw invalidRequest([{ path: 'group_by', message }])
  }
  const known = new Map(rows.map(row => [`${row.interval} ${JSON.stringify(row.key)}`, row]))
  return {
    from: formatTimestamp(from),
    to: formatTimestamp(to),
    interval,
    time_zone: timeZone,
    total: countsOf(totalOf(rows)),
    items: starts.flatMap((start, index) =>
      keys.map(key => ({
        start: formatTimestamp(start),
        end: formatTimestamp(starts[index + 1] ?? to),
        ...groupOf(group, key),
        ...countsOf(known.get(`${index} ${JSON.stringify(key)}`) ?? ZERO),
      })),
    ),
  }
}

/** The users with the most committed units. */
export async function topUsersReport(db: Queryable, query: TopUsersQuery) {
  const { from, to } = topUsersPeriodOf(query)
  const users = await topUsers(db, from, to, query.limit ?? 10)
  return {
    from: formatTimestamp(from),
    to: formatTimestamp(to),
    items: users.map(({ user_id, ...sums }) => ({ user_id, ...countsOf(sums) })),
  }
}

const ZERO: UsageSums = {
  committed: 0,
  committed_messages: 0,
  refunded: 0,
  refunded_messages: 0,
  unfunded: 0,
  unfunded_messages: 0,
  denied: 0,
  denied_messages: 0,
}

function totalOf(rows: readonly UsageSums[]): UsageSums {
  const total = { ...ZERO }
  for (const row of rows) {
    for (const name of Object.keys(ZERO) as (keyof UsageSums)[]) total[name] += row[name]
  }
  return total
}

function countsOf(sums: UsageSums) {
  return {
    committed: { units: sums.committed, messages: sums.committed_messages },
    refunded: { units: sums.refunded, messages: sums.refunded_messages },
    unfunded: { units: sums.unfunded, messages: sums.unfunded_messages },
    denied: { units: sums.denied, messages: sums.denied_messages },
  }
}

function groupOf(group: UsageGroup | undefined, key: number | string | null): Record<string, number | string | null> {
  return group === undefined ? {} : { [GROUP_FIELD[group]]: key }
}

/** Ascending; null last. */
function byKey(one: number | string | null, other: number | string | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return one < other ? -1 : 1
}
