/**
 * Users with one monthly grant each, of more units than any run takes: what every side of a race can do the same with.
 * (`load.ts` makes what is in life, where many a call would be denied.)
 */
import { type Database, instantParam } from '../src/db/database.ts'
import { SHARD_COUNT, shardOf } from '../src/domain/shard.ts'
import type { Instant } from '../src/domain/time.ts'
import { lastBoundary, nextBoundary } from '../src/domain/window.ts'

/** Users 1…count of an empty, migrated database. */
export async function fillUsers(db: Database, count: number, now: Instant): Promise<void> {
  const shards = Array.from({ length: count }, (_, index) => shardOf(index + 1))
  const window = [lastBoundary('month', 'UTC', now), nextBoundary('month', 'UTC', now)].map(instantParam)
  // Made anew when all rows are in, which is far faster.
  const indexes = await db.query<{ name: string; made: string }>({
    text: `select indexname as name, indexdef as made from pg_indexes
      where tablename = 'quota' and indexname <> 'quota_pkey'`,
  })
  for (const { name } of indexes) await db.query({ text: `drop index ${name}` })
  await db.query({
    text: `insert into account (shard, user_id, live)
      select shard, user_id, 1 from unnest($1::smallint[]) with ordinality t (shard, user_id)`,
    values: [shards],
  })
  await db.query({
    text: `insert into quota (shard, id, user_id, kind, "limit", period, time_zone, rollover_limit, overage_limit,
        priority, starts_at, alert_at, enabled, metadata, window_start, window_end, created_at, created_by,
        updated_at, updated_by)
      select shard, n * ${SHARD_COUNT} + shard, n, 'grant', 1000000000000, 'month', 'UTC', 0, 0, 100, $2, '{}', true,
        '{}', $2, $3, $2, 'bench', $2, 'bench'
      from unnest($1::smallint[]) with ordinality t (shard, n)`,
    values: [shards, ...window],
  })
  for (const { made } of indexes) await db.query({ text: made })
  await db.query({ text: 'vacuum (analyze) account, quota' })
}

/** The ledger of years: settled reservations of users 1…users, without a draw on what is live. */
export async function fillReservations(db: Database, count: number, users: number, now: Instant): Promise<void> {
  const shards = Array.from({ length: users }, (_, index) => shardOf(index + 1))
  const step = 500_000
  for (let from = 0; from < count; from += step) {
    await db.query({
      text: `insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released,
          refunded, on_expiry, expired, draws, created_at, expires_at, changed_at)
        select ($1::smallint[])[user_id], user_id, 'past-' || n, 'reserve', 1, false, false, 1, 1, 0, 0, 'release',
          false, array[user_id * ${SHARD_COUNT} + ($1::smallint[])[user_id], 0, 0, 0, 0, 1], at, at, at
        from (select n, 1 + mod(n * 7919, $2::int)::int as user_id, $3::timestamptz - n * interval '1 s' as at
          from generate_series($4::bigint, $5::bigint) n) k`,
      values: [shards, users, instantParam(now), from + 1, Math.min(count, from + step)],
    })
  }
  await db.query({ text: 'vacuum (analyze) reservation' })
}
