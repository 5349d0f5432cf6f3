/**
 * Quotas in bulk, for measurements and for tests of plans: what a provider's database looks like after two years. The
 * same numbers give the same rows, so that two loads differ in nothing but their size.
 */
import type { Queryable } from '../src/db/database.ts'
import { timestampParam } from '../src/db/database.ts'
import { shardOf } from '../src/domain/shard.ts'
import type { EpochMs } from '../src/domain/time.ts'

export interface LoadOptions {
  quotas: number
  /** Their ids are 1…users. */
  users: number
  now: EpochMs
}

/**
 * Fills a migrated, empty database. Ids grow with age, so what is expired lies among the low ids and what has not begun
 * among the high ones, which is how it is in life and the hardest case for a list by id. The first users have some ten
 * times as many quotas as the last.
 */
export async function loadQuotas(db: Queryable, { quotas, users, now }: LoadOptions): Promise<void> {
  const shards = Array.from({ length: users }, (_, index) => shardOf(index + 1))
  await db.query({
    text: `insert into account (shard, user_id)
           select shard, user_id from unnest($1::smallint[]) with ordinality t (shard, user_id)`,
    values: [shards],
  })
  await db.query({ text: QUOTAS, values: [shards, quotas, timestampParam(now)] })
  await db.query({ text: `select setval('quota_number', $1)`, values: [quotas] })
  await db.query({ text: LIVE, values: [timestampParam(now)] })
  await db.query({ text: HEADS })
  // Also tells index-only scans which pages are settled, as autovacuum does in life…
  await db.query({ text: 'vacuum (analyze) quota, account, shard_head' })
  // …and traffic unsettles: every tenth live quota has been drawn from since.
  await db.query({
    text: `update quota set used = used, seq = seq + 1
           where deleted_at is null and enabled and (expires_at is null or expires_at > $1)
             and hashint8extended(id, 100) % 10 = 0`,
    values: [timestampParam(now)],
  })
}

/** An even draw from 0 (included) to 1 that depends on the row's number and the `salt` alone. */
const draw = (salt: number) => `((hashint8extended(n, ${salt}) & 2147483647) / 2147483648.0::float8)`

const oneOf = (salt: number, ...values: readonly string[]) =>
  `(array[${values.map(value => (value === 'null' ? value : `'${value}'`)).join(', ')}])[1 + floor(${values.length} * ${draw(salt)})::int]`

/** `$1` the users' shards, `$2` how many quotas, `$3` now. Each step draws on the columns of those before. */
const QUOTAS = `
  with numbered as (
    select n, 1 + floor(cardinality($1::smallint[]) * power(${draw(1)}, 1.3))::int as user_id,
      $3::timestamptz - ($2::int - n) * (interval '730 days' / $2::int) as created_at
    from generate_series(1, $2::int) n
  ), owned as (
    select *, ($1::smallint[])[user_id] as shard,
      case when ${draw(2)} < 0.15 then 'cap' else 'grant' end as kind,
      ${oneOf(3, 'month', 'month', 'month', 'day', 'week', 'year', 'hour', 'null', 'null', 'null')} as period,
      -- Of the youngest tenth, a fifth has not begun.
      date_trunc('milliseconds', case when n > $2::int * 0.9 and ${draw(4)} < 0.2
        then $3::timestamptz + ${draw(5)} * interval '60 days' else created_at end) as starts_at
    from numbered
  ), timed as (
    select *,
      case when period = 'hour' then 'UTC'
        else ${oneOf(6, 'UTC', 'Europe/Berlin', 'Europe/Berlin', 'America/New_York')} end as time_zone,
      case when ${draw(7)} < 0.4
        then date_trunc('milliseconds', starts_at + interval '30 days' + ${draw(8)} * interval '330 days')
        end as expires_at
    from owned
  ), limited as (
    select *,
      -- When it was last drawn from: up to twenty days ago, so that many a window has ended since.
      greatest(starts_at, least($3::timestamptz, expires_at - interval '1 ms') - ${draw(9)} * interval '20 days')
        as touched_at,
      case when kind = 'grant' and ${draw(10)} < 0.03 then null
        else floor(100 * power(10, 3 * ${draw(11)}))::bigint end as "limit"
    from timed
  ), settled as (
    select *,
      case when kind = 'grant' and "limit" is not null and period is not null and ${draw(12)} < 0.2
        then "limit" / 10 else 0 end as rollover_limit,
      case when kind = 'grant' and "limit" is not null and ${draw(13)} < 0.1 then "limit" / 20 else 0 end
        as overage_limit,
      case when period is null then starts_at
        else greatest(starts_at, date_trunc(period, touched_at, time_zone)) end as window_start,
      (date_trunc(period, touched_at at time zone time_zone) + ('1 ' || period)::interval) at time zone time_zone
        as window_end
    from limited
  )
  insert into quota (shard, id, user_id, version, kind, name, "limit", period, time_zone, rollover_limit,
    overage_limit, priority, starts_at, expires_at, countries, message_types, alert_at, enabled, external_ref, metadata,
    window_start, window_end, used, reserved, created_at, created_by, updated_at, updated_by, deleted_at)
  select shard, n::bigint * 64 + shard, user_id, 1 + floor(3 * ${draw(14)})::int, kind, 'Package ' || n, "limit",
    period, time_zone, rollover_limit, overage_limit, ${oneOf(15, '50', '100', '100', '200')}::smallint, starts_at,
    expires_at,
    case when ${draw(16)} < 0.15 then array['AT', 'CH', 'DE'] end,
    case when ${draw(17)} < 0.1 then array['otp'] end,
    '{80,100}', ${draw(18)} >= 0.03,
    case when ${draw(19)} < 0.5 then 'contract-' || n end,
    jsonb_build_object('contract', 'K-' || n, 'region', ${oneOf(20, 'north', 'south')}),
    window_start, window_end,
    -- One in twenty is drawn to its end, overage included.
    case when starts_at > $3::timestamptz then 0
      when ${draw(21)} < 0.05 then coalesce("limit", 1000) + overage_limit
      else floor(0.9 * ${draw(21)} * coalesce("limit", 1000))::bigint end,
    case when starts_at > $3::timestamptz or ${draw(21)} < 0.05 then 0 else floor(5 * ${draw(22)})::int end,
    created_at, 'bench', created_at, 'bench',
    case when ${draw(23)} < 0.05
      then date_trunc('milliseconds', created_at + ${draw(24)} * ($3::timestamptz - created_at)) end
  from settled order by n`

const LIVE = `
  update account a set live = q.live
  from (select shard, user_id, count(*) as live from quota
        where deleted_at is null and (expires_at is null or expires_at > $1) group by shard, user_id) q
  where a.shard = q.shard and a.user_id = q.user_id`

const HEADS = `
  update shard_head h set grants = q.grants, caps = q.caps, deleted_grants = q.deleted_grants,
    deleted_caps = q.deleted_caps
  from (select shard,
          count(*) filter (where kind = 'grant' and deleted_at is null) as grants,
          count(*) filter (where kind = 'cap' and deleted_at is null) as caps,
          count(*) filter (where kind = 'grant' and deleted_at is not null) as deleted_grants,
          count(*) filter (where kind = 'cap' and deleted_at is not null) as deleted_caps
        from quota group by shard) q
  where h.shard = q.shard`
