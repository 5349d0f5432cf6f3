import { SHARDS, type Shard } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { firstRows, type Probe } from '../cluster/first-rows.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'

/** A reservation with units outstanding that has expired. */
export interface DueReservation {
  user_id: number
  id: string
  expiresAt: EpochMs
}

/** A page of one shard. */
export interface DuePage {
  shard: Shard
  /** The last expiry that was read, with all reservations of that expiry; null: everything up to `until` was read. */
  reached: EpochMs | null
  /** The first expiry with units outstanding; null if there is none. */
  firstOpen: EpochMs | null
  /** The reservations with units outstanding. */
  due: DueReservation[]
}

/** Reservations read of a shard at a time, settled ones included; a few more if several have the same expiry. */
export const DUE_PAGE = 100

/**
 * One statement for all shards: 64 statements would be 64 round trips, and mostly nothing is due. The index holds
 * settled reservations too (leaving it when they settle would keep updates from being heap-only), so a page is bounded
 * by what it reads, not by what it finds.
 */
const findDueIn = (shards: Sql) => sql`
  select p.shard, page.*
  from unnest($1::smallint[], $2::timestamptz[]) p (shard, after)
  cross join lateral (
    select case when count(*) >= ${sqlInteger(DUE_PAGE)} then max(expires_at) end as reached,
      min(expires_at) filter (where outstanding > 0) as first_open,
      coalesce(array_agg(user_id) filter (where outstanding > 0), '{}') as users,
      coalesce(array_agg(id) filter (where outstanding > 0), '{}') as ids,
      coalesce(array_agg((extract(epoch from expires_at) * 1000)::bigint) filter (where outstanding > 0), '{}') as expiries
    from (
      select r.user_id, r.id, r.expires_at, r.units - r.committed - r.released as outstanding
      from reservation r
      where r.shard = p.shard and r.expires_at > p.after and r.expires_at <= $3 ${shards}
      order by r.expires_at
      fetch first ${sqlInteger(DUE_PAGE)} rows with ties
    ) ended
  ) page`

interface Row {
  shard: Shard
  reached: EpochMs | null
  first_open: EpochMs | null
  users: number[]
  ids: string[]
  expiries: EpochMs[]
}

/** Reservations of each shard that expire after its time, and at `until` at the latest. Without a time there are none. */
export const expiriesAfter = (after: (shard: Shard) => EpochMs | null, until: EpochMs): Probe => ({
  ...{ name: 'have-expiries', from: sql`reservation r`, by: sql`r.expires_at` },
  where: sql`r.shard = h.shard and r.expires_at > ($1::timestamptz[])[h.shard + 1] and r.expires_at <= $2`,
  values: [SHARDS.map(shard => timestampParam(after(shard))), timestampParam(until)],
})

type Walk = readonly (readonly [Shard, EpochMs])[]

/**
 * Reads reservations that expire after a time given for each shard and at `until` at the latest: oldest first, a page
 * of each shard named. Takes no lock.
 */
export async function findDue(db: Database, after: ReadonlyMap<Shard, EpochMs>, until: EpochMs): Promise<DuePage[]> {
  const rows = await db.transaction(async tx => {
    const walk = tx.isCluster ? await withDue(tx, after, until) : [...after]
    const found = await runPerCitusShard(
      tx,
      walk,
      ([shard]) => shard,
      part => readPages(tx, part, until),
    )
    const ended = new Set(found.map(({ shard }) => shard))
    return [...found, ...[...after.keys()].filter(shard => !ended.has(shard)).map(nothingDue)]
  }, 'keyed snapshot')
  return rows.map(({ shard, reached, first_open, users, ids, expiries }) => ({
    shard,
    reached,
    firstOpen: first_open,
    due: ids.map((id, index) => ({
      user_id: users[index] ?? Number.NaN,
      id,
      expiresAt: expiries[index] ?? Number.NaN,
    })),
  }))
}

function readPages(tx: Transaction, walk: Walk, until: EpochMs): Promise<Row[]> {
  return tx.query<Row>({
    name: tx.isCluster ? 'find-due-in-cluster' : 'find-due',
    text: findDueIn(shardFilter(tx, sql`r.shard`, sql`$1`)),
    values: [walk.map(([shard]) => shard), walk.map(([, at]) => timestampParam(at)), timestampParam(until)],
  })
}

/** The shards of a cluster with something to read: a poll that finds nothing asks each node once. */
async function withDue(tx: Transaction, after: ReadonlyMap<Shard, EpochMs>, until: EpochMs): Promise<Walk> {
  const found = await firstRows(
    tx,
    expiriesAfter(shard => after.get(shard) ?? null, until),
  )
  const have = new Set(found.map(({ shard }) => shard))
  return [...after].filter(([shard]) => have.has(shard))
}

function nothingDue(shard: Shard): Row {
  return { shard, reached: null, first_open: null, users: [], ids: [], expiries: [] }
}
