/** Sums of users with very many rows of usage: by quarter of an hour, without quotas, countries and message types. */
import type { Shard } from '../../domain/basics/shard.ts'
import { DAY_MS, type EpochMs } from '../../domain/time/time.ts'
import { type Database, inSnapshot, type Queryable } from '../connection/database.ts'
import { isDataError } from '../connection/errors.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { columnsOf, ofShard, sumsOf, TOTAL_COUNTS, USAGE_COUNTS } from './columns.ts'
import { lockUpkeep, usersFrom, walk } from './maintenance.ts'

/** Rows on one day that make a user busy: more than four in each quarter of an hour. */
const BUSY_ROWS = 400

/** A user stays busy down to this share of that, so that the sums do not come and go. */
const STAYS_BUSY = 1 / 8

/** Days that are summed up in one transaction, each in a statement of its own. */
const DAYS_PAGE = 4

/** Selects, of the users, those who are busy on the day before `$3` and those who have sums. */
const FIND_BUSY = sql`
  select k.user_id, r.until as summed_until, c.rows >= case when r.until is null then $4 else $5 end as is_busy
  from unnest($2::bigint[]) with ordinality k (user_id, place)
    left join usage_busy_range r on r.shard = $1 and r.user_id = k.user_id, lateral (
      select count(*) as rows from (
        select from usage u where u.shard = $1 and u.user_id = k.user_id
          and u.bucket >= $3::timestamptz - interval '24 hours' and u.bucket < $3 limit $4
      ) day
    ) c
  where c.rows >= $4 or r.until is not null order by place`

const ADD_DAY = sql`
  insert into usage_busy (shard, user_id, bucket, ${columnsOf(TOTAL_COUNTS)}, funded)
  select shard, user_id, bucket, ${sumsOf(USAGE_COUNTS)},
    coalesce(sum(committed) filter (where quota_id is null), 0),
    coalesce(sum(committed_messages) filter (where quota_id is null), 0),
    coalesce(sum(committed - refunded) filter (where quota_id is not null), 0)
  from usage where shard = $1 and user_id = $2 and bucket >= $3 and bucket < $4
  group by shard, user_id, bucket`

const ADD_RANGE = sql`
  insert into usage_busy_range (shard, user_id, since, until) values ($1, $2, $3, $4)
  on conflict (shard, user_id) do update set until = excluded.until`

const FORGET = [
  sql`delete from usage_busy_range where shard = $1 and user_id = $2`,
  sql`delete from usage_busy where shard = $1 and user_id = $2`,
]

/**
 * Whether a shard has usage before a timestamp that is not rolled up. If it has none long after that, there will be none:
 * the engine adds to the current quarter of an hour only. So the rows of users before it are final.
 */
export async function hasPendingBefore(db: Database, shard: Shard, before: EpochMs): Promise<boolean> {
  const rows = await inSnapshot(db, store => ({
    name: 'has-pending-before',
    text: sql`select 1 from usage_pending p where ${ofShard(store, sql`$1`)} and bucket < $2 limit 1`,
    values: [shard, timestampParam(before)],
  }))
  return rows.length > 0
}

/**
 * Adds up the finished days of the busy users of a page, and forgets the sums of users who are busy no more.
 *
 * @param since the beginning of the first day (UTC) whose rows are all in `usage`
 * @param until the end of the last day (UTC) whose rows are final
 * @param onRefused called with a user whose rows PostgreSQL refuses to add up: reports read them one by one
 * @returns whether the shard has more
 */
export function sumBusyUsers(
  db: Database,
  shard: Shard,
  since: EpochMs,
  until: EpochMs,
  onRefused: (userId: number, error: unknown) => void,
): Promise<boolean> {
  return walk(db, shard, 'busy', until, async (tx, first, goal) => {
    const { users, isLast } = await usersFrom(tx, shard, 'usage', first)
    const found = await tx.query<{ user_id: number; summed_until: EpochMs | null; is_busy: boolean }>({
      name: 'find-busy-users',
      text: FIND_BUSY,
      values: [shard, users, timestampParam(goal), BUSY_ROWS, BUSY_ROWS * STAYS_BUSY],
    })
    let days = 0
    for (const { user_id, summed_until, is_busy } of found) {
      if (!is_busy) {
        for (const text of FORGET) await tx.query({ text, values: [shard, user_id] })
        continue
      }
      let day = summed_until ?? since
      await tx.query({ text: sql`savepoint busy_user` })
      try {
        for (; day < goal && days < DAYS_PAGE; days++) day = await addDay(tx, shard, user_id, day, since)
      } catch (error) {
        if (!isDataError(error)) throw error
        await tx.query({ text: sql`rollback to busy_user` })
        onRefused(user_id, error)
        continue
      }
      if (day < goal) return user_id
    }
    const last = users.at(-1)
    return isLast || last === undefined ? null : last + 1
  })
}

async function addDay(tx: Queryable, shard: Shard, userId: number, day: EpochMs, since: EpochMs): Promise<EpochMs> {
  const end = day + DAY_MS - (day % DAY_MS)
  const values = [shard, userId, timestampParam(day), timestampParam(end)]
  await tx.query({ name: 'add-busy-day', text: ADD_DAY, values })
  await tx.query({
    name: 'add-busy-range',
    text: ADD_RANGE,
    values: [shard, userId, timestampParam(since), values[3] ?? null],
  })
  return end
}

const TAKE_BACK = [
  sql`delete from usage_busy where shard = $1 and bucket >= $2`,
  sql`update usage_busy_range set since = least(since, $2), until = $2 where shard = $1 and until > $2`,
  sql`update usage_upkeep set until = $2, next_user = null where shard = $1 and task = 'busy'`,
]

/**
 * Forgets the sums of days that have not ended: a clock that was ahead had taken them for final, and reports would miss what
 * is sent on them. Nothing if no sums are ahead.
 *
 * @param until the end of the last day (UTC) whose rows are final; no clock that is right goes beyond `now`
 */
export async function takeBackBusy(db: Database, until: EpochMs, now: EpochMs): Promise<void> {
  const shards = await db.query<{ shard: Shard }>({
    name: 'busy-ahead',
    text: sql`select distinct shard from usage_busy_range where until > $1 order by shard`,
    values: [timestampParam(now)],
  })
  for (const { shard } of shards) {
    await db.transaction(async tx => {
      if ((await lockUpkeep(tx, shard)) === undefined) return
      for (const text of TAKE_BACK) await tx.query({ text, values: [shard, timestampParam(until)] })
    })
  }
}
