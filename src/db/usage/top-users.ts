import { MAX_USAGE_READ } from '../../domain/basics/bounds.ts'
import { SHARDS, shardOf } from '../../domain/basics/shard.ts'
import { DAY_MS, type EpochMs } from '../../domain/time/time.ts'
import type { Database, SqlValue, Store, Transaction } from '../connection/database.ts'
import { type Sql, sql } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { entriesOf, REPORTED, type UsageSums } from './columns.ts'
import { countRowsOfAll, rowsOfAll, sumTotals } from './of-all.ts'
import { isFiltered, type UsageFilter, usageOf, whereClauseOf } from './sums.ts'

export interface TopUsers {
  /** Users who committed units in the period, most units first. */
  users: (UsageSums & { user_id: number })[]
  /** No user who is missing committed more units than this. */
  unlistedUpTo: number
}

/** A user who may be among the top ones, and the most units that the user can have committed. */
interface Candidate {
  user_id: number
  most: number
}

/**
 * The most that each user can have committed on the days of the period: what the lists of the top users say, with what
 * each list missed, and what is not rolled up yet. Only users who are in a list or not rolled up.
 */
const CANDIDATES = sql`
  with lists as materialized (
    select shard, users, units, missed from usage_top
    where shard = any ($1::smallint[]) and bucket >= date_bin('1 day', $2::timestamptz, timestamptz 'epoch') and bucket < $3
  ), missed as materialized (
    select shard, sum(missed) as units from lists group by shard
  ), listed as (
    select user_id, lists.shard, u.units - lists.missed as more from lists, unnest(lists.users, lists.units) u (user_id, units)
    union all
    select e.user_id, coalesce(e.shard, p.shard), e.units from usage_pending p, ${entriesOf(sql`p`)}
    where p.bucket >= $2 and p.bucket < $3 and e.kind = 0
  ), summed as (
    select user_id, shard, sum(more) as more from listed group by user_id, shard
  )
  select s.user_id, (s.more + coalesce(m.units, 0))::bigint as most,
    (select coalesce(max(units), 0)::bigint from missed) as missed
  from summed s left join missed m on m.shard = s.shard
  order by most desc, s.user_id limit $4`

function exactOf(db: Store, keys: Sql, shard: Sql, filter: UsageFilter, values: SqlValue[]): Sql {
  const usage = usageOf(db, { shard, user: sql`k.user_id` }, !isFiltered(filter))
  return sql`
    select k.user_id, ${REPORTED} from ${keys}, lateral (${usage}) u where ${whereClauseOf(filter, values)}
    group by k.user_id`
}

/** Users whose sums are read, for each day of the period. */
const READ_PER_DAY = 4_000
/** As many of a destination: sums of busy users do not name it, so more rows are read of each. */
const READ_OF_DESTINATION_PER_DAY = 1_000

/**
 * The users who committed most units. Lists of each day say who can be among them; their sums are then exact. The list
 * is proven complete where `unlistedUpTo` is no more than what its last user committed.
 *
 * @param filter the destination of the units. Where few rows are of it, all of them are read, and the list is complete. Lists do not
 * tell destinations, but no user committed more there than in all.
 */
export function topUsers(
  db: Database,
  from: EpochMs,
  to: EpochMs,
  limit: number,
  filter: UsageFilter = {},
  maxRead = MAX_USAGE_READ,
): Promise<TopUsers> {
  const readPerDay = isFiltered(filter) ? READ_OF_DESTINATION_PER_DAY : READ_PER_DAY
  const max = Math.max(3 * limit, Math.ceil(readPerDay / Math.ceil((to - from) / DAY_MS)))
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const whole = isFiltered(filter) ? await topOfDestination(tx, { from, to, limit, filter, maxRead }) : null
    if (whole !== null) return whole
    let rest = await totalOf(tx, from, to, filter)
    const { candidates, missed } = await candidatesOf(tx, from, to, max + 1)
    const users: TopUsers['users'] = []
    let read = 0
    for (;;) {
      // The most that a user who is not read yet can have committed: the next candidate at most as much as its lists say, and a
      // user in no list as much as the lists have missed; none more than all together but those who are read.
      const unread = Math.min(Math.max(candidates[read]?.most ?? 0, missed), rest)
      users.sort((one, other) => other.committed - one.committed || one.user_id - other.user_id)
      const last = users[limit - 1]?.committed ?? 0
      if (read >= Math.min(max, candidates.length) || unread <= last) {
        const next = Math.max(unread, users[limit]?.committed ?? 0)
        return { users: users.slice(0, limit), unlistedUpTo: next }
      }
      const page = candidates.slice(read, Math.min(max, read + Math.max(2 * limit, read)))
      const sums = await sumsOf(tx, page, from, to, filter)
      users.push(...sums.filter(user => user.committed > 0))
      rest = sums.reduce((units, user) => Math.max(0, units - user.committed), rest)
      read += page.length
    }
  }, 'snapshot')
}

interface Destination {
  from: EpochMs
  to: EpochMs
  limit: number
  filter: UsageFilter
  maxRead: number
}

/** The top users of a destination from all of its rows; null if they are too many. */
async function topOfDestination(
  tx: Transaction,
  { from, to, limit, filter, maxRead }: Destination,
): Promise<TopUsers | null> {
  const intervals = { starts: [from], to }
  if (tx.isCluster && (await countRowsOfAll(tx, intervals, filter)) > maxRead) return null
  const values: SqlValue[] = [timestampParam(from), timestampParam(to), limit + 1]
  const rows = rowsOfAll(filter, values, tx.isCluster ? undefined : maxRead + 1)
  const read = tx.isCluster ? sql`0` : sql`sum(count(*)) over ()::bigint`
  const found = await tx.query<UsageSums & { user_id: number; read: number }>({
    text: sql`select user_id, ${REPORTED}, ${read} as read from (${rows}) u group by user_id order by committed desc, user_id limit $3`,
    values,
  })
  if ((found[0]?.read ?? 0) > maxRead) return null
  const users = found.map(({ read: _, ...user }) => user).filter(user => user.committed > 0)
  return { users: users.slice(0, limit), unlistedUpTo: users[limit]?.committed ?? 0 }
}

/** What all users committed to a destination, or more; without one, no bound. */
async function totalOf(tx: Transaction, from: EpochMs, to: EpochMs, filter: UsageFilter): Promise<number> {
  const totals = [Number.POSITIVE_INFINITY]
  for (const group of ['country', 'message_type'] as const) {
    const key = filter[group]
    if (key === undefined) continue
    const [row] = await sumTotals(tx, { starts: [from], to }, group, 1, key)
    totals.push(row?.committed ?? 0)
  }
  return Math.min(...totals)
}

async function candidatesOf(tx: Transaction, from: EpochMs, to: EpochMs, max: number) {
  const candidates = await tx.query<Candidate & { missed: number }>({
    name: 'top-user-candidates',
    text: CANDIDATES,
    values: [[...SHARDS], timestampParam(from), timestampParam(to), max],
  })
  return { candidates, missed: candidates[0]?.missed ?? 0 }
}

async function sumsOf(
  tx: Transaction,
  users: readonly Candidate[],
  from: EpochMs,
  to: EpochMs,
  filter: UsageFilter,
): Promise<TopUsers['users']> {
  const period = [timestampParam(from), timestampParam(to)]
  const ids = users.map(({ user_id }) => user_id)
  if (!tx.isCluster) {
    const values: SqlValue[] = [...period, ids.map(shardOf), ids]
    const keys = sql`unnest($3::smallint[], $4::bigint[]) k (shard, user_id)`
    return tx.query({ text: exactOf(tx, keys, sql`k.shard`, filter, values), values })
  }
  // A cluster joins so in one shard only, which the statement names.
  const sums: TopUsers['users'] = []
  for (const [shard, part] of Map.groupBy(ids, shardOf)) {
    const values: SqlValue[] = [...period, shard, part]
    const text = exactOf(tx, sql`unnest($4::bigint[]) k (user_id)`, sql`$3::smallint`, filter, values)
    sums.push(...(await tx.query<TopUsers['users'][number]>({ text, values })))
  }
  return sums
}
