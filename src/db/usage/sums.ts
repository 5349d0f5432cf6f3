import { USAGE_BUCKET_MS } from '../../domain/basics/bounds.ts'
import { shardOf } from '../../domain/basics/shard.ts'
import { FORECAST_DAYS, type PastUsage } from '../../domain/forecasts/forecast.ts'
import type { Sent } from '../../domain/plans/used-before.ts'
import { DAY_MS, type EpochMs, LATEST } from '../../domain/time/time.ts'
import { type UserUsageGroup, usageBucketOf } from '../../domain/units/usage.ts'
import { type Database, inSnapshot, type SqlValue, type Store, type Transaction } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { type Sql, sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { allOf } from '../lists/pages.ts'
import {
  columnsOf,
  entriesOf,
  ofShard,
  PENDING_COUNTS,
  REPORTED,
  UNFUNDED_OF_GRANTS,
  USAGE_COUNTS,
  type UsageSums,
} from './columns.ts'

/** The column of each group. */
export const GROUP_COLUMN: Readonly<Record<UserUsageGroup, Sql>> = {
  user: sql`user_id`,
  quota: sql`quota_id`,
  country: sql`country`,
  message_type: sql`message_type`,
}

export interface UsageRow extends UsageSums {
  /** The index of the interval, from 0. */
  interval: number
  /** The value of the group; null if it has none, or the sums are not grouped. */
  key: number | string | null
}

/** Only usage to this country, and of this message type. */
export interface UsageFilter {
  country?: string
  message_type?: string
}

/** SQL: the condition for rows that have the columns of the filter. */
export function whereClauseOf({ country, message_type, ...others }: UsageFilter, values: SqlValue[]): Sql {
  others satisfies Record<string, never>
  const conditions = [
    country === undefined ? [] : [sql`country = ${bind(values, country)}`],
    message_type === undefined ? [] : [sql`message_type = ${bind(values, message_type)}`],
  ].flat()
  return allOf(conditions)
}

export const isFiltered = (filter: UsageFilter) => Object.values(filter).some(value => value !== undefined)

/** The intervals of a report: they are those that begin at `starts`; `to` is the end of the last. */
export interface Intervals {
  starts: readonly EpochMs[]
  to: EpochMs
}

/** The first three parameters of a report. */
export function intervalParams({ starts, to }: Intervals): [string, string, string[]] {
  return [timestampParam(starts[0] ?? to), timestampParam(to), starts.map(start => timestampParam(start))]
}

/** The index of a row's interval. A day or month that was compacted belongs to the interval in which it begins. */
export const INTERVAL = sql`width_bucket(bucket, $3::timestamptz[]) - 1`

/** Gets the number of stored rows that a report has read. */
export type OnRead = (rows: number) => void

/** SQL: of how many rows all groups together are, if that is asked for. */
export const readBy = (onRead: OnRead | undefined): Sql =>
  onRead === undefined ? sql`` : sql`, sum(count(*)) over ()::bigint as read`

/** The rows of a statement with `readBy`. */
export function reportRead(rows: (UsageRow & { read?: number })[], onRead: OnRead | undefined): UsageRow[] {
  onRead?.(rows[0]?.read ?? 0)
  return rows
}

const COUNTS = columnsOf(USAGE_COUNTS)
const DIMENSIONS = sql`bucket, quota_id, country, message_type`

interface UserSql {
  shard: Sql
  user: Sql
}

/**
 * All usage of one user from `$1` to `$2`, as SQL. It reads `usage`, the tables that compaction moves its rows to, and
 * `usage_pending` in one statement, so that nothing is missed or counted twice meanwhile. It never reads the ledger, so
 * it holds for removed reservations too.
 *
 * @param sumsSuffice whether quotas, countries and types do not matter: where there are sums of a busy user, it reads
 * those instead of thousands of rows a day
 */
export function usageOf(store: Store, of: UserSql, sumsSuffice: boolean): Sql {
  const { shard, user } = of
  return sql`${rolledUpUsageOf(of, sumsSuffice)}
    union all
    select ${DIMENSIONS}, ${COUNTS}, ${UNFUNDED_OF_GRANTS} from (
      select p.bucket, e.quota_id, e.country, e.message_type, ${PENDING_COUNTS}
      from usage_pending p, ${entriesOf(sql`p`)}
      where ${ofShard(store, shard)} and ${user} = any (p.users) and p.bucket >= $1 and p.bucket < $2 and e.user_id = ${user}
    ) pending`
}

/** The usage of a user that is rolled up: without that of the last seconds, which costs more the more users it is read for. */
export function rolledUpUsageOf({ shard, user }: UserSql, sumsSuffice: boolean): Sql {
  const isUsers = sql`shard = ${shard} and user_id = ${user}`
  const rows = (table: Sql, from: Sql, to: Sql) => sql`
    select ${DIMENSIONS}, ${COUNTS}, ${UNFUNDED_OF_GRANTS} from ${table}
    where ${isUsers} and bucket >= ${from} and bucket < ${to}`
  const summed = (bound: Sql) =>
    sql`coalesce((select r.${bound} from usage_busy_range r where r.shard = ${shard} and r.user_id = ${user}), 'infinity')`
  const detail = sumsSuffice
    ? sql`${rows(sql`usage`, sql`$1`, sql`least($2, ${summed(sql`since`)})`)}
    union all ${rows(sql`usage`, sql`greatest($1, ${summed(sql`until`)})`, sql`$2`)}
    union all
    select bucket, null::bigint, null::text, null::text, ${COUNTS}, unfunded, unfunded_messages from usage_busy
    where ${isUsers} and bucket >= greatest($1, ${summed(sql`since`)}) and bucket < least($2, ${summed(sql`until`)})`
    : rows(sql`usage`, sql`$1`, sql`$2`)
  return sql`${detail}
    union all ${rows(sql`usage_day`, sql`$1`, sql`$2`)}
    union all ${rows(sql`usage_month`, sql`$1`, sql`$2`)}`
}

/**
 * Sums of one user by interval and group. Intervals without usage have no row; there are `maxRows` rows at most.
 * @param group not `user`: there is one
 */
export async function sumUsage(
  db: Pick<Database, 'transaction'>,
  userId: number,
  intervals: Intervals,
  group: UserUsageGroup | undefined,
  maxRows: number,
  filter: UsageFilter = {},
  onRead?: OnRead,
): Promise<UsageRow[]> {
  const key = group === undefined ? sql`null::text` : group === 'user' ? sql`$6::bigint` : GROUP_COLUMN[group]
  const sumsSuffice = (group === undefined || group === 'user') && !isFiltered(filter)
  const values: SqlValue[] = [...intervalParams(intervals), maxRows, shardOf(userId), userId]
  const condition = whereClauseOf(filter, values)
  const rows = await inSnapshot<UsageRow>(db, tx => ({
    text: sql`
      select ${INTERVAL} as interval, ${key} as key, ${REPORTED}${readBy(onRead)}
      from (${usageOf(tx, { shard: sql`$5::smallint`, user: sql`$6::bigint` }, sumsSuffice)}) u
      where ${condition} group by 1, 2 order by 1, 2 limit $4`,
    values,
  }))
  return reportRead(rows, onRead)
}

/** What a user has sent and handed on since a time, by the grant that paid; null: none. */
export function sentSince(tx: Transaction, userId: number, since: EpochMs): Promise<Sent[]> {
  const user = { shard: sql`$3::smallint`, user: sql`$4::bigint` }
  return tx.query<Sent>({
    text: sql`select quota_id, sum(committed)::bigint as units, sum(committed_messages)::bigint as messages, sum(handed_on)::bigint as handed_on
           from (
             select quota_id, committed, committed_messages, 0 as handed_on from (${usageOf(tx, user, false)}) u
             union all
             select quota_id, 0, 0, units - returned from transfer
             where shard = ${user.shard} and user_id = ${user.user} and at >= $1 and at < $2
           ) s group by 1`,
    // Usage is kept by the quarter of an hour. That of a clock which is ahead counts, too.
    values: [timestampParam(usageBucketOf(since)), timestampParam(LATEST), shardOf(userId), userId],
  })
}

/** The beginning of a user's first usage that is rolled up, as SQL; null if there is none. */
export function firstUsageOf({ shard, user }: UserSql): Sql {
  const firstIn = (table: Sql) => sql`(select bucket from ${table}
    where shard = ${shard} and user_id = ${user} and bucket >= '-infinity' order by bucket fetch first 1 row only)`
  return sql`least(${firstIn(sql`usage_month`)}, ${firstIn(sql`usage_day`)}, ${firstIn(sql`usage`)})`
}

/**
 * Units that grants paid for, less refunds, of a user from `$1` to `$2`. It reads no compacted days, because a forecast
 * covers less time than detail is kept.
 */
const fundedOf = (store: Store) => sql`
  select bucket, committed - refunded as units from usage
  where shard = $3 and user_id = $4 and quota_id is not null and bucket >= $1
    and bucket < least($2, coalesce((select since from usage_busy_range where shard = $3 and user_id = $4), 'infinity'))
  union all
  select bucket, committed - refunded from usage
  where shard = $3 and user_id = $4 and quota_id is not null and bucket < $2
    and bucket >= greatest($1, coalesce((select until from usage_busy_range where shard = $3 and user_id = $4), 'infinity'))
  union all
  select b.bucket, b.funded from usage_busy_range r join usage_busy b on b.shard = r.shard and b.user_id = r.user_id
  where r.shard = $3 and r.user_id = $4 and b.bucket >= greatest($1, r.since) and b.bucket < least($2, r.until)
  union all
  select p.bucket, case e.kind when 0 then e.units when 1 then -e.units else 0 end
  from usage_pending p, ${entriesOf(sql`p`)}
  where ${ofShard(store, sql`$3`)} and $4 = any (p.users) and p.bucket >= $1 and p.bucket < $2
    and e.user_id = $4 and e.quota_id is not null`

/** The basis of a forecast: units that grants paid for, net of refunds, by stretches of 24 hours back from `now`. */
export async function pastUsage(db: Pick<Database, 'transaction'>, userId: number, now: EpochMs): Promise<PastUsage> {
  // The current quarter of an hour counts; it belongs to the last day.
  const to = usageBucketOf(now) + USAGE_BUCKET_MS
  const rows = await inSnapshot<{ first: EpochMs | null; day: number | null; units: number }>(db, tx => ({
    name: 'past-usage',
    text: sql`
      select (select least(${firstUsageOf({ shard: sql`$3`, user: sql`$4` })},
          (select min(bucket) from usage_pending p where ${ofShard(tx, sql`$3`)} and $4 = any(p.users)))) as first,
        s.day, s.units
      from (select 1) one left join (
        select floor(extract(epoch from $2::timestamptz - bucket - interval '1 ms') / 86400)::int as day,
          sum(units)::bigint as units
        from (${fundedOf(tx)}) u group by 1
      ) s on true`,
    values: [timestampParam(to - FORECAST_DAYS * DAY_MS), timestampParam(to), shardOf(userId), userId],
  }))
  const units = new Map(rows.map(row => [row.day, row.units]))
  return {
    first: rows[0]?.first ?? null,
    days: Array.from({ length: FORECAST_DAYS }, (_, day) => units.get(day) ?? 0),
  }
}
