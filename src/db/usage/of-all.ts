/** Usage of all users. Its cost does not grow with their number: it reads totals, or a limited number of rows. */
import type { UserUsageGroup } from '../../domain/units/usage.ts'
import type { Database, Queryable, SqlValue } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql, sqlName } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import {
  columnsOf,
  DIMENSIONS,
  entriesOf,
  PENDING_COUNTS,
  REPORTED,
  TOTAL_COUNTS,
  UNFUNDED_OF_GRANTS,
  USAGE_COUNTS,
} from './columns.ts'
import {
  GROUP_COLUMN,
  INTERVAL,
  type Intervals,
  intervalParams,
  type OnRead,
  readBy,
  reportRead,
  type UsageFilter,
  type UsageRow,
  whereClauseOf,
} from './sums.ts'

const COUNTS = columnsOf(USAGE_COUNTS)

/** The entries of all batches that are not rolled up yet, from `$1` to `$2`. */
const PENDING = sql`
  select coalesce(e.shard, p.shard) as shard, e.user_id, p.bucket, e.quota_id, e.country, e.message_type, e.sender, ${PENDING_COUNTS}
  from usage_pending p, ${entriesOf(sql`p`)} where p.bucket >= $1 and p.bucket < $2`

/**
 * Sums of all users by interval and country, message type or nothing: at most `maxRows`.
 * @param key only those of this country or message type
 */
export async function sumTotals(
  db: Queryable,
  intervals: Intervals,
  group: 'country' | 'message_type' | undefined,
  maxRows: number,
  key?: string | undefined,
  onRead?: OnRead,
): Promise<UsageRow[]> {
  const values: SqlValue[] = [...intervalParams(intervals), maxRows, DIMENSIONS[group ?? 'none']]
  const isKey = key === undefined ? sql`true` : sql`key = ${bind(values, key)}`
  const rows = await db.query<UsageRow>({
    text: sql`
      select ${INTERVAL} as interval, key, ${REPORTED}${readBy(onRead)}
      from (
        select bucket, key, ${columnsOf(TOTAL_COUNTS)} from usage_total
        where span = any ('{0,1,2}') and dimension = $5 and bucket >= $1 and bucket < $2
        union all
        select bucket, ${group === undefined ? sql`null::text` : GROUP_COLUMN[group]}, ${COUNTS}, ${UNFUNDED_OF_GRANTS} from (${PENDING}) pending
      ) u where ${isKey} group by 1, 2 order by 1, 2 limit $4`,
    values,
  })
  return reportRead(rows, onRead)
}

const TOTALS = sql`select bucket, key, ${columnsOf(TOTAL_COUNTS)} from usage_total
  where span = any ('{0,1,2}') and bucket >= $1 and bucket < $2`

/** SQL: the sums of no sender. While the compaction has moved some rows and not others, senders can have more than there is in all. */
const REST = joinSql(TOTAL_COUNTS.map(sqlName).map(name => sql`greatest(sum(${name}), 0)::bigint as ${name}`))

/**
 * Sums of all users by interval and sender: at most `maxRows`. The sums of no sender are what the sums of all have more than
 * those of senders, and not stored. So they hold for usage from before it was counted by sender, and for what an earlier
 * version rolls up.
 */
export function sumSenders(db: Queryable, intervals: Intervals, maxRows: number): Promise<UsageRow[]> {
  const counts = columnsOf(TOTAL_COUNTS)
  const negated = joinSql(TOTAL_COUNTS.map(name => sql`-${sqlName(name)}`))
  return db.query<UsageRow>({
    text: sql`
      with pending as materialized (
        select bucket, sender, ${COUNTS}, ${UNFUNDED_OF_GRANTS} from (${PENDING}) entries
      ), named as materialized (
        select interval, subject as key, ${counts} from (
          select ${INTERVAL} as interval, key::int as sender, ${REPORTED} from (
            ${TOTALS} and dimension = $5
            union all select bucket, sender::text, ${counts} from pending where sender is not null
          ) u group by 1, 2
        ) s join principal on principal.id = s.sender
      ), rest as (
        select interval, null as key, ${REST} from (
          select ${INTERVAL} as interval, ${counts} from (
            ${TOTALS} and dimension = $6 union all select bucket, null, ${counts} from pending
          ) u
          union all select interval, ${negated} from named
        ) r group by 1 having sum(committed) > 0 or sum(refunded) > 0 or sum(denied) > 0 or sum(verified_messages) > 0
      )
      select * from named union all select * from rest order by interval, key limit $4`,
    values: [...intervalParams(intervals), maxRows, DIMENSIONS.sender, DIMENSIONS.none],
  })
}

/**
 * The rows of all users from `$1` to `$2` that a filter selects, as SQL: at most `max`. Their number bounds its cost, because the
 * index by time holds what the filter compares.
 */
export function rowsOfAll(filter: UsageFilter, values: SqlValue[], max?: number): Sql {
  const columns = sql`shard, user_id, bucket, quota_id, country, message_type, ${COUNTS}, ${UNFUNDED_OF_GRANTS}`
  const rowsOf = (table: Sql) => sql`select ${columns} from ${table} where bucket >= $1 and bucket < $2`
  const all = sql`${rowsOf(sql`usage`)} union all ${rowsOf(sql`usage_day`)} union all ${rowsOf(sql`usage_month`)}
    union all select ${columns} from (${PENDING}) pending`
  const limit = max === undefined ? sql`` : sql`limit ${bind(values, max)}`
  return sql`select * from (${all}) stored where ${whereClauseOf(filter, values)} ${limit}`
}

/**
 * Sums of all users by interval and group, of what a filter selects: at most `maxRows`. It reads the rows of users, and so
 * what totals do not tell.
 * @param maxRead null is returned if there are more rows to read than this
 */
export async function sumByKey(
  db: Database,
  intervals: Intervals,
  group: UserUsageGroup | undefined,
  maxRows: number,
  maxRead: number,
  filter: UsageFilter = {},
  onRead?: OnRead,
): Promise<UsageRow[] | null> {
  const key = group === undefined ? sql`null::text` : GROUP_COLUMN[group]
  const sums = sql`select ${INTERVAL} as interval, ${key} as key, ${REPORTED}`
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const values: SqlValue[] = [...intervalParams(intervals), maxRows]
    // A cluster counts and sums up on its nodes. For a limit it would read all rows of the tables.
    if (tx.isCluster) {
      if ((await countRowsOfAll(tx, intervals, filter)) > maxRead) return null
      const text = sql`${sums} from (${rowsOfAll(filter, values)}) u group by 1, 2 order by 1, 2 limit $4`
      return tx.query<UsageRow>({ text, values })
    }
    const rows = await tx.query<UsageRow & { read: number }>({
      text: sql`${sums}, sum(count(*)) over ()::bigint as read
        from (${rowsOfAll(filter, values, maxRead + 1)}) u group by 1, 2 order by 1, 2 limit $4`,
      values,
    })
    if ((rows[0]?.read ?? 0) > maxRead) return null
    onRead?.(rows[0]?.read ?? 0)
    return rows.map(({ read: _, ...row }) => row)
  }, 'snapshot')
}

/** How many rows of all users a filter selects. Only for a cluster: it has no bound. */
export async function countRowsOfAll(tx: Queryable, intervals: Intervals, filter: UsageFilter): Promise<number> {
  const values: SqlValue[] = intervalParams(intervals).slice(0, 2)
  const text = sql`select count(*) as read from (${rowsOfAll(filter, values)}) u`
  const [count] = await tx.query<{ read: number }>({ text, values })
  return count?.read ?? 0
}

/** The days and months that usage was compacted into, as far as they overlap with a period. */
export function compactedPeriods(
  db: Queryable,
  { starts, to }: Intervals,
): Promise<{ bucket: number; until: number }[]> {
  const [from, end] = intervalParams({ starts, to })
  return db.query({
    name: 'compacted-periods',
    text: sql`select bucket, until from usage_period where bucket < $2 and until > $1 order by bucket`,
    values: [from, end],
  })
}
