/** Usage as the breaker judges it: by destination, a user and a country. Messages that came back were not sent. */

import { USAGE_BUCKET_MS } from '../../domain/basics/bounds.ts'
import { shardOf } from '../../domain/basics/shard.ts'
import { type Budgets, HISTORY_DAYS, type Slot, YOUNG_MS } from '../../domain/pauses/breaker.ts'
import { DAY_MS, type EpochMs } from '../../domain/time/time.ts'
import type { Queryable } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import type { WatchedUsers } from './settings.ts'

/** A user, and a country to which the user sends. */
export interface Destination {
  user_id: number
  country: string
}

/** Messages of some types in whole quarters of an hour, `to` excluded. */
export interface Past {
  message_types: readonly string[]
  from: EpochMs
  to: EpochMs
}

/** A user's quarters of an hour with messages to a country, or to all of them, in the order of countries and time. */
export async function readQuarters(
  db: Queryable,
  { user_id, country }: Omit<Destination, 'country'> & { country?: string },
  { message_types, from, to }: Past,
): Promise<(Slot & { country: string })[]> {
  const rows = await db.query<Omit<Slot, 'end'> & { country: string }>({
    name: 'breaker-quarters',
    text: sql`select country, bucket as start, (sum(committed_messages) - coalesce(sum(returned_messages), 0))::bigint as sent,
        coalesce(sum(verified_messages), 0)::bigint as verified
      from usage
      where shard = $1 and user_id = $2 and message_type = any ($3::text[]) and country is not null
        and ($6::text is null or country = $6) and bucket >= $4 and bucket < $5
      group by country, bucket order by country, bucket`,
    values: [shardOf(user_id), user_id, message_types, timestampParam(from), timestampParam(to), country ?? null],
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

/** The findings of a sweep: destinations that may exceed the budget of a day, and who gives feedback. */
export interface Sweep {
  suspects: Destination[]
  users: WatchedUsers
}

/**
 * Sums up the last 24 hours of users who had messages in the last 20 minutes: it is done every quarter of an hour, and what others sent was
 * judged before.
 */
export async function sweepDay(
  db: Queryable,
  now: EpochMs,
  types: readonly string[],
  { day, share }: Budgets,
): Promise<Sweep> {
  const [sweep] = await db.query<Sweep>({
    text: sql`with lately as (
             select distinct shard, user_id from breaker_minute where minute > $1
           ), destination as (
             select u.shard, u.user_id, u.country,
               (sum(u.committed_messages) - coalesce(sum(u.returned_messages), 0))::bigint as sent, coalesce(sum(u.verified_messages), 0)::bigint as verified
             from lately l join usage u on u.shard = l.shard and u.user_id = l.user_id and u.bucket > $2
             where u.message_type = any ($3::text[]) and u.country is not null
             group by u.shard, u.user_id, u.country
           ), of_user as (
             select user_id, sum(sent)::bigint as messages, sum(verified) > 0 as has_feedback from destination group by shard, user_id
           )
           select coalesce((
               select json_agg(json_build_object('user_id', user_id, 'country', country)) from destination
               where sent - verified > greatest($4::float8, $5::float8 * verified)
             ), '[]') as suspects,
             json_build_object(
               'with_feedback', count(*) filter (where has_feedback),
               'without_feedback', count(*) filter (where not has_feedback),
               'examples', coalesce((select json_agg(e) from (
                 select user_id, messages from of_user where not has_feedback order by messages desc, user_id limit 10
               ) e), '[]')
             ) as users
           from of_user`,
    values: [
      timestampParam(now - USAGE_BUCKET_MS - YOUNG_MS),
      timestampParam(now - DAY_MS - USAGE_BUCKET_MS),
      types,
      day,
      share,
    ],
  })
  if (sweep === undefined) throw new Error('the database returned no row')
  return sweep
}
