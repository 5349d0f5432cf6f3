/** What the breaker judges: messages of the last hour by the minute, and those of before by the quarter of an hour. */

import { USAGE_BUCKET_MS } from '../../domain/bounds.ts'
import { type Budgets, HISTORY_DAYS, type Slot, YOUNG_MS } from '../../domain/breaker.ts'
import { type Shard, shardOf } from '../../domain/shard.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../domain/time.ts'
import type { Queryable, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import type { WatchedUsers } from './settings.ts'

/** How long minutes are kept: an hour, and up to the quarter of an hour in which it begins. */
const MINUTES_KEPT_MS = HOUR_MS + USAGE_BUCKET_MS

const MINUTE_MS = 60_000

/** A user, and a country to which the user sends. */
export interface Destination {
  user_id: number
  country: string
}

/** Destinations that may exceed the budget of an hour or the one of young messages: all others cannot. */
export function findSuspects(db: Queryable, now: EpochMs, { hour, flight, share }: Budgets): Promise<Destination[]> {
  return db.query<Destination>({
    name: 'breaker-suspects',
    text: sql`select user_id, country from breaker_minute where minute > $1
           group by shard, user_id, country
           having sum(sent) - sum(verified) > greatest($3::float8, $5::float8 * sum(verified))
             or coalesce(sum(sent) filter (where minute > $2), 0) - coalesce(sum(verified) filter (where minute > $2), 0) > $4::bigint`,
    values: [
      timestampParam(now - HOUR_MS - MINUTE_MS),
      timestampParam(now - YOUNG_MS - MINUTE_MS),
      hour,
      flight,
      share,
    ],
  })
}

/** Destinations that had messages in the last 20 minutes, with what they had in the last 24 hours. It is asked for every quarter of an hour. */
const OF_DAY = sql`lately as (
    select distinct shard, user_id from breaker_minute where minute > $1
  ), destination as (
    select u.shard, u.user_id, u.country, sum(u.committed_messages)::bigint as sent, coalesce(sum(u.verified_messages), 0)::bigint as verified
    from lately l join usage u on u.shard = l.shard and u.user_id = l.user_id and u.bucket > $2
    where u.message_type = any ($3::text[]) and u.country is not null
    group by u.shard, u.user_id, u.country
  )`

/** Those that may exceed the budget of a day. */
export function findDaySuspects(
  db: Queryable,
  now: EpochMs,
  types: readonly string[],
  { day, share }: Budgets,
): Promise<Destination[]> {
  return db.query<Destination>({
    text: sql`with ${OF_DAY} select user_id, country from destination where sent - verified > greatest($4::float8, $5::float8 * verified)`,
    values: [...lastDay(now, types), day, share],
  })
}

export async function countWatchedUsers(db: Queryable, now: EpochMs, types: readonly string[]): Promise<WatchedUsers> {
  const [users] = await db.query<WatchedUsers>({
    text: sql`with ${OF_DAY}, of_user as (
             select user_id, sum(sent)::bigint as messages, sum(verified) > 0 as has_feedback from destination group by shard, user_id
           )
           select count(*) filter (where has_feedback) as with_feedback, count(*) filter (where not has_feedback) as without_feedback,
             coalesce((select json_agg(e) from (
               select user_id, messages from of_user where not has_feedback order by messages desc, user_id limit 10
             ) e), '[]') as examples
           from of_user`,
    values: lastDay(now, types),
  })
  return users ?? { with_feedback: 0, without_feedback: 0, examples: [] }
}

const lastDay = (now: EpochMs, types: readonly string[]) => [
  timestampParam(now - USAGE_BUCKET_MS - YOUNG_MS),
  timestampParam(now - DAY_MS - USAGE_BUCKET_MS),
  types,
]

/** A destination's slots of the last 24 hours: minutes of the last hour, and quarters of an hour before. */
export async function recentSlots(
  db: Queryable,
  { user_id, country }: Destination,
  types: readonly string[],
  now: EpochMs,
): Promise<Slot[]> {
  const cut = Math.floor((now - HOUR_MS) / USAGE_BUCKET_MS) * USAGE_BUCKET_MS
  const minutes = await db.query<{ start: EpochMs; sent: number; verified: number }>({
    name: 'breaker-minutes',
    text: sql`select minute as start, sent, verified from breaker_minute
           where shard = $1 and user_id = $2 and country = $3 and minute >= $4`,
    values: [shardOf(user_id), user_id, country, timestampParam(cut)],
  })
  const quarters = await quartersOf(db, { user_id, country }, types, now - DAY_MS - USAGE_BUCKET_MS, cut)
  return [...quarters, ...minutes.map(slot => ({ ...slot, end: slot.start + MINUTE_MS }))]
}

/** A destination's quarters of an hour in [from, to), ascending. */
export async function quartersOf(
  db: Queryable,
  { user_id, country }: Destination,
  types: readonly string[],
  from: EpochMs,
  to: EpochMs,
): Promise<Slot[]> {
  const rows = await db.query<{ start: EpochMs; sent: number; verified: number }>({
    name: 'breaker-quarters',
    text: sql`select bucket as start, sum(committed_messages)::bigint as sent, coalesce(sum(verified_messages), 0)::bigint as verified
           from usage
           where shard = $1 and user_id = $2 and country = $3 and message_type = any ($4::text[]) and bucket >= $5 and bucket < $6
           group by bucket order by bucket`,
    values: [shardOf(user_id), user_id, country, types, timestampParam(from), timestampParam(to)],
  })
  return rows.map(row => ({ ...row, end: row.start + USAGE_BUCKET_MS }))
}

/** Whether the user gave feedback in the days of the history. */
export async function hasFeedback(db: Queryable, userId: number, now: EpochMs): Promise<boolean> {
  const found = await db.query({
    name: 'breaker-feedback',
    text: sql`select 1 from usage where shard = $1 and user_id = $2 and bucket > $3 and verified_messages > 0 limit 1`,
    values: [shardOf(userId), userId, timestampParam(now - HISTORY_DAYS * DAY_MS)],
  })
  return found.length > 0
}

/** Removes all: they are of other message types than those that are watched from now on. */
export async function removeAllMinutes(tx: Transaction): Promise<void> {
  await tx.query({ text: sql`delete from breaker_minute` })
}

/** Removes a page of a shard's minutes that are kept no longer. Resolves to how many it removed. */
export async function removeMinutes(db: Queryable, shard: Shard, now: EpochMs, rows: number): Promise<number> {
  const removed = await db.query({
    name: 'breaker-remove-minutes',
    text: sql`delete from breaker_minute where shard = $1 and ctid = any(array(
           select ctid from breaker_minute where shard = $1 and minute < $2 limit $3 for update skip locked)) returning 1`,
    values: [shard, timestampParam(now - MINUTES_KEPT_MS), rows],
  })
  return removed.length
}

/** Removes a page of a user's minutes. */
export async function removeMinutesOfUser(tx: Transaction, userId: number, rows: number): Promise<number> {
  const removed = await tx.query({
    text: sql`delete from breaker_minute where shard = $1 and ctid = any(array(
           select ctid from breaker_minute where shard = $1 and user_id = $2 limit $3)) returning 1`,
    values: [shardOf(userId), userId, rows],
  })
  return removed.length
}
