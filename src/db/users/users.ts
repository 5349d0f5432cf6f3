/** Users: who has data here, and since when each has been active. */
import { shardOf } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, SqlValue, Transaction } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { IN_INDEX_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { unexpiredAt } from '../ledger/unexpired.ts'
import { type Page, readPage, type Slice } from '../lists/pages.ts'
import { ofShard } from '../usage/columns.ts'

export interface ListedUser {
  user_id: number
  /** Quotas that are neither deleted nor expired. */
  quotas: number
  /** The newest reservation, or the newest quarter of an hour with usage, a day or month once compacted; null: neither was ever. */
  last_activity_at: EpochMs | null
}

export interface UserRecord extends Omit<ListedUser, 'quotas'> {
  quotas: { unexpired: number; expired: number; deleted: number }
}

/** SQL: the last activity of a user. Compaction moves the oldest usage, so no day is later than what is left in detail. */
export function lastActivityOf({ shard, user }: { shard: Sql; user: Sql }): Sql {
  const newestIn = (table: Sql) =>
    sql`(select max(u.bucket) from ${table} u where u.shard = ${shard} and u.user_id = ${user})`
  return sql`greatest(
    (select max(r.created_at) from reservation r where r.shard = ${shard} and -r.user_id = -${user}),
    coalesce(${newestIn(sql`usage`)}, ${newestIn(sql`usage_day`)}, ${newestIn(sql`usage_month`)}))`
}

/** SQL: what a list shows of the accounts `a`, each number by an index; `$1` is the time. The order of ids is in the words of their index. */
const SHOWN = sql`
  a.user_id + 0 as user_id,
  (select count(*) from quota q where q.shard = a.shard and q.user_id = a.user_id and ${unexpiredAt(sql`$1`)}) as quotas,
  ${lastActivityOf({ shard: sql`a.shard`, user: sql`a.user_id` })} as last_activity_at`

/** A page of users, by id. In the words of the index, which no other statement may take. */
export function listUsers(
  db: Database,
  _all: object,
  { after = -1, size, now }: Page<number>,
): Promise<Slice<ListedUser, number>> {
  const page = {
    name: 'list-users',
    text: sql`select ${SHOWN} from account a where a.user_id + 0 > $2 order by a.user_id + 0 limit $3`,
    values: [timestampParam(now), after, size + 1],
  }
  return readPage(db, size, { page, keyOf: ({ user_id }) => user_id })
}

/** A range of ids, both ends included. */
export interface IdRange {
  low: number
  high: number
}

/** Users whose ids lie in one of the ranges, by id: `size` at most of those there are. */
export function findUsersIn(
  tx: Transaction,
  ranges: readonly IdRange[],
  size: number,
  now: EpochMs,
): Promise<ListedUser[]> {
  if (!tx.isCluster) {
    return tx.query<ListedUser>({
      name: 'find-users-in',
      text: sql`select ${SHOWN} from (
               select found.* from unnest($2::bigint[], $3::bigint[]) range (low, high) cross join lateral (
                 select shard, user_id from account where user_id + 0 between range.low and range.high
                 order by user_id + 0 limit $4
               ) found order by found.user_id limit $4
             ) a order by a.user_id`,
      values: [timestampParam(now), ranges.map(({ low }) => low), ranges.map(({ high }) => high), size],
    })
  }
  // A cluster refuses lateral joins with a limit.
  const values: SqlValue[] = [timestampParam(now), size]
  const within = ranges.map(({ low, high }) => {
    const range = sql`a.user_id + 0 between ${bind(values, low)}::bigint and ${bind(values, high)}::bigint`
    return sql`(select ${SHOWN} from account a where ${range} order by a.user_id + 0 limit $2)`
  })
  const text = sql`select * from (${joinSql(within, sql` union all `)}) found order by user_id limit $2`
  return tx.query<ListedUser>({ text, values })
}

/** Whether anything is stored of a user, an empty account included. The record of a finished erasure does not count. */
export async function isKnownUser(tx: Transaction, userId: number): Promise<boolean> {
  const [row] = await tx.query<{ known: boolean }>({
    name: 'is-known-user',
    text: sql`select exists (select from account where shard = $1 and user_id = $2)
             or exists (select from reservation where shard = $1 and -user_id = -$2::bigint)
             or exists (select from usage where shard = $1 and user_id = $2)
             or exists (select from usage_day where shard = $1 and user_id = $2)
             or exists (select from usage_month where shard = $1 and user_id = $2)
             or exists (select from denial where shard = $1 and user_id = $2)
             or exists (select from event where shard = $1 and user_id = $2)
             or exists (select from event_sequence where shard = $1 and user_id = $2)
             or exists (select from usage_pending p where ${ofShard(tx, sql`$1`)} and $2 = any(users))
             or exists (select from user_profile where shard = $1 and user_id = $2)
             or exists (select from principal_name where user_id = $2) as known`,
    values: [shardOf(userId), userId],
  })
  return row?.known ?? false
}

/** A user with zeros where there is nothing; undefined if nothing is stored of this user. */
export async function findUser(db: Database, userId: number, now: EpochMs): Promise<UserRecord | undefined> {
  return db.transaction(async tx => {
    if (!(await isKnownUser(tx, userId))) return undefined
    await tx.query({ text: IN_INDEX_ORDER })
    const [row] = await tx.query<ListedUser & { expired: number; deleted: number }>({
      name: 'find-user',
      text: sql`select ${SHOWN},
               (select count(*) from quota q where q.shard = a.shard and q.user_id = a.user_id
                and deleted_at is null and coalesce(expires_at, 'infinity'::timestamptz) <= $1) as expired,
               (select count(*) from quota q where q.shard = a.shard and q.user_id = a.user_id
                and deleted_at is not null) as deleted
             from (select $2::smallint as shard, $3::bigint as user_id) a`,
      values: [timestampParam(now), shardOf(userId), userId],
    })
    if (row === undefined) throw new Error('the database returned no row')
    const { quotas: unexpired, expired, deleted, last_activity_at } = row
    return { user_id: userId, quotas: { unexpired, expired, deleted }, last_activity_at }
  }, 'snapshot')
}
