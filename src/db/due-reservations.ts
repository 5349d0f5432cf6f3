import type { EpochMs } from '../domain/time.ts'
import { type Database, timestampParam } from './database.ts'
import { BY_KEYS } from './planner-settings.ts'

/** A reservation by its name. */
export interface ReservationKey {
  user_id: number
  id: string
}

/** What a page of one shard held. */
export interface DuePage {
  shard: number
  /** The last moment read, and all of that moment; null: everything up to the end was read. */
  reached: EpochMs | null
  /** Those with units outstanding. */
  due: ReservationKey[]
}

/** Reservations read of a shard at a time, settled ones included; a few more if several end at the same moment. */
export const DUE_PAGE = 100

/**
 * One statement for all shards: asking each by itself costs 64 times a journey, and there is mostly nothing to find.
 * The index holds settled reservations too (leaving it when they settle would keep updates from being heap-only), so a
 * page is bounded by what is read, not by what is found.
 */
const FIND_DUE = `
  select p.shard, page.*
  from unnest($1::smallint[], $2::timestamptz[]) p (shard, after)
  cross join lateral (
    select case when count(*) >= ${DUE_PAGE} then max(expires_at) end as reached,
      coalesce(array_agg(user_id) filter (where outstanding > 0), '{}') as users,
      coalesce(array_agg(id) filter (where outstanding > 0), '{}') as ids
    from (
      select r.user_id, r.id, r.expires_at, r.units - r.committed - r.released as outstanding
      from reservation r
      where r.shard = p.shard and r.expires_at > p.after and r.expires_at <= $3
      order by r.expires_at
      fetch first ${DUE_PAGE} rows with ties
    ) ended
  ) page`

/**
 * Reads, of each shard named, the reservations that ended after its moment and not after `until`, oldest first, a page
 * of each. Takes no lock.
 */
export async function findDue(db: Database, after: ReadonlyMap<number, EpochMs>, until: EpochMs): Promise<DuePage[]> {
  const rows = await db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return tx.query<{ shard: number; reached: EpochMs | null; users: number[]; ids: string[] }>({
      name: 'find-due',
      text: FIND_DUE,
      values: [[...after.keys()], Array.from(after.values(), timestampParam), timestampParam(until)],
    })
  }, 'snapshot')
  return rows.map(({ shard, reached, users, ids }) => ({
    shard,
    reached,
    due: ids.map((id, index) => ({ user_id: users[index] ?? Number.NaN, id })),
  }))
}
