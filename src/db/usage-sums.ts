import { FORECAST_DAYS, type PastUsage } from '../domain/forecast.ts'
import { shardOf } from '../domain/shard.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'
import { USAGE_BUCKET_MS, type UsageGroup, usageBucketOf } from '../domain/usage.ts'
import type { Queryable } from './database.ts'
import { timestampParam } from './values.ts'

/** Units and messages of each kind. `unfunded` is the part of `committed` that no grant paid for. */
export interface UsageSums {
  committed: number
  committed_messages: number
  refunded: number
  refunded_messages: number
  unfunded: number
  unfunded_messages: number
  denied: number
  denied_messages: number
}

const GROUP_COLUMN = { user: 'user_id', quota: 'quota_id', country: 'country', message_type: 'message_type' }

export interface UsageRow extends UsageSums {
  /** The index of the interval, from 0. */
  interval: number
  /** The value of the group; null if it has none, or the sums are not grouped. */
  key: number | string | null
}

const SUMS = `
  coalesce(sum(committed), 0)::bigint as committed,
  coalesce(sum(committed_messages), 0)::bigint as committed_messages,
  coalesce(sum(refunded), 0)::bigint as refunded, coalesce(sum(refunded_messages), 0)::bigint as refunded_messages,
  coalesce(sum(committed) filter (where quota_id is null), 0)::bigint as unfunded,
  coalesce(sum(committed_messages) filter (where quota_id is null), 0)::bigint as unfunded_messages,
  coalesce(sum(denied), 0)::bigint as denied, coalesce(sum(denied_messages), 0)::bigint as denied_messages`

/**
 * Usage of one user, or of all, from `$1` to `$2`. It reads `usage` and `usage_pending` in one statement, so that
 * nothing is missed or counted twice while the rollup moves it. It never reads the ledger, so it holds for removed
 * reservations too.
 */
function usageOf(one: { shard: string; user: string } | null): string {
  const rolledUp = one === null ? '' : `shard = ${one.shard} and user_id = ${one.user} and`
  const batch = one === null ? '' : `p.shard = ${one.shard} and ${one.user} = any(p.users) and`
  const entry = one === null ? '' : `where e.user_id = ${one.user}`
  return `
    select user_id, bucket, quota_id, country, message_type, committed, committed_messages, refunded,
      refunded_messages, denied, denied_messages
    from usage where ${rolledUp} bucket >= $1 and bucket < $2
    union all
    select e.user_id, p.bucket, e.quota_id, e.country, e.message_type,
      case e.kind when 0 then e.units else 0 end, case e.kind when 0 then e.messages else 0 end,
      case e.kind when 1 then e.units else 0 end, case e.kind when 1 then e.messages else 0 end,
      case e.kind when 2 then e.units else 0 end, case e.kind when 2 then e.messages else 0 end
    from (select * from usage_pending p where ${batch} bucket >= $1 and bucket < $2) p,
      unnest(p.users, p.quotas, p.countries, p.message_types, p.kinds, p.units, p.messages)
        e (user_id, quota_id, country, message_type, kind, units, messages)
    ${entry}`
}

/**
 * Sums by interval and group. `starts` are the beginnings of the intervals, `to` is the end of the last. Intervals
 * without usage have no row; there are `maxRows` rows at most.
 */
export function sumUsage(
  db: Queryable,
  userId: number | undefined,
  starts: readonly EpochMs[],
  to: EpochMs,
  group: UsageGroup | undefined,
  maxRows: number,
): Promise<UsageRow[]> {
  const key = group === undefined ? 'null::text' : GROUP_COLUMN[group]
  const one = userId === undefined ? null : { shard: '$5', user: '$6' }
  return db.query<UsageRow>({
    text: `
      select width_bucket(bucket, $3::timestamptz[]) - 1 as interval, ${key} as key, ${SUMS}
      from (${usageOf(one)}) u group by 1, 2 order by 1, 2 limit $4`,
    values: [
      timestampParam(starts[0] ?? to),
      timestampParam(to),
      starts.map(start => timestampParam(start)),
      maxRows,
      ...(userId === undefined ? [] : [shardOf(userId), userId]),
    ],
  })
}

/** The users who committed most units, most first. */
export function topUsers(
  db: Queryable,
  from: EpochMs,
  to: EpochMs,
  limit: number,
): Promise<(UsageSums & { user_id: number })[]> {
  return db.query({
    text: `select user_id, ${SUMS} from (${usageOf(null)}) u group by user_id
      order by committed desc, user_id limit $3`,
    values: [timestampParam(from), timestampParam(to), limit],
  })
}

/** The basis of a forecast: units that grants paid for, net of refunds, by stretches of 24 hours back from `now`. */
export async function pastUsage(db: Queryable, userId: number, now: EpochMs): Promise<PastUsage> {
  // The current quarter of an hour counts; it belongs to the last day.
  const to = usageBucketOf(now) + USAGE_BUCKET_MS
  const rows = await db.query<{ first: EpochMs | null; day: number | null; units: number }>({
    name: 'past-usage',
    text: `
      select (select least(
          (select bucket from usage where shard = $3 and user_id = $4 and bucket >= '-infinity'
            order by bucket fetch first 1 row only),
          (select min(bucket) from usage_pending p where p.shard = $3 and $4 = any(p.users)))) as first,
        s.day, s.units
      from (select 1) one left join (
        select floor(extract(epoch from $2::timestamptz - bucket - interval '1 ms') / 86400)::int as day,
          sum(committed - refunded)::bigint as units
        from (${usageOf({ shard: '$3', user: '$4' })}) u where quota_id is not null
        group by 1
      ) s on true`,
    values: [timestampParam(to - FORECAST_DAYS * DAY_MS), timestampParam(to), shardOf(userId), userId],
  })
  const units = new Map(rows.map(row => [row.day, row.units]))
  return {
    first: rows[0]?.first ?? null,
    days: Array.from({ length: FORECAST_DAYS }, (_, day) => units.get(day) ?? 0),
  }
}
