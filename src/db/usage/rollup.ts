import type { Shard } from '../../domain/basics/shard.ts'
import { UnknownValue } from '../../domain/basics/unknown-value.ts'
import type { Database, SqlValue, Transaction } from '../connection/database.ts'
import { isDataError } from '../connection/errors.ts'
import { joinSql, type Sql, sql, sqlInteger, sqlName } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { OF_ALL_SHARDS } from '../ledger/add-usage.ts'
import {
  additionsTo,
  columnsOf,
  DIMENSIONS,
  entriesOf,
  LAST_KIND,
  PENDING_RETURNED,
  PENDING_SUMS,
  PENDING_UNFUNDED,
  ROW_COUNTS,
  sumsOf,
  TOTAL_COUNTS,
  USAGE_COUNTS,
} from './columns.ts'
import { addMinutes, minutesOf } from './minutes.ts'

/** Batches rolled up at a time, of up to a thousand commands each. Each page is a short transaction. */
export const ROLLUP_PAGE = 64

/** Users in a list of the top users of a shard and day. */
export const TOP_LIST = 128

/** The batches of a shard, or those of all shards. */
export type BatchShard = Shard | typeof OF_ALL_SHARDS

/** Where batches with usage of a shard's users are. */
export const batchShardsOf = (shard: Shard): readonly BatchShard[] => [OF_ALL_SHARDS, shard]

/** Shards with usage to roll up: one index lookup each, however much there is. */
export async function findPendingUsage(db: Database): Promise<BatchShard[]> {
  // Two statements: a cluster takes no union of them.
  const ofAll = await db.query<{ shard: BatchShard }>({
    name: 'find-pending-usage-of-all-shards',
    text: sql`select shard from usage_pending where shard = ${sqlInteger(OF_ALL_SHARDS)} limit 1`,
  })
  const ofOne = await db.query<{ shard: BatchShard }>({
    name: 'find-pending-usage',
    text: sql`select h.shard from shard_head h where exists (select from usage_pending p where p.shard = h.shard)`,
  })
  const rows = [...ofAll, ...ofOne]
  return rows.map(({ shard }) => shard)
}

/** Batches of all processes that are not rolled up yet, counted up to `max`. */
export async function countPendingUsage(db: Database, max: number): Promise<number> {
  const [row] = await db.query<{ pending: number }>({
    name: 'count-pending-usage',
    text: sql`select count(*) as pending from (select 1 from usage_pending limit $1) as p`,
    values: [max],
  })
  return row?.pending ?? 0
}

/** Locks a page of a shard's batches, but for those that another process has locked. */
const PAGE = sql`
  select number from usage_pending where shard = $1 and number <> all ($2::bigint[])
  order by number limit $3 for update skip locked`

/** Deletes a page of a shard's batches, to add them up. Only what the deletion returns counts, so nothing is rolled up twice. */
const TAKEN = sql`
  taken as (
    delete from usage_pending p where p.shard = $1 and p.number = any ($2::bigint[])
    returning p.number, p.bucket, coalesce(p.at, p.bucket) as at, p.users, p.quotas, p.countries, p.message_types, p.kinds, p.units,
      p.messages, p.senders, p.shards, p.sent_at
  ), summed as materialized (
    select coalesce(e.shard, $1::smallint) as shard, e.user_id, taken.bucket, e.quota_id, e.country, e.message_type, ${PENDING_SUMS}, ${PENDING_RETURNED}
    from taken, ${entriesOf(sql`taken`)}
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
  ), by_kind as (
    select taken.bucket, e.sender, e.kind, nullif(e.quota_id is not null, false) as quota_id,
      sum(e.units) as units, sum(e.messages) as messages
    from taken, unnest(taken.senders, taken.kinds, taken.quotas, taken.units, taken.messages)
      e (sender, kind, quota_id, units, messages)
    where e.sender is not null group by 1, 2, 3, 4
  ), by_sender as (
    select bucket, sender::text, ${PENDING_SUMS}, ${PENDING_UNFUNDED} from by_kind e group by 1, 2
  ), by_minute as (${minutesOf(sql`taken`, sql`$3::text[]`)})`

/** How many batches were taken, and the last kind that they count. */
const OUTCOME = sql`(select count(*) from taken) as batches, (select count(*) from summed) as rows,
  (select max(kind) from taken, unnest(taken.kinds) kind) as last_kind`

/**
 * Adds the sums, and the accounts of users who never had a quota: the directory of users reads accounts. The sums go
 * to the rows of users, to the lists of top users, and to the totals of all users. In the order of keys, so that two
 * processes that add for the same users cannot deadlock.
 *
 * Either list of top users may lack users of the other one: such a user committed at most what the list has
 * `missed`. Of the users of both, those who can have committed most are kept, and the first who is dropped says what the
 * new list has missed.
 */
const addAccounts = (shard: Sql) => sql`
  insert into account (shard, user_id)
  select ${shard}, user_id from (select distinct shard, user_id from k) u order by shard, user_id
  on conflict do nothing`

const addTop = (shard: Sql) => sql`
  insert into usage_top (shard, bucket, users, units, missed)
  select ${shard}, day, array_agg(user_id order by place) filter (where place <= ${sqlInteger(TOP_LIST)}),
    array_agg(units order by place) filter (where place <= ${sqlInteger(TOP_LIST)}),
    coalesce(max(units) filter (where place > ${sqlInteger(TOP_LIST)}), 0)
  from (
    select *, row_number() over (partition by shard, day order by units desc, user_id) as place
    from (
      select shard, user_id, date_bin('1 day', bucket, timestamptz 'epoch') as day, sum(committed)::bigint as units
      from k where committed > 0 group by 1, 2, 3
    ) summed
  ) ranked
  group by shard, day order by shard, day
  on conflict (shard, bucket) do update set (users, units, missed) = (
    select array_agg(user_id order by place) filter (where place <= ${sqlInteger(TOP_LIST)}),
      array_agg(units order by place) filter (where place <= ${sqlInteger(TOP_LIST)}),
      coalesce(max(units) filter (where place > ${sqlInteger(TOP_LIST)}), usage_top.missed + excluded.missed)
    from (
      select user_id, units, row_number() over (order by units desc, user_id) as place
      from (
        select user_id, (sum(more) + usage_top.missed + excluded.missed)::bigint as units
        from (
          select user_id, units - usage_top.missed as more from unnest(usage_top.users, usage_top.units) h (user_id, units)
          union all
          select user_id, units - excluded.missed from unnest(excluded.users, excluded.units) n (user_id, units)
        ) of_both
        group by user_id
      ) bounds
    ) ranked
  )`

const PAIRED = sql`paired as (
    select bucket, country, message_type, ${sumsOf(USAGE_COUNTS)},
      coalesce(sum(committed) filter (where quota_id is null), 0) as unfunded,
      coalesce(sum(committed_messages) filter (where quota_id is null), 0) as unfunded_messages
    from k group by bucket, country, message_type
  )`

const ADD_TOTALS = sql`
  insert into usage_total (span, dimension, bucket, key, ${columnsOf(TOTAL_COUNTS)})
  select 0, case grouping(country, message_type) when 3 then ${sqlInteger(DIMENSIONS.none)} when 1 then ${sqlInteger(DIMENSIONS.country)}
      else ${sqlInteger(DIMENSIONS.message_type)} end, bucket,
    case grouping(country, message_type) when 1 then country when 2 then message_type end, ${sumsOf(TOTAL_COUNTS)}
  from paired group by grouping sets ((bucket), (bucket, country), (bucket, message_type)) order by 2, 3, 4
  on conflict (span, dimension, bucket, key) do update set ${additionsTo(sql`usage_total`, TOTAL_COUNTS)}`

const addUsage = (shard: Sql) => sql`
  insert into usage (shard, user_id, bucket, quota_id, country, message_type, ${columnsOf(ROW_COUNTS)})
  select ${shard}, user_id, bucket, quota_id, country, message_type, ${columnsOf(ROW_COUNTS)} from k
  on conflict (shard, user_id, bucket, quota_id, country, message_type) do update
  set ${additionsTo(sql`usage`, ROW_COUNTS)}`

/** The sums of all users by sender, of a list that one page comes to. Principals that are not named have no row. */
const addSenders = (list: Sql) => sql`
  insert into usage_total (span, dimension, bucket, key, ${columnsOf(TOTAL_COUNTS)})
  select 0, ${sqlInteger(DIMENSIONS.sender)}, bucket, sender, ${columnsOf(TOTAL_COUNTS)}
  from ${list}
  order by bucket, sender collate "C"
  on conflict (span, dimension, bucket, key) do update set ${additionsTo(sql`usage_total`, TOTAL_COUNTS)}`

/** One statement, in which no sum leaves PostgreSQL. */
const ROLL_UP = sql`with ${TAKEN}, k as (select * from summed), accounts as (${addAccounts(sql`shard`)}), top as (${addTop(sql`shard`)}),
  ${PAIRED}, total as (${ADD_TOTALS}), senders as (${addSenders(sql`by_sender`)}), added as (${addUsage(sql`shard`)}),
  minutes as (${addMinutes(sql`select coalesce(shard, $1::smallint), minute, user_id, country, sent, verified from by_minute`)})
  select ${OUTCOME}`

/* ── On a cluster, which inserts by itself, and not in a part of a statement ─────────────────────────────────────── */

/** The columns of the sums of a page of batches: an array of each. */
const SUMMED = ['user_id', 'bucket', 'quota_id', 'country', 'message_type', ...ROW_COUNTS] as const

const isCount = (name: string) => ROW_COUNTS.some(count => count === name)

/** Most pages have no refund, no denial and no feedback: an array without any count is null, which costs nothing to pass on. */
const arrayOf = (name: string) => {
  const column = sqlName(name)
  const array = sql`array_agg(${column})::text`
  return isCount(name) && !name.startsWith('committed')
    ? sql`case when bool_or(${column} <> 0) then ${array} end`
    : array
}

/** A column of the rows that are added. */
const column = (name: string) =>
  /refunded|denied/.test(name) ? sql`coalesce(${sqlName(name)}, 0) as ${sqlName(name)}` : sqlName(name)

/** The service passes the sums on as text, without reading them. */
const TAKE = sql`with ${TAKEN} select ${OUTCOME},
    (select json_agg(by_sender)::text from by_sender) as senders,
    (select json_agg(by_minute)::text from by_minute) as minutes,
    ${joinSql(SUMMED.map(name => sql`${arrayOf(name)} as ${sqlName(name)}`))}
  from summed`

const KEYS = sql`k as materialized (
    select user_id, bucket, quota_id, country, message_type, ${joinSql(ROW_COUNTS.map(column))}, $1::smallint as shard
    from unnest($2::bigint[], $3::timestamptz[], $4::bigint[], $5::text[], $6::text[],
      ${joinSql(ROW_COUNTS.map((_, index) => sql`$${sqlInteger(7 + index)}::bigint[]`))})
      k (user_id, bucket, quota_id, country, message_type, ${columnsOf(ROW_COUNTS)})
  )`

/** Into the shard that the statement names; the totals are in no shard. */
const NAMED = sql`$1::smallint`
const ADD_IN_CLUSTER = {
  'add-accounts': sql`with ${KEYS} ${addAccounts(NAMED)}`,
  'add-top-users': sql`with ${KEYS} ${addTop(NAMED)}`,
  // Its parameters are those of the others, and each needs a type.
  'add-usage-totals': sql`with of_shard as (select $1::smallint), ${KEYS}, ${PAIRED} ${ADD_TOTALS}`,
  'add-usage': sql`with ${KEYS} ${addUsage(NAMED)}`,
}

const SENDERS = sql`json_to_recordset($1::json) s (bucket timestamptz, sender text,
  ${joinSql(TOTAL_COUNTS.map(name => sql`${sqlName(name)} bigint`))})`

const ADD_MINUTES = addMinutes(sql`select $1::smallint, minute, user_id, country, sent, verified
  from json_to_recordset($2::json) m (minute timestamptz, user_id bigint, country text, sent bigint, verified bigint)`)

async function rollUpInCluster(tx: Transaction, values: SqlValue[]): Promise<Outcome> {
  const [taken] = await tx.query<Record<(typeof SUMMED)[number] | 'senders' | 'minutes', string | null> & Outcome>({
    name: 'take-usage',
    text: TAKE,
    values,
  })
  if (taken === undefined) throw new Error('the database returned no row')
  if (taken.user_id !== null) {
    const sums = [values[0] ?? null, ...SUMMED.map(name => taken[name])]
    for (const [name, text] of Object.entries(ADD_IN_CLUSTER)) await tx.query({ name, text, values: sums })
  }
  const { senders, minutes } = taken
  if (senders !== null) await tx.query({ name: 'add-sender-totals', text: addSenders(SENDERS), values: [senders] })
  if (minutes !== null)
    await tx.query({ name: 'add-breaker-minutes', text: ADD_MINUTES, values: [values[0] ?? null, minutes] })
  return taken
}

export interface RolledUp {
  batches: number
  /** Rows of `usage` that were added to. */
  rows: number
}

type Outcome = RolledUp & { last_kind: number | null }

/** Batches that cannot be added up. Nothing of them was changed. */
export class UnusableBatches extends Error {
  override name = 'UnusableBatches'
  /** The number of the first batch. */
  readonly first: number
  readonly batches: number

  constructor(first: number, batches: number, cause: unknown) {
    super(`batch ${first}${batches > 1 ? ` and ${batches - 1} more` : ''}: ${cause}`, { cause })
    this.first = first
    this.batches = batches
  }
}

/**
 * Rolls a page of a shard's batches up: into rows of users, lists of the top users, and totals of all users.
 *
 * @param watched the message types of which the breaker counts minutes, too
 * @param skipped numbers of batches to leave
 * @throws UnusableBatches if PostgreSQL refuses what one of them holds, or a newer version has written it
 */
export async function rollUpUsage(
  db: Database,
  shard: BatchShard,
  watched: readonly string[],
  page = ROLLUP_PAGE,
  skipped: readonly number[] = [],
): Promise<RolledUp> {
  let numbers: number[] = []
  try {
    return await db.transaction(async tx => {
      await tx.query({ text: BY_KEYS })
      const found = await tx.query<{ number: number }>({
        name: 'lock-pending-usage',
        text: PAGE,
        values: [shard, skipped, page],
      })
      numbers = found.map(({ number }) => number)
      if (numbers.length === 0) return { batches: 0, rows: 0 }
      const values = [shard, numbers, watched]
      const [outcome] = tx.isCluster
        ? [await rollUpInCluster(tx, values)]
        : await tx.query<Outcome>({ name: 'roll-up-usage', text: ROLL_UP, values })
      if (outcome === undefined) throw new Error('the database returned no row')
      const { batches, rows, last_kind } = outcome
      if (last_kind !== null && last_kind > LAST_KIND) throw new UnknownValue('a kind of usage', last_kind)
      return { batches, rows }
    })
  } catch (error) {
    const [first] = numbers
    if (first === undefined || !(isDataError(error) || error instanceof UnknownValue)) throw error
    throw new UnusableBatches(first, numbers.length, error)
  }
}
