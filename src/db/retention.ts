import type { EpochMs } from '../domain/time.ts'
import { type Database, timestampParam } from './database.ts'
import { BY_KEYS } from './planner-settings.ts'

/** What a step has done. */
export interface Retired {
  removed: number
  /** The last moment read, and all of that moment; null: there is nothing more up to the end. */
  reached: EpochMs | null
}

/** Reservations read at a time; a few more if several ended at the same moment. Each step is a short transaction. */
const PAGE = 1_000

/** Nothing outstanding, and nothing changed since. */
const isSettled = 'r.committed + r.released = r.units and r.changed_at <= $3'

/**
 * Reads a page in the order in which reservations ended, and of it removes what is settled for long. What somebody is
 * settling just now is passed over, never waited for; and what they settled between our reading and our lock is judged
 * as it then stands, hence the condition is asked for twice. What a reservation used of a window is the beginning of
 * its line, as `countsOf` has it.
 */
const REMOVE_SETTLED = `
  with page as materialized (
    select user_id, id, expires_at from reservation
    where shard = $1 and expires_at > $2 and expires_at <= $3
    order by expires_at fetch first ${PAGE} rows with ties
  ), settled as materialized (
    select r.user_id, r.id from page join reservation r on r.user_id = page.user_id and r.id = page.id
    where r.shard = $1 and ${isSettled}
    for update of r skip locked
  ), removed as (
    delete from reservation r using settled
    where r.shard = $1 and r.user_id = settled.user_id and r.id = settled.id and ${isSettled}
    returning r.draws, r.committed - r.refunded as spent
  ), folded as (
    select draws[i] as quota_id, draws[i + 2] as window_no,
      sum(greatest(0, least(draws[i + 5], spent) - draws[i + 4]))::bigint as used
    from removed, generate_series(1, cardinality(draws), 6) i
    group by 1, 2 having sum(greatest(0, least(draws[i + 5], spent) - draws[i + 4])) > 0
  )
  select (select count(*) from removed) as removed,
    (select case when count(*) >= ${PAGE} then max(expires_at) end from page) as reached,
    array(select quota_id from folded order by quota_id, window_no) as quotas,
    array(select window_no from folded order by quota_id, window_no) as windows,
    array(select used from folded order by quota_id, window_no) as used`

/** In order, so that two who fold into the same windows never wait for each other in a ring. */
const FOLD = `
  insert into archive (shard, quota_id, window_no, used)
  select $1::smallint, * from unnest($2::bigint[], $3::bigint[], $4::bigint[])
  on conflict (shard, quota_id, window_no) do update set used = archive.used + excluded.used`

/**
 * Removes a shard's reservations that ended after `after` and not after `cutoff`, that are settled and have not changed
 * since `cutoff`: a page at most, oldest first, with what they used folded into the archive.
 */
export function retire(db: Database, shard: number, after: EpochMs, cutoff: EpochMs): Promise<Retired> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [row] = await tx.query<Retired & { quotas: number[]; windows: number[]; used: number[] }>({
      name: 'remove-settled',
      text: REMOVE_SETTLED,
      values: [shard, timestampParam(after), timestampParam(cutoff)],
    })
    if (row === undefined) throw new Error('the database answers without an answer')
    const { removed, reached, quotas, windows, used } = row
    if (quotas.length > 0) await tx.query({ name: 'fold', text: FOLD, values: [shard, quotas, windows, used] })
    return { removed, reached }
  })
}
