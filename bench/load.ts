/**
 * Loads quotas in bulk, for measurements and for tests of query plans: a provider's database after two years. The same
 * options give the same rows.
 */
import type { Queryable } from '../src/db/connection/database.ts'
import { sql } from '../src/db/connection/sql.ts'
import { timestampParam } from '../src/db/connection/values.ts'
import { shardOf } from '../src/domain/basics/shard.ts'
import { EXHAUSTED } from '../src/domain/quotas/alerts.ts'
import type { EpochMs } from '../src/domain/time/time.ts'
import { rawSql } from '../test/support/sql.ts'

export interface LoadOptions {
  quotas: number
  /** User ids are 1…users. */
  users: number
  now: EpochMs
  /** Leaves the tables without statistics, as right after an import. */
  isFresh?: boolean
}

/**
 * Fills a migrated, empty database. Ids grow with the time of creation, as in production, so expired quotas have low ids
 * and scheduled ones high ids: the hardest case for a list by id. The first users have about ten times as many quotas as
 * the last.
 */
export async function loadQuotas(db: Queryable, { quotas, users, now, isFresh = false }: LoadOptions): Promise<void> {
  const shards = Array.from({ length: users }, (_, index) => shardOf(index + 1))
  await db.query({
    text: sql`insert into account (shard, user_id)
           select shard, user_id from unnest($1::smallint[]) with ordinality t (shard, user_id)`,
    values: [shards],
  })
  const step = insertedAtOnce(quotas)
  for (let from = 1; from <= quotas; from += step) {
    const to = Math.min(quotas, from + step - 1)
    await db.query({ text: QUOTAS, values: [shards, quotas, timestampParam(now), from, to] })
  }
  await db.query({ text: MARKS })
  await db.query({ text: sql`select setval('quota_number', $1)`, values: [quotas] })
  await db.query({ text: LIVE, values: [timestampParam(now)] })
  await db.query({ text: SHARD_HEADS })
  if (isFresh) return
  // Sets the visibility map for index-only scans, as autovacuum does in production…
  await db.query({ text: sql`vacuum (analyze) quota, quota_alert, account, shard_head` })
  // …and clears it for some pages, as traffic does: every tenth live quota is updated.
  await db.query({
    text: sql`update quota set used = used, seq = seq + 1
           where deleted_at is null and enabled and (expires_at is null or expires_at > $1)
             and hashint8extended(id, 100) % 10 = 0`,
    values: [timestampParam(now)],
  })
}

/** Quotas that one statement inserts: few enough for a statement's time, and for a sort in memory. */
const insertedAtOnce = (quotas: number) => Math.max(5_000, Math.ceil(quotas / 50))

/** SQL of a pseudo-random number in [0, 1) that depends only on the row's number and `salt`. */
const random = (salt: number) => `((hashint8extended(n, ${salt}) & 2147483647) / 2147483648.0::float8)`

const oneOf = (salt: number, ...values: readonly string[]) =>
  `(array[${values.map(value => (value === 'null' ? value : `'${value}'`)).join(', ')}])[1 + floor(${values.length} * ${random(salt)})::int]`

/** `$1`: the users' shards, `$2`: the number of quotas, `$3`: now, `$4` and `$5`: the first and the last to insert. Each step uses the columns of the previous ones. */
const QUOTAS = rawSql`
  with numbered as (
    select n, 1 + floor(cardinality($1::smallint[]) * power(${random(1)}, 1.3))::int as user_id,
      $3::timestamptz - ($2::int - n) * (interval '730 days' / $2::int) as created_at
    from generate_series($4::int, $5::int) n
  ), owned as (
    select *, ($1::smallint[])[user_id] as shard,
      case when ${random(2)} < 0.15 then 'cap' else 'grant' end as kind,
      ${oneOf(3, 'month', 'month', 'month', 'day', 'week', 'year', 'hour', 'null', 'null', 'null')} as period,
      -- Of the newest tenth, a fifth is scheduled.
      date_trunc('milliseconds', case when n > $2::int * 0.9 and ${random(4)} < 0.2
        then $3::timestamptz + ${random(5)} * interval '60 days' else created_at end) as starts_at
    from numbered
  ), timed as (
    select *,
      case when period = 'hour' then 'UTC'
        else ${oneOf(6, 'UTC', 'Europe/Berlin', 'Europe/Berlin', 'America/New_York')} end as time_zone,
      case when ${random(7)} < 0.4
        then date_trunc('milliseconds', starts_at + interval '30 days' + ${random(8)} * interval '330 days')
        end as expires_at
    from owned
  ), limited as (
    select *,
      -- The last draw: up to twenty days ago, so that many windows have ended since.
      greatest(starts_at, least($3::timestamptz, expires_at - interval '1 ms') - ${random(9)} * interval '20 days')
        as touched_at,
      case when kind = 'grant' and ${random(10)} < 0.03 then null
        else floor(100 * power(10, 3 * ${random(11)}))::bigint end as "limit"
    from timed
  ), settled as (
    select *,
      case when kind = 'grant' and "limit" is not null and period is not null and ${random(12)} < 0.2
        then "limit" / 10 else 0 end as rollover_limit,
      case when kind = 'grant' and "limit" is not null and ${random(13)} < 0.1 then "limit" / 20 else 0 end
        as overage_limit,
      case when period is null then starts_at
        else greatest(starts_at, date_trunc(period, touched_at, time_zone)) end as window_start,
      (date_trunc(period, touched_at at time zone time_zone) + ('1 ' || period)::interval) at time zone time_zone
        as window_end
    from limited
  ), drawn as (
    select *,
      -- One in twenty is exhausted, overage included.
      case when starts_at > $3::timestamptz then 0
        when ${random(21)} < 0.05 then coalesce("limit", 1000) + overage_limit
        else floor(0.9 * ${random(21)} * coalesce("limit", 1000))::bigint end as used,
      case when starts_at > $3::timestamptz or ${random(21)} < 0.05 then 0 else floor(5 * ${random(22)})::int end
        as reserved,
      case when ${random(23)} < 0.05
        then date_trunc('milliseconds', created_at + ${random(24)} * ($3::timestamptz - created_at)) end as deleted_at
    from settled
  )
  insert into quota (shard, id, user_id, version, kind, name, "limit", period, time_zone, rollover_limit,
    overage_limit, priority, starts_at, expires_at, countries, message_types, alert_at, enabled, external_ref, metadata,
    window_start, window_end, used, reserved, alerted, created_at, created_by, updated_at, updated_by, deleted_at)
  select shard, n::bigint * 64 + shard, user_id, 1 + floor(3 * ${random(14)})::int, kind, 'Package ' || n, "limit",
    period, time_zone, rollover_limit, overage_limit, ${oneOf(15, '50', '100', '100', '200')}::smallint, starts_at,
    expires_at,
    case when ${random(16)} < 0.15 then array['AT', 'CH', 'DE'] end,
    case when ${random(17)} < 0.1 then array['otp'] end,
    '{80,100}', ${random(18)} >= 0.03,
    case when ${random(19)} < 0.5 then 'contract-' || n end,
    jsonb_build_object('contract', 'K-' || n, 'region', ${oneOf(20, 'north', 'south')}),
    window_start, window_end, used, reserved,
    case when "limit" is null or deleted_at is not null then '{}' else
      case when used > 0 and used * 100 >= 80 * "limit" then '{80}'::smallint[] else '{}' end
      || case when used > 0 and used >= "limit" then '{100}'::smallint[] else '{}' end
      || case when used + reserved >= "limit" + overage_limit then '{${EXHAUSTED}}'::smallint[] else '{}' end end,
    created_at, 'bench', created_at, 'bench', deleted_at
  from drawn order by n`

/** The marks of all quotas. Those of windows that have ended are kept, as on the first of a month. */
const MARKS = sql`
  insert into quota_alert (shard, quota_id, percent, at, ends_at)
  select shard, id, percent, greatest(window_start, created_at),
    greatest(window_start, least(coalesce(window_end, 'infinity'), coalesce(expires_at, 'infinity')))
  from quota, unnest(alerted) percent where deleted_at is null`

const LIVE = sql`
  update account a set live = q.live
  from (select shard, user_id, count(*) as live from quota
        where deleted_at is null and (expires_at is null or expires_at > $1) group by shard, user_id) q
  where a.shard = q.shard and a.user_id = q.user_id`

const SHARD_HEADS = sql`
  update shard_head h set grants = q.grants, caps = q.caps, deleted_grants = q.deleted_grants,
    deleted_caps = q.deleted_caps
  from (select shard,
          count(*) filter (where kind = 'grant' and deleted_at is null) as grants,
          count(*) filter (where kind = 'cap' and deleted_at is null) as caps,
          count(*) filter (where kind = 'grant' and deleted_at is not null) as deleted_grants,
          count(*) filter (where kind = 'cap' and deleted_at is not null) as deleted_caps
        from quota group by shard) q
  where h.shard = q.shard`
