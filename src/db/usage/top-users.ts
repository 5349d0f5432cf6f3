import { SHARDS, shardOf } from '../../domain/shard.ts'
import { DAY_MS, type EpochMs } from '../../domain/time.ts'
import type { Database, Queryable } from '../connection/database.ts'
import { type Sql, sql } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { entriesOf, REPORTED, type UsageSums } from './columns.ts'
import { usageOf } from './sums.ts'

export interface TopUsers {
  /** Users who committed units in the period, most units first. */
  users: (UsageSums & { user_id: number })[]
  /** No user who is missing committed more units than this. */
  unlistedUpTo: number
}

/** A user who may be among the top ones, and the most units that the user can have committed. */
interface Candidate {
  user_id: number
  most: number
}

/**
 * The most that each user can have committed on the days of the period: what the lists of the top users say, with what
 * each list missed, and what is not rolled up yet. Only users who are in a list or not rolled up.
 */
const CANDIDATES = sql`
  with lists as materialized (
    select shard, users, units, missed from usage_top
    where shard = any ($1::smallint[]) and bucket >= date_bin('1 day', $2::timestamptz, timestamptz 'epoch') and bucket < $3
  ), missed as materialized (
    select shard, sum(missed) as units from lists group by shard
  ), listed as (
    select user_id, lists.shard, u.units - lists.missed as more from lists, unnest(lists.users, lists.units) u (user_id, units)
    union all
    select e.user_id, p.shard, e.units from usage_pending p, ${entriesOf(sql`p`)}
    where p.bucket >= $2 and p.bucket < $3 and e.kind = 0
  ), summed as (
    select user_id, shard, sum(more) as more from listed group by user_id, shard
  )
  select s.user_id, (s.more + coalesce(m.units, 0))::bigint as most,
    (select coalesce(max(units), 0)::bigint from missed) as missed
  from summed s left join missed m on m.shard = s.shard
  order by most desc, s.user_id limit $4`

const exact = (keys: Sql, shard: Sql) => sql`
  select k.user_id, ${REPORTED} from ${keys}, lateral (${usageOf({ shard, user: sql`k.user_id` }, true)}) u
  group by k.user_id`
const EXACT = exact(sql`unnest($3::smallint[], $4::bigint[]) k (shard, user_id)`, sql`k.shard`)
/** `EXACT` of one shard, which the statement names: a cluster joins so in one shard only. */
const EXACT_IN_SHARD = exact(sql`unnest($4::bigint[]) k (user_id)`, sql`$3::smallint`)

/** Users whose sums are read, for each day of the period. */
const READ_PER_DAY = 4_000

/**
 * The users who committed most units. Lists of each day say who can be among them; their sums are then exact. The list
 * is proven complete where `unlistedUpTo` is no more than what its last user committed.
 */
export function topUsers(db: Database, from: EpochMs, to: EpochMs, limit: number): Promise<TopUsers> {
  const max = Math.max(3 * limit, Math.ceil(READ_PER_DAY / Math.ceil((to - from) / DAY_MS)))
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const { candidates, missed } = await candidatesOf(tx, from, to, max + 1)
    const users: TopUsers['users'] = []
    let read = 0
    for (;;) {
      // The most that a user who is not read yet can have committed: the next candidate at most as much as its lists say, and a
      // user in no list as much as the lists have missed.
      const unread = Math.max(candidates[read]?.most ?? 0, missed)
      users.sort((one, other) => other.committed - one.committed || one.user_id - other.user_id)
      const last = users[limit - 1]?.committed ?? 0
      if (read >= Math.min(max, candidates.length) || unread <= last) {
        const next = Math.max(unread, users[limit]?.committed ?? 0)
        return { users: users.slice(0, limit), unlistedUpTo: next }
      }
      const page = candidates.slice(read, Math.min(max, read + Math.max(2 * limit, read)))
      users.push(...(await sumsOf(tx, page, from, to)).filter(user => user.committed > 0))
      read += page.length
    }
  }, 'snapshot')
}

async function candidatesOf(tx: Queryable, from: EpochMs, to: EpochMs, max: number) {
  const candidates = await tx.query<Candidate & { missed: number }>({
    name: 'top-user-candidates',
    text: CANDIDATES,
    values: [[...SHARDS], timestampParam(from), timestampParam(to), max],
  })
  return { candidates, missed: candidates[0]?.missed ?? 0 }
}

async function sumsOf(
  tx: Queryable,
  users: readonly Candidate[],
  from: EpochMs,
  to: EpochMs,
): Promise<TopUsers['users']> {
  const period = [timestampParam(from), timestampParam(to)]
  const ids = users.map(({ user_id }) => user_id)
  if (!tx.isCluster) return tx.query({ name: 'top-user-sums', text: EXACT, values: [...period, ids.map(shardOf), ids] })
  const sums: TopUsers['users'] = []
  for (const [shard, part] of Map.groupBy(ids, shardOf))
    sums.push(
      ...(await tx.query<TopUsers['users'][number]>({ text: EXACT_IN_SHARD, values: [...period, shard, part] })),
    )
  return sums
}
