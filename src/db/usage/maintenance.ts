/** The progress of the maintenance of usage, and of what follows from it, in each shard: a walk over the shard's users for each task. */
import type { Shard } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { sql, sqlInteger, sqlName } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'

export type UpkeepTask = 'day' | 'month' | 'busy' | 'figures'
/** Rows of a shard. */
const TASKS = 4

/** Users of a page of a walk. */
const USERS_PAGE = 500

interface Walk {
  until: EpochMs
  /** The user from which the walk goes on; null: it has ended. */
  next_user: number | null
}

/** The shards in which a task is not done up to `until`. */
export async function shardsBehind(db: Database, task: UpkeepTask, until: EpochMs): Promise<Shard[]> {
  const rows = await db.query<{ shard: Shard }>({
    name: 'shards-behind',
    text: sql`select shard from usage_upkeep where task = $1 and (until < $2 or next_user is not null) order by shard`,
    values: [task, timestampParam(until)],
  })
  return rows.map(({ shard }) => shard)
}

/**
 * Locks the upkeep of a shard until the commit, and returns how far each task has come; undefined if another process works
 * in the shard. Each task locks all rows of the shard, because the tasks change the same usage.
 */
export async function lockUpkeep(tx: Transaction, shard: Shard): Promise<Map<UpkeepTask, Walk> | undefined> {
  const rows = await tx.query<Walk & { task: UpkeepTask }>({
    name: 'lock-usage-upkeep',
    text: sql`select task, until, next_user from usage_upkeep where shard = $1 order by task for update skip locked`,
    values: [shard],
  })
  return rows.length < TASKS ? undefined : new Map(rows.map(row => [row.task, row]))
}

/**
 * Does one page of a walk in a transaction of its own, up to `until`, or up to the end of a walk that is under way.
 *
 * @param work does the page from a user on, and returns the user from which the next one begins; null after the last
 * @returns whether the shard has more; false too if another process works in the shard
 */
export function walk(
  db: Database,
  shard: Shard,
  task: UpkeepTask,
  until: EpochMs,
  work: (tx: Transaction, from: number, until: EpochMs) => Promise<number | null>,
): Promise<boolean> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const held = (await lockUpkeep(tx, shard))?.get(task)
    if (held === undefined) return false
    if (held.next_user === null && held.until >= until) return false
    const isUnderWay = held.next_user !== null
    const goal = isUnderWay ? held.until : until
    const next = await work(tx, held.next_user ?? 0, goal)
    await tx.query({
      name: 'move-usage-upkeep',
      text: sql`update usage_upkeep set until = $3, next_user = $4,
               done_until = case when $4::bigint is null then $3 else done_until end
             where shard = $1 and task = $2`,
      values: [shard, task, timestampParam(goal), next],
    })
    return next !== null || goal < until
  })
}

/** The users of a shard who have rows in a table, ascending from one on: a page. It looks each up by the key. */
export async function usersFrom(
  tx: Transaction,
  shard: Shard,
  table: 'usage' | 'usage_day' | 'usage_month',
  from: number,
) {
  const rows = await tx.query<{ user_id: number }>({
    name: `users-of-${table}`,
    text: sql`
      with recursive found (user_id, place) as (
        (select user_id, 1 from ${sqlName(table)} where shard = $1 and user_id >= $2 order by user_id fetch first 1 row only)
        union all
        select (select u.user_id from ${sqlName(table)} u where u.shard = $1 and u.user_id > f.user_id
            order by u.user_id fetch first 1 row only), f.place + 1
        from found f where f.user_id is not null and f.place < ${sqlInteger(USERS_PAGE)}
      )
      select user_id from found where user_id is not null`,
    values: [shard, from],
  })
  const users = rows.map(({ user_id }) => user_id)
  return { users, isLast: users.length < USERS_PAGE }
}
