import type { Shard } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Database } from './database.ts'
import { BY_KEYS } from './planner-settings.ts'
import { timestampParam } from './values.ts'

/** What one page came to. */
export interface RemovedPage {
  removed: number
  /** The last expiry that was read, with all reservations of that expiry; null: nothing is left before the cutoff. */
  reached: EpochMs | null
}

/** What the removed reservations used, by window: arrays of the same length. */
interface ArchivedWindows {
  quotas: number[]
  windows: number[]
  used: number[]
  /** The part of `used` that was booked by force; null if that is not known. */
  forced: (number | null)[]
}

/** Reservations read at a time; a few more if several have the same expiry. Each page is a short transaction. */
const PAGE = 1_000

/** Nothing is outstanding, and nothing has changed since the cutoff. */
const isSettled = 'r.committed + r.released = r.units and r.changed_at <= $3'

/**
 * Reads a page in the order of expiry and removes the settled reservations of it. It skips reservations that another
 * transaction has locked. The condition stands twice because a reservation may change between the read and the lock.
 * What a reservation used of a window is the beginning of its line of units, as in `countsOf`. How much of that was
 * forced is null if it is not known of one of the reservations.
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
    returning r.draws, r.committed - r.refunded as spent, r.force or r.retaken as forced
  ), counted as (
    select draws[i] as quota_id, draws[i + 2] as window_no, forced,
      greatest(0, least(draws[i + 5], spent) - draws[i + 4]) as used
    from removed, generate_series(1, cardinality(draws), 6) i
  ), summed as (
    select quota_id, window_no, sum(used)::bigint as used,
      case when count(forced) = count(*) then coalesce(sum(used) filter (where forced), 0)::bigint end as forced
    from counted where used > 0 group by 1, 2
  )
  select (select count(*) from removed) as removed,
    (select case when count(*) >= ${PAGE} then max(expires_at) end from page) as reached,
    array(select quota_id from summed order by quota_id, window_no) as quotas,
    array(select window_no from summed order by quota_id, window_no) as windows,
    array(select used from summed order by quota_id, window_no) as used,
    array(select forced from summed order by quota_id, window_no) as forced`

/** In the order of keys, so that two processes that add to the same windows cannot deadlock. */
const ARCHIVE = `
  insert into archive (shard, quota_id, window_no, used, forced)
  select $1::smallint, * from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
  on conflict (shard, quota_id, window_no) do update
  set used = archive.used + excluded.used, forced = archive.forced + excluded.forced`

/**
 * Removes a shard's reservations that expired after `after` and at `cutoff` at the latest, are settled, and have not
 * changed since `cutoff`: a page at most, oldest first. What they used is added to the archive.
 */
export function removeSettled(db: Database, shard: Shard, after: EpochMs, cutoff: EpochMs): Promise<RemovedPage> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [row] = await tx.query<RemovedPage & ArchivedWindows>({
      name: 'remove-settled',
      text: REMOVE_SETTLED,
      values: [shard, timestampParam(after), timestampParam(cutoff)],
    })
    if (row === undefined) throw new Error('the database returned no row')
    const { removed, reached, quotas, windows, used, forced } = row
    if (quotas.length > 0)
      await tx.query({ name: 'archive-used', text: ARCHIVE, values: [shard, quotas, windows, used, forced] })
    return { removed, reached }
  })
}
