/**
 * Fills a database with users who have one monthly grant each, of more units than any run takes, so that every side of a
 * comparison does the same work; and with the reservations and usage of years. (`load.ts` makes a realistic mix of
 * quotas, where many sends would be denied.)
 */
import type { Database } from '../src/db/connection/database.ts'
import { sql } from '../src/db/connection/sql.ts'
import { timestampParam } from '../src/db/connection/values.ts'
import { TOP_LIST } from '../src/db/usage/rollup.ts'
import { SHARD_COUNT, shardOf } from '../src/domain/basics/shard.ts'
import { plainCalendar } from '../src/domain/time/period.ts'
import type { EpochMs } from '../src/domain/time/time.ts'
import { lastBoundary, nextBoundary } from '../src/domain/time/window.ts'
import { rawSql } from '../test/support/sql.ts'

/** What users have beyond a grant. */
export interface UserOptions {
  /** Further users, count + 1…count + denied, whose grants have no units. Default: 0. */
  denied?: number
  /** Gives each user a cap too, of as many units as the grant. */
  hasCaps?: boolean
  /** Inserts into the indexed tables, as an import does, and leaves them without statistics. */
  isFresh?: boolean
}

/** Users 1…count of an empty, migrated database. */
export async function fillUsers(db: Database, count: number, now: EpochMs, options: UserOptions = {}): Promise<void> {
  const { denied = 0, hasCaps = false, isFresh = false } = options
  const all = count + denied
  const shards = shardsOf({ first: 1, count: all })
  const window = [
    lastBoundary(plainCalendar('month', 'UTC'), now),
    nextBoundary(plainCalendar('month', 'UTC'), now),
  ].map(timestampParam)
  const kinds = hasCaps ? ['grant', 'cap'] : ['grant']
  await db.query({
    text: sql`insert into account (shard, user_id, live)
      select shard, user_id, $2 from unnest($1::smallint[]) with ordinality t (shard, user_id)`,
    values: [shards, kinds.length],
  })
  const insertQuotas = () =>
    db.query({
      text: rawSql`insert into quota (shard, id, user_id, kind, "limit", period, time_zone, rollover_limit, overage_limit,
          priority, starts_at, alert_at, enabled, metadata, window_start, window_end, created_at, created_by,
          updated_at, updated_by)
        select shard, (n + (nth - 1) * $4::bigint) * ${SHARD_COUNT} + shard, n, kind,
          case when n > $5::bigint then 0 else 1000000000000 end, 'month', 'UTC', 0, 0, 100, $2, '{}', true,
          '{}', $2, $3, $2, 'bench', $2, 'bench'
        from unnest($1::smallint[]) with ordinality t (shard, n), unnest($6::text[]) with ordinality k (kind, nth)`,
      values: [shards, ...window, all, count, kinds],
    })
  await db.query({ text: sql`select setval('quota_number', $1)`, values: [all * kinds.length] })
  if (isFresh) {
    await insertQuotas()
    return
  }
  await withoutIndexes(db, 'quota', insertQuotas)
  await db.query({ text: sql`vacuum (analyze) account, quota` })
}

/** Switches autovacuum off for all tables of the service, and with it automatic statistics. */
export async function disableAutovacuum(db: Database): Promise<void> {
  const tables = await db.query<{ name: string }>({
    text: sql`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  })
  for (const { name } of tables) await db.query({ text: rawSql`alter table ${name} set (autovacuum_enabled = false)` })
}

/** Users first…first + count − 1. */
export interface UserRange {
  first: number
  count: number
}

/** Gives users the account and the quotas of another one, with ids of their own, as if each had got the same plan. */
export async function fillUsersLike(db: Database, user: number, users: UserRange): Promise<void> {
  const values = [shardsOf(users), users.first, user]
  const copied = rawSql`from unnest($1::smallint[]) with ordinality u (shard, nth), lateral (select $2::bigint + nth - 1 as user_id) i`
  await db.query({
    text: rawSql`insert into account select r.* ${copied}, account a,
      lateral jsonb_populate_record(a, jsonb_build_object('shard', u.shard, 'user_id', i.user_id)) r where a.user_id = $3`,
    values,
  })
  await withoutIndexes(db, 'quota', () =>
    db.query({
      text: rawSql`insert into quota select r.* ${copied}, quota q,
        lateral jsonb_populate_record(q, jsonb_build_object('shard', u.shard, 'user_id', i.user_id, 'id',
          nextval('quota_number') * ${SHARD_COUNT} + u.shard)) r where q.user_id = $3`,
      values,
    }),
  )
  await db.query({ text: sql`vacuum (analyze) account, quota` })
}

/** The ledger of years: settled reservations, one a second back from `now`. None draws on a current window. */
export async function fillReservations(db: Database, count: number, users: UserRange, now: EpochMs): Promise<void> {
  const step = 500_000
  await withoutIndexes(db, 'reservation', async () => {
    for (let from = 0; from < count; from += step) {
      await db.query({
        text: rawSql`insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released,
            refunded, on_expiry, expired, draws, created_at, expires_at, changed_at)
          select shard, user_id, 'past-' || n, 'reserve', 1, false, false, 1, 1, 0, 0, 'release',
            false, array[user_id * ${SHARD_COUNT} + shard, 0, 0, 0, 0, 1], at, at, at
          from (select n, $2::int + mod(n * 7919, $3::int)::int as user_id,
              ($1::smallint[])[1 + mod(n * 7919, $3::int)::int] as shard, $4::timestamptz - n * interval '1 s' as at
            from generate_series($5::bigint, $6::bigint) n) k`,
        values: [
          shardsOf(users),
          users.first,
          users.count,
          timestampParam(now),
          from + 1,
          Math.min(count, from + step),
        ],
      })
    }
  })
  await db.query({ text: sql`vacuum (analyze) reservation` })
}

/** Usage of the days before `now`: in `times` quarters of an hour of each day, evenly spread. */
export interface UsagePast {
  days: number
  times: number
  /** Grants that paid, and countries of destination: a row for each pair. */
  grants: number
  countries: readonly string[]
}

export async function fillUsage(db: Database, users: UserRange, past: UsagePast, now: EpochMs): Promise<void> {
  const { days, times, grants, countries } = past
  await db.query({
    text: rawSql`insert into usage (shard, user_id, bucket, quota_id, country, message_type, committed, committed_messages,
        refunded, refunded_messages, denied, denied_messages)
      select shard, user_id, date_bin('15 min', $3::timestamptz - day * interval '1 day' - time * interval '1 day' / $5::int,
          timestamptz 'epoch'), (user_id * 1000 + quota) * ${SHARD_COUNT} + shard, country, 'otp', 20 + mod(user_id, 97), 10,
        1, 1, 0, 0
      from unnest($1::smallint[]) with ordinality u (shard, nth), lateral (select $2::bigint + nth - 1 as user_id) i,
        generate_series(0, $4::int - 1) day, generate_series(0, $5::int - 1) time,
        generate_series(1, $6::int) quota, unnest($7::text[]) country`,
    values: [shardsOf(users), users.first, timestampParam(now), days, times, grants, [...countries]],
  })
  await db.query({ text: sql`vacuum (analyze) usage` })
}

/** What the rollup keeps of all users beside their rows: totals, and the lists of the top users of each day. */
export async function fillUsageOfAll(db: Database): Promise<void> {
  await db.query({
    text: sql`insert into usage_total
      select 0, case grouping(country, message_type) when 3 then 0 when 1 then 1 else 2 end, bucket,
        case grouping(country, message_type) when 1 then country when 2 then message_type end, sum(committed), sum(committed_messages), sum(refunded),
        sum(refunded_messages), sum(denied), sum(denied_messages), null, null, null, null, null, null, 0, 0
      from usage group by grouping sets ((bucket), (bucket, country), (bucket, message_type))`,
  })
  await db.query({
    text: sql`insert into usage_top
      select shard, day, array_agg(user_id order by units desc) filter (where place <= $1),
        array_agg(units order by units desc) filter (where place <= $1), coalesce(max(units) filter (where place > $1), 0)
      from (
        select *, row_number() over (partition by shard, day order by units desc) as place
        from (
          select shard, date_bin('1 day', bucket, 'epoch') as day, user_id, sum(committed) as units from usage group by 1, 2, 3
        ) summed
      ) ranked group by shard, day`,
    values: [TOP_LIST],
  })
}

/** Further totals, as of a platform that sends to this many countries in each quarter of an hour. */
export async function fillTotals(db: Database, countries: number, days: number, now: EpochMs): Promise<void> {
  await db.query({
    text: sql`insert into usage_total
      select 0, 1, date_bin('15 min', $1::timestamptz - n * interval '15 min', 'epoch'), 'X' || country, 500, 500, 1, 1,
        2, 2, null, null, null, null, 2, 2, 0, 0
      from generate_series(0, $2::int * 96 - 1) n, generate_series(1, $3::int) country`,
    values: [timestampParam(now), days, countries],
  })
  await db.query({ text: sql`vacuum (analyze) usage_total` })
}

function shardsOf({ first, count }: UserRange): number[] {
  return Array.from({ length: count }, (_, index) => shardOf(first + index))
}

/**
 * Fills index pages as random insertions would. Packed pages, the default, split when they are first written to, and the
 * benchmark would measure that.
 */
const AS_GROWN = ' with (fillfactor = 70)'

/** A table that is filled in parts has it from its first part. */
const asGrown = (made: string) => (/ with \(|using brin/i.test(made) ? made : made.replace(/(?= WHERE |$)/, AS_GROWN))

/** Drops the table's indexes during `work` and creates them again afterwards, which is far faster. */
export async function withoutIndexes(db: Database, table: string, work: () => Promise<unknown>): Promise<void> {
  const keys = await db.query<{ name: string; made: string }>({
    text: sql`select conname as name, pg_get_constraintdef(oid) as made from pg_constraint
      where conrelid = $1::regclass and contype in ('p', 'u')`,
    values: [table],
  })
  const indexes = await db.query<{ name: string; made: string }>({
    text: sql`select indexname as name, indexdef as made from pg_indexes
      where tablename = $1 and indexname <> all ($2::text[])`,
    values: [table, keys.map(({ name }) => name)],
  })
  for (const { name } of keys) await db.query({ text: rawSql`alter table ${table} drop constraint ${name}` })
  for (const { name } of indexes) await db.query({ text: rawSql`drop index ${name}` })
  await work()
  await db.transaction(async tx => {
    await tx.query({ text: sql`set local maintenance_work_mem = '512MB'` })
    for (const { name, made } of keys) {
      await tx.query({ text: rawSql`alter table ${table} add constraint ${name} ${asGrown(made)}` })
    }
    for (const { made } of indexes) await tx.query({ text: rawSql`${asGrown(made)}` })
  })
}
