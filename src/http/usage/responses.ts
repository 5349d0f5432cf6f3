import type { AdminUsageQuery, TopUsersQuery } from '../../contract/usage.ts'
import type { Queryable } from '../../db/database.ts'
import { sumUsage, topUsers, type UsageSums } from '../../db/usage-sums.ts'
import { MAX_TOP_USERS_DAYS, MAX_USAGE_INTERVALS, MAX_USAGE_ROWS } from '../../domain/bounds.ts'
import { DAY_MS, type EpochMs, formatTimestamp, parseTimestamp } from '../../domain/time.ts'
import type { UsageGroup } from '../../domain/usage.ts'
import { USAGE_BUCKET_MS } from '../../domain/usage.ts'
import { nextBoundary, timeZoneName } from '../../domain/window.ts'
import { invalidRequest, type ValidationIssue } from '../../errors.ts'

const GROUP_FIELD = { user: 'user_id', quota: 'quota_id', country: 'country', message_type: 'message_type' } as const

/** Answers a report of usage: of one user, or of all where none is named. */
export async function usageReport(db: Queryable, query: Omit<AdminUsageQuery, 'user_id'>, userId: number | undefined) {
  const { from, to } = periodOf(query)
  const { interval, group_by: group } = query
  const timeZone = timeZoneName(query.time_zone ?? 'UTC') ?? 'UTC'
  const starts = startsOf(interval, timeZone, from, to)
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
        ...countsOf(known.get(`${index} ${JSON.stringify(key)}`) ?? NOTHING),
      })),
    ),
  }
}

/** Answers who committed most. */
export async function topUsersReport(db: Queryable, query: TopUsersQuery) {
  const { from, to } = periodOf(query)
  if (to - from > MAX_TOP_USERS_DAYS * DAY_MS)
    throw invalidRequest([{ path: 'to', message: `must be within ${MAX_TOP_USERS_DAYS} days after from` }])
  const users = await topUsers(db, from, to, query.limit ?? 10)
  return {
    from: formatTimestamp(from),
    to: formatTimestamp(to),
    items: users.map(({ user_id, ...sums }) => ({ user_id, ...countsOf(sums) })),
  }
}

function periodOf(query: { from: string; to: string }): { from: EpochMs; to: EpochMs } {
  const from = parseTimestamp(query.from) ?? Number.NaN
  const to = parseTimestamp(query.to) ?? Number.NaN
  const issues: ValidationIssue[] = Object.entries({ from, to })
    .filter(([, at]) => at % USAGE_BUCKET_MS !== 0)
    .map(([path]) => ({ path, message: 'must be on a quarter of an hour (minutes 00, 15, 30 or 45)' }))
  if (to <= from) issues.push({ path: 'to', message: 'must be after from' })
  if (issues.length > 0) throw invalidRequest(issues)
  return { from, to }
}

/** Where the intervals begin. The first begins with the period, wherever the calendar stands then. */
function startsOf(interval: AdminUsageQuery['interval'], timeZone: string, from: EpochMs, to: EpochMs): EpochMs[] {
  const starts: EpochMs[] = []
  for (let start = from; start < to; start = nextBoundary(interval, timeZone, start)) {
    if (starts.length === MAX_USAGE_INTERVALS) {
      const message = `gives more than ${MAX_USAGE_INTERVALS} intervals: ask for a shorter period or longer ones`
      throw invalidRequest([{ path: 'interval', message }])
    }
    starts.push(start)
  }
  return starts
}

const NOTHING: UsageSums = {
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
  const total = { ...NOTHING }
  for (const row of rows) {
    for (const name of Object.keys(NOTHING) as (keyof UsageSums)[]) total[name] += row[name]
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

/** By number or letter; null, which is none of them, last. */
function byKey(one: number | string | null, other: number | string | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return one < other ? -1 : 1
}
