import type { AdminUsageQuery, TopUsersQuery } from '../../contract/usage.ts'
import type { Database } from '../../db/connection/database.ts'
import { TOTAL_COUNTS, type UsageSums } from '../../db/usage/columns.ts'
import { compactedPeriods, sumByKey, sumSenders, sumTotals } from '../../db/usage/of-all.ts'
import {
  type Intervals,
  isFiltered,
  type OnRead,
  sumUsage,
  type UsageFilter,
  type UsageRow,
} from '../../db/usage/sums.ts'
import { topUsers } from '../../db/usage/top-users.ts'
import { MAX_USAGE_READ, MAX_USAGE_ROWS } from '../../domain/basics/bounds.ts'
import { type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import { timeZoneName } from '../../domain/time/window.ts'
import type { DenialReason } from '../../domain/units/reservation.ts'
import { cutTimestamps, USER_USAGE_GROUPS, type UsageGroup } from '../../domain/units/usage.ts'
import { invalidRequest } from '../../errors.ts'
import { giveWay, SLICE_ROWS } from '../platform/turns.ts'
import { filterOf, intervalStartsOf, periodOf, topUsersFilterOf, topUsersPeriodOf } from './requests.ts'

const GROUP_FIELD = {
  user: 'user_id',
  quota: 'quota_id',
  country: 'country',
  message_type: 'message_type',
  sender: 'sender',
} as const

/**
 * The usage of one user, or of all users if `userId` is undefined.
 * @param onRead gets the number of stored rows that the report has read
 * @throws Problem `invalid_request` if the report would be too large
 */
export async function usageReport(
  db: Database,
  query: Omit<AdminUsageQuery, 'user_id'>,
  userId: number | undefined,
  onRead: OnRead,
) {
  const period = periodOf(query)
  const { from, to, rounded } = period
  const { interval, group_by: group } = query
  const timeZone = timeZoneName(query.time_zone ?? 'UTC') ?? 'UTC'
  const starts = intervalStartsOf(interval, timeZone, period)
  const rows = await rowsOf(db, { starts, to }, { group, userId, filter: filterOf(query), onRead })
  // Read after the rows: a row that is compacted in between was read exactly, and shows as approximate.
  const cut = cutTimestamps([...starts, to], await compactedPeriods(db, { starts, to }))
  const keys = group === undefined ? [null] : [...new Set(rows.map(row => row.key))].sort(byKey)
  if (rows.length > MAX_USAGE_ROWS || keys.length * starts.length > MAX_USAGE_ROWS) {
    const message = `gives more than ${MAX_USAGE_ROWS} rows: ask for a shorter period or longer intervals`
    throw invalidRequest([{ path: 'group_by', message }])
  }
  return {
    from: formatTimestamp(from),
    to: formatTimestamp(to),
    rounded,
    interval,
    time_zone: timeZone,
    exact: !cut.has(from) && !cut.has(to),
    total: countsOf(totalOf(rows)),
    items: await itemsOf(rows, { starts, to }, { group, keys, cut }),
  }
}

/** A row for each interval and key. All that are without usage share their counts. */
async function itemsOf(
  rows: readonly UsageRow[],
  { starts, to }: Intervals,
  { group, keys, cut }: { group: UsageGroup | undefined; keys: UsageRow['key'][]; cut: ReadonlySet<EpochMs> },
) {
  const inInterval = Map.groupBy(rows, row => row.interval)
  const nothing = countsOf(ZERO)
  const items: object[] = []
  let untilTurn = SLICE_ROWS
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? to
    const known = new Map(inInterval.get(index)?.map(row => [row.key, row]))
    const exact = !cut.has(start) && !cut.has(end)
    const interval = { start: formatTimestamp(start), end: formatTimestamp(end), exact }
    for (const key of keys) {
      const sums = known.get(key)
      items.push({ ...interval, ...groupOf(group, key), ...(sums === undefined ? nothing : countsOf(sums)) })
    }
    if (items.length < untilTurn) continue
    untilTurn = items.length + SLICE_ROWS
    await giveWay()
  }
  return items
}

interface Asked {
  group: UsageGroup | undefined
  userId: number | undefined
  filter: UsageFilter
  onRead: OnRead
}

/** One row more than the maximum shows that there are too many. */
async function rowsOf(
  db: Database,
  intervals: Intervals,
  { group, userId, filter, onRead }: Asked,
): Promise<UsageRow[]> {
  const max = MAX_USAGE_ROWS + 1
  if (group === 'sender') {
    if (userId === undefined && !isFiltered(filter)) return sumSenders(db, intervals, max)
    const message = `is of all users and messages together: leave out user_id, country and message_type, or give ${USER_USAGE_GROUPS.join(', ')}`
    throw invalidRequest([{ path: 'group_by', message }])
  }
  if (userId !== undefined) return sumUsage(db, userId, intervals, group, max, filter, onRead)
  const totals = totalsOf(group, filter)
  if (totals !== null) {
    const rows = await sumTotals(db, intervals, totals.by, max, totals.key, onRead)
    return group === undefined ? rows.map(row => ({ ...row, key: null })) : rows
  }
  const rows = await sumByKey(db, intervals, group, max, MAX_USAGE_READ, filter, onRead)
  if (rows !== null) return rows
  const instead = group === 'user' ? ', or for the top users (/usage/top)' : ''
  const message = `reads more than ${MAX_USAGE_READ} rows of all users: name a user_id, ask for a shorter period${instead}`
  throw invalidRequest([{ path: 'group_by', message }])
}

/** The totals of all users that tell a report; null if they do not: each is of countries or of message types, and not of both. */
function totalsOf(group: UsageGroup | undefined, { country, message_type, ...others }: UsageFilter) {
  others satisfies Record<string, never>
  if (group === 'user' || group === 'quota') return null
  if (message_type === undefined && group !== 'message_type')
    return { by: group === 'country' || country !== undefined ? ('country' as const) : undefined, key: country }
  if (country === undefined && group !== 'country') return { by: 'message_type' as const, key: message_type }
  return null
}

/** The users with the most committed units. */
export async function topUsersReport(db: Database, query: TopUsersQuery) {
  const { from, to, rounded } = topUsersPeriodOf(query)
  const limit = query.limit ?? 10
  const { users, unlistedUpTo } = await topUsers(db, from, to, limit, topUsersFilterOf(query))
  const cut = cutTimestamps([from, to], await compactedPeriods(db, { starts: [from], to }))
  const last = users.length < limit ? 0 : (users.at(-1)?.committed ?? 0)
  return {
    from: formatTimestamp(from),
    to: formatTimestamp(to),
    rounded,
    exact: cut.size === 0,
    complete: unlistedUpTo <= last,
    unlisted_up_to: unlistedUpTo,
    items: users.map(({ user_id, ...sums }) => ({ user_id, ...countsOf(sums) })),
  }
}

const ZERO = Object.fromEntries(TOTAL_COUNTS.map(name => [name, 0])) as UsageSums

/** The sum of rows. */
export function totalOf(rows: readonly UsageSums[]): UsageSums {
  const total = { ...ZERO }
  for (const row of rows) for (const name of TOTAL_COUNTS) total[name] += row[name]
  return total
}

/** Sums as the API shows them. */
export function countsOf(sums: UsageSums) {
  const countOf = (name: 'committed' | 'refunded' | 'unfunded' | 'denied' | DenialReason) => ({
    units: sums[name],
    messages: sums[`${name}_messages`],
  })
  return {
    committed: countOf('committed'),
    committed_segments: sums.committed_segments,
    verified_messages: sums.verified_messages,
    refunded: countOf('refunded'),
    unfunded: countOf('unfunded'),
    denied: countOf('denied'),
    denied_by_reason: {
      no_quota: countOf('no_quota'),
      destination_paused: countOf('destination_paused'),
      cap_reached: countOf('cap_reached'),
      quota_exhausted: countOf('quota_exhausted'),
    } satisfies Record<DenialReason, object>,
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
