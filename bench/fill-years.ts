/**
 * Fills a database with what three years of a platform leave behind, in compressed form: it writes the rows that retention
 * and compaction would have kept, instead of living through the years. Counters, history, usage and ledger agree, so
 * `verify` finds nothing.
 */
import type { Database } from '../src/db/connection/database.ts'
import { type Sql, sql } from '../src/db/connection/sql.ts'
import { timestampParam } from '../src/db/connection/values.ts'
import { SHARD_COUNT, shardOf } from '../src/domain/basics/shard.ts'
import { DAY_MS, type EpochMs } from '../src/domain/time/time.ts'
import { rawSql } from '../test/support/sql.ts'
import { withoutIndexes } from './fill.ts'

/** A platform on which each user sends the same number of messages, of one unit, on each day. */
export interface Platform {
  users: number
  /** Of one user and day; 96 at most, each in a quarter of an hour of its own. */
  messages: number
  /** Of all users and one day. */
  events: number
  denials: number
}

/** How long rows are kept, in days: the defaults of the settings. */
const KEPT = { reservations: 35, quarters: 35, days: 400, events: 90, deliveries: 35, denials: 7 }
/** One in ten users has a daily cap, and so a closed window for each day. */
const CAPPED = 10
/** Of each user: packs that have ended, one a quarter of a year, and quotas that were deleted. */
const PACKS = 12
const DELETED = 2
/** Events and sequences that retention has removed, of each shard and user. */
const PRUNED = 100_000

/** Fills an empty, migrated database with the three years before the day (UTC) of `now`. */
export async function fillYears(
  db: Database,
  platform: Platform,
  now: EpochMs,
  say: (text: string) => void,
): Promise<void> {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const start = new Date(today)
  start.setUTCFullYear(start.getUTCFullYear() - 3, start.getUTCMonth(), 1)
  await db.query({ text: platformView(platform, start.getTime(), today) })
  await db.query({
    text: sql`insert into bench_user select shard, user_id from unnest($1::smallint[]) with ordinality t (shard, user_id)`,
    values: [Array.from({ length: platform.users }, (_, index) => shardOf(index + 1))],
  })
  for (const { table, text } of STEPS) {
    const began = performance.now()
    if (LARGE.has(table)) await withoutIndexes(db, table, () => db.query({ text: rawSql`${text}` }))
    else await db.query({ text: rawSql`${text}` })
    say(`  ${table}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  }
  await db.query({ text: sql`drop view bench_platform; drop table bench_user` })
  await db.query({ text: sql`vacuum (analyze)` })
}

/** The platform as one row, and its users as a table, for the statements below. */
function platformView({ users, messages, events, denials }: Platform, start: EpochMs, today: EpochMs): Sql {
  const [from, to] = [`timestamptz '${timestampParam(start)}'`, `timestamptz '${timestampParam(today)}'`]
  return rawSql`
    create table bench_user (shard smallint not null, user_id bigint primary key);
    create view bench_platform as select ${users}::bigint as users, ${messages}::int as messages, ${events}::int as events,
      ${denials}::int as denials, ${from} as start, ${to} as today,
      ${to} - interval '${KEPT.reservations} days' as kept_since,
      date_trunc('month', ${to} - interval '${KEPT.days} days') as days_since`
}

/** Tables that are filled at once and have no foreign keys: their indexes are built afterwards. */
const LARGE = new Set(['quota_window', 'archive', 'reservation', 'usage', 'usage_day', 'event', 'webhook_delivery'])

const idOf = (nth: string | number) => `((u.user_id * 100 + ${nth}) * ${SHARD_COUNT} + u.shard)`
const days = (interval: string) => `(extract(epoch from ${interval}) / 86400)::int`
const FROM = 'from bench_platform p cross join bench_user u'
/** The month of the last day; it is open. */
const MONTH = `date_trunc('month', p.today)`
const PAST_MONTHS = `generate_series(p.start, p.today - interval '1 day', interval '1 month')`
const NO_OF_MONTH = `(extract(year from d) * 12 + extract(month from d) - extract(year from p.start) * 12 - extract(month from p.start))::bigint`
/** The nth of a user's m messages comes at the nth m-th of the day. */
const MESSAGES = `cross join generate_series(p.kept_since, p.today - interval '1 day', interval '1 day') d
  cross join generate_series(0, p.messages - 1) nth
  cross join lateral (select d + nth * (interval '1 day' / p.messages) + (u.user_id % 60) * interval '1 s' as at) t`

const QUOTA = `insert into quota (shard, id, user_id, kind, name, "limit", period, time_zone, rollover_limit, overage_limit,
  priority, starts_at, expires_at, alert_at, enabled, external_ref, metadata, window_no, window_start, window_end, used,
  created_at, created_by, updated_at, updated_by, deleted_at)`

const QUOTAS = [
  `${QUOTA} select u.shard, ${idOf(0)}, u.user_id, 'grant', 'Package of user ' || u.user_id, 1000 * p.messages, 'month', 'UTC', 0,
      0, 100, p.start, null, '{80,100}', true, 'contract-' || u.user_id, '{}', (select count(*) from ${PAST_MONTHS} m where m < ${MONTH}),
      ${MONTH}, ${MONTH} + interval '1 month', p.messages * ${days(`p.today - ${MONTH}`)}, p.start, 'bench', p.start, 'bench', null
    ${FROM}`,
  `${QUOTA} select u.shard, ${idOf(1)}, u.user_id, 'cap', 'Daily ceiling', 100 * p.messages, 'day', 'UTC', 0, 0, 100, p.start,
      null, '{80,100}', true, null, '{}', ${days('p.today - p.start')}, p.today, p.today + interval '1 day', 0, p.start, 'bench',
      p.start, 'bench', null
    ${FROM} where u.user_id % ${CAPPED} = 0`,
  `${QUOTA} select u.shard, ${idOf('2 + n')}, u.user_id, 'grant', 'Pack ' || n, 1000, null, 'UTC', 0, 0, 100, at,
      at + interval '60 days', '{80,100}', true, null, '{}', 0, at, null, 0, at, 'bench', at, 'bench', null
    ${FROM} cross join generate_series(0, ${PACKS - 1}) n
    cross join lateral (select p.start + n * interval '3 months' as at) t`,
  `${QUOTA} select u.shard, ${idOf('50 + n')}, u.user_id, 'grant', 'Trial', 100, null, 'UTC', 0, 0, 100, at, null, '{80,100}',
      true, null, '{}', 0, at, null, 0, at, 'bench', at, 'bench', at + interval '30 days'
    ${FROM} cross join generate_series(0, ${DELETED - 1}) n
    cross join lateral (select p.start + n * interval '1 year' as at) t`,
]

const WINDOW = `insert into quota_window (shard, quota_id, window_no, window_start, window_end, "limit", overage_limit, rolled_over,
  used, reserved, carried)`
const WINDOWS = `${WINDOW}
  select u.shard, ${idOf(0)}, m.no - 1, m.at, m.at + interval '1 month', 1000 * p.messages, 0, 0,
    p.messages * ${days(`m.at + interval '1 month' - m.at`)}, 0, 0
  ${FROM} cross join ${PAST_MONTHS} with ordinality m (at, no) where m.at < ${MONTH}
  union all
  select u.shard, ${idOf(1)}, d.no - 1, d.at, d.at + interval '1 day', 100 * p.messages, 0, 0, p.messages, 0, 0
  ${FROM} cross join generate_series(p.start, p.today - interval '1 day', interval '1 day') with ordinality d (at, no)
  where u.user_id % ${CAPPED} = 0`

/** What retention has folded of the reservations before the last five weeks. */
const ARCHIVE = `insert into archive (shard, quota_id, window_no, used, forced)
  select u.shard, ${idOf(0)}, m.no - 1, p.messages * ${days(`least(m.at + interval '1 month', p.kept_since) - m.at`)}, 0
  ${FROM} cross join ${PAST_MONTHS} with ordinality m (at, no) where m.at < p.kept_since
  union all
  select u.shard, ${idOf(1)}, d.no - 1, p.messages, 0
  ${FROM} cross join generate_series(p.start, p.kept_since - interval '1 day', interval '1 day') with ordinality d (at, no)
  where u.user_id % ${CAPPED} = 0`

/** A quota takes about so much room in the audit log, and in an event. */
const SHOWN = `jsonb_build_object('user_id', q.user_id, 'kind', q.kind, 'used', 0, 'filler', repeat('x', 700))`
const CHANGES = `insert into quota_change (shard, quota_id, version, action, at, actor, request_id, before, after)
  select q.shard, q.id, no, (array['created', 'updated', 'updated', 'updated'])[no], q.created_at + no * interval '30 days',
    'bench', 'bench', case when no > 1 then ${SHOWN} end, ${SHOWN}
  from quota q cross join generate_series(1, case when q.period = 'month' then 4 else 1 end) no`

const RESERVATIONS = `insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released,
    refunded, on_expiry, expired, draws, created_at, expires_at, changed_at)
  select u.shard, u.user_id, 'm-' || u.user_id || '-' || ${days('d - p.start')} || '-' || nth, 'reserve', 1, false, false, 1, 1,
    0, 0, 'release', false,
    array[${idOf(0)}, 0, ${NO_OF_MONTH}, (extract(epoch from date_trunc('month', d)) * 1000)::bigint, 0, 1]
      || case when u.user_id % ${CAPPED} = 0
           then array[${idOf(1)}, 1, ${days('d - p.start')}, (extract(epoch from d) * 1000)::bigint, 0, 1] else '{}' end,
    t.at, t.at + interval '10 minutes', t.at
  ${FROM} ${MESSAGES}`

const USAGE_COLUMNS = `(shard, user_id, bucket, quota_id, country, message_type, committed, committed_messages, refunded,
  refunded_messages, denied, denied_messages)`
const usageRow = (bucket: string, units: string) => `
  select u.shard, u.user_id, ${bucket}, ${idOf(0)}, (array['DE', 'AT', 'FR', 'PL'])[1 + u.user_id % 4], 'otp', ${units}, ${units}, 0,
    0, 0, 0`
const DAYS = `generate_series(p.days_since, p.kept_since - interval '1 day', interval '1 day') d`
const MONTHS = `generate_series(p.start, p.days_since - interval '1 day', interval '1 month') m`
const totalsOf = (span: number, table: string) => `
  select ${span}, case grouping(country, message_type) when 3 then 0 when 1 then 1 else 2 end, bucket,
    case grouping(country, message_type) when 1 then country when 2 then message_type end, sum(committed),
    sum(committed_messages), 0, 0, 0, 0, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, 0, 0
  from ${table} group by grouping sets ((bucket), (bucket, country), (bucket, message_type))`
const TOP = `insert into usage_top
  select u.shard, day, (array_agg(u.user_id order by u.user_id))[1:128], (array_agg(p.messages::bigint))[1:128],
    case when count(*) > 128 then max(p.messages) else 0 end
  ${FROM} cross join generate_series(p.start, p.today - interval '1 day', interval '1 day') day group by u.shard, day`

const EVENTS = `insert into event (shard, number, user_id, sequence, type, at, data)
  select shard, ${PRUNED} + row_number() over (partition by shard order by at, user_id), user_id,
    ${PRUNED} + row_number() over (partition by user_id order by at), 'quota.updated', at,
    jsonb_build_object('quota', jsonb_build_object('user_id', user_id, 'filler', repeat('x', 700)))
  from (
    select u.shard, u.user_id, p.today - interval '${KEPT.events} days' + n * (interval '${KEPT.events} days' / (p.events * ${KEPT.events})) as at
    from bench_platform p cross join generate_series(0, p.events * ${KEPT.events} - 1) n
    join bench_user u on u.user_id = 1 + n % p.users
  ) e`

/** By table, in the order in which they need each other. */
const STEPS: readonly { table: string; text: string }[] = [
  {
    table: 'account',
    text: `insert into account (shard, user_id, live, live_at)
      select u.shard, u.user_id, case when u.user_id % ${CAPPED} = 0 then 2 else 1 end, p.today ${FROM}`,
  },
  ...QUOTAS.map(text => ({ table: 'quota', text })),
  { table: 'quota_window', text: WINDOWS },
  { table: 'archive', text: ARCHIVE },
  { table: 'quota_change', text: CHANGES },
  { table: 'reservation', text: RESERVATIONS },
  {
    table: 'usage',
    text: `insert into usage ${USAGE_COLUMNS} ${usageRow(`date_bin('15 min', t.at, timestamptz 'epoch')`, '1')} ${FROM} ${MESSAGES}`,
  },
  {
    table: 'usage_day',
    text: `insert into usage_day ${USAGE_COLUMNS} ${usageRow('d', 'p.messages')} ${FROM} cross join ${DAYS}`,
  },
  {
    table: 'usage_month',
    text: `insert into usage_month ${USAGE_COLUMNS}
      ${usageRow('m', `p.messages * ${days(`m + interval '1 month' - m`)}`)} ${FROM} cross join ${MONTHS}`,
  },
  {
    table: 'usage_total',
    text: `insert into usage_total ${totalsOf(0, 'usage')} union all ${totalsOf(1, 'usage_day')} union all ${totalsOf(2, 'usage_month')}`,
  },
  { table: 'usage_top', text: TOP },
  {
    table: 'usage_period',
    text: `insert into usage_period
      select d, d + interval '1 day' from bench_platform p cross join ${DAYS}
      union all select m, m + interval '1 month' from bench_platform p cross join ${MONTHS}`,
  },
  {
    table: 'usage_upkeep',
    text: `update usage_upkeep set until = case task when 'day' then p.kept_since when 'month' then p.days_since else p.today end
      from bench_platform p`,
  },
  { table: 'event', text: EVENTS },
  {
    table: 'event_sequence',
    text: `insert into event_sequence select shard, user_id, ${PRUNED} from bench_user`,
  },
  {
    table: 'denial',
    text: `insert into denial (shard, user_id, at, number, id, op, units, allow_partial, reason, remaining, explanation, skipped)
      select u.shard, u.user_id, p.today - n * (interval '${KEPT.denials} days' / (p.denials * ${KEPT.denials})), nextval('denial_number'),
        'd-' || n, 'reserve', 1, false, 'quota_exhausted', 0,
        jsonb_build_array(jsonb_build_object('quota_id', ${idOf(0)}, 'kind', 'grant', 'verdict', 'exhausted', 'filler', repeat('x', 100))), 0
      from bench_platform p cross join generate_series(1, p.denials * ${KEPT.denials}) n join bench_user u on u.user_id = 1 + n % p.users`,
  },
  {
    table: 'quota_alert',
    text: `insert into quota_alert (shard, quota_id, percent, at, ends_at)
      select q.shard, q.id, 80, q.window_start, q.window_end from quota q where q.period = 'month' and q.user_id % 7 = 0`,
  },
  {
    table: 'webhook',
    text: `insert into webhook (shard, id, url, enabled, secret, created_at, created_by, updated_at, updated_by)
      select 1, 65, 'https://example.com/', true, '\\x00', p.start, 'bench', p.start, 'bench' from bench_platform p`,
  },
  {
    table: 'webhook_delivery',
    text: `insert into webhook_delivery (shard, webhook_id, event_shard, number, status, attempts, last_attempt_at, response_code, created_at)
      select 1, 65, e.shard, e.number, 'delivered', 1, e.at, 204, e.at from event e cross join bench_platform p
      where e.at >= p.today - interval '${KEPT.deliveries} days'`,
  },
  {
    table: 'shard_head',
    text: `update shard_head h set last_event = e.last, pruned = ${PRUNED}, grants = q.grants, caps = q.caps,
        deleted_grants = q.deleted_grants, expired_until = p.today
      from bench_platform p, (
        select shard, count(*) filter (where kind = 'grant' and deleted_at is null) as grants,
          count(*) filter (where kind = 'cap') as caps, count(*) filter (where deleted_at is not null) as deleted_grants
        from quota group by shard
      ) q, (select s.shard, coalesce(max(e.number), ${PRUNED}) as last from generate_series(0, ${SHARD_COUNT - 1}) s (shard)
            left join event e on e.shard = s.shard group by s.shard) e
      where q.shard = h.shard and e.shard = h.shard`,
  },
  {
    table: 'webhook_cursor',
    text: `insert into webhook_cursor (shard, webhook_id, positions)
      select 1, 65, array_agg(last_event order by shard) from shard_head`,
  },
  { table: 'quota_number', text: `select setval('quota_number', (select max(user_id) * 100 + 99 from bench_user))` },
]
