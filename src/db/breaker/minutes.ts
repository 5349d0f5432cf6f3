/** Messages of the last hour by the minute, which the rollup of usage counts for the breaker. */

import { USAGE_BUCKET_MS } from '../../domain/basics/bounds.ts'
import type { Shard } from '../../domain/basics/shard.ts'
import { type Budgets, type Slot, YOUNG_MS } from '../../domain/pauses/breaker.ts'
import { type EpochMs, HOUR_MS, MINUTE_MS } from '../../domain/time/time.ts'
import { findShardsWith } from '../cluster/first-rows.ts'
import type { Database, Queryable, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { MINUTES_KEPT_MS } from '../usage/minutes.ts'
import type { Destination } from './past.ts'

/** A destination that may exceed a budget, with its minutes since `minutesSince`. */
export interface Suspect extends Destination {
  minutes: Slot[]
}

/** The beginning of the quarter of an hour in which the last hour begins: what was before is read by such quarters. */
export const minutesSince = (now: EpochMs): EpochMs => Math.floor((now - HOUR_MS) / USAGE_BUCKET_MS) * USAGE_BUCKET_MS

/**
 * Destinations that may exceed the budget of young messages, or the one of an hour, which takes ten times as long: all others cannot.
 * Minutes that lie ahead were counted by a clock that was ahead, and count for nothing.
 */
export async function findSuspects(
  db: Queryable,
  now: EpochMs,
  { hour, flight, share }: Budgets,
  isHourJudged: boolean,
): Promise<Suspect[]> {
  const young = now - YOUNG_MS - MINUTE_MS
  const rows = await db.query<Destination & Record<'starts' | 'sent' | 'verified', number[]>>({
    text: sql`with suspect as materialized (
             select shard, user_id, country from breaker_minute where minute > $1 and minute <= $4
             group by shard, user_id, country
             having sum(sent - verified) filter (where minute > $2) > $5::bigint
               or $8::boolean and sum(sent - verified) > greatest($6::float8, $7::float8 * sum(verified))
           )
           select user_id, country, array_agg((extract(epoch from minute) * 1000)::bigint) as starts,
             array_agg(sent) as sent, array_agg(verified) as verified
           from suspect join breaker_minute using (shard, user_id, country)
           where minute >= $3 and minute <= $4
           group by shard, user_id, country`,
    values: [
      timestampParam(isHourJudged ? now - HOUR_MS - MINUTE_MS : young),
      timestampParam(young),
      timestampParam(minutesSince(now)),
      timestampParam(now + MINUTE_MS),
      flight,
      hour,
      share,
      isHourJudged,
    ],
  })
  return rows.map(({ user_id, country, starts, sent, verified }) => ({
    ...{ user_id, country },
    minutes: starts.map((start, at) => {
      return { start, end: start + MINUTE_MS, sent: sent[at] ?? 0, verified: verified[at] ?? 0 }
    }),
  }))
}

/** Removes all: they are of other message types than those that are watched from now on. */
export async function removeAllMinutes(tx: Transaction): Promise<void> {
  await tx.query({ text: sql`delete from breaker_minute` })
}

/** Should a clock be ahead, minutes stay for this much longer. For two days (`removalTime`) they would be too many. */
const STAY_MS = 2 * HOUR_MS

/** The bounds of the minutes that are kept. */
const keptMinutes = (now: EpochMs) =>
  [timestampParam(now - MINUTES_KEPT_MS - STAY_MS), timestampParam(now + MINUTES_KEPT_MS)] as const

/** The shards with minutes that `removeMinutes` removes. */
export async function findOldMinutes(db: Database, now: EpochMs): Promise<Iterable<Shard>> {
  const [oldest, latest] = keptMinutes(now)
  const minutes = { from: sql`breaker_minute m`, by: sql`m.minute` }
  const isOld = sql`m.shard = h.shard and m.minute < $1`
  const isAhead = sql`m.shard = h.shard and m.minute > $1`
  const old = await findShardsWith(db, { name: 'have-old-minutes', ...minutes, where: isOld, values: [oldest] })
  const ahead = await findShardsWith(db, { name: 'have-minutes-ahead', ...minutes, where: isAhead, values: [latest] })
  return new Set([...old, ...ahead])
}

/** Removes a page of a shard's minutes that are kept no longer, or were counted by a clock that was ahead. Resolves to how many it removed. */
export async function removeMinutes(db: Queryable, shard: Shard, now: EpochMs, rows: number): Promise<number> {
  const removed = await db.query({
    name: 'breaker-remove-minutes',
    text: sql`delete from breaker_minute where shard = $1 and ctid = any(array(
           select ctid from breaker_minute where shard = $1 and (minute < $2 or minute > $3) limit $4 for update skip locked)) returning 1`,
    values: [shard, ...keptMinutes(now), rows],
  })
  return removed.length
}
