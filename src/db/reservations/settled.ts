/** Removes settled reservations, and keeps what they used: retention after a time, an erasure at once. */
import type { Shard } from '../../domain/basics/shard.ts'
import type { SqlValue, Transaction } from '../connection/database.ts'
import { type Sql, sql } from '../connection/sql.ts'

/** SQL: that nothing of a reservation `r` is outstanding. */
export const IS_SETTLED = sql`r.committed + r.released = r.units`

/**
 * SQL: removes the settled reservations of a page with their actions, and sums up what they used of each window, and how many of them
 * were verified. It skips reservations that
 * another transaction has locked. The condition stands twice because a reservation may change between the read and the
 * lock. What a reservation used of a window is the beginning of its line of units, or all its messages, as in `countsOf`. How much of that
 * was forced is null if it is not known of one of the reservations. Caps that count each value by itself have what they counted beside the
 * counter of the value, as long as that is stored.
 *
 * @param page a select of the keys that are read, `user_id` and `id` with others; the shard is `$1`
 * @param condition which of them are removed
 * @param shown what else the statement returns, from `page`
 */
export function removalOf(page: Sql, condition: Sql, shown: Sql): Sql {
  return sql`
  with page as materialized (${page}), settled as materialized (
    select r.user_id, r.id from page join reservation r on r.user_id = page.user_id and r.id = page.id
    where r.shard = $1 and ${condition}
    for update of r skip locked
  ), removed as (
    delete from reservation r using settled
    where r.shard = $1 and r.user_id = settled.user_id and r.id = settled.id and ${condition}
    returning r.user_id, r.id, r.draws, r.draw_keys, r.committed - r.refunded as spent, r.force or r.retaken as forced, r.verified
  ), unrecorded as (
    delete from reservation_action a using removed
    where a.shard = $1 and a.user_id = removed.user_id and a.reservation_id = removed.id
  ), counted as (
    select draws[i] as quota_id, draws[i + 1] as kind, draws[i + 2] as window_no, draws[i + 3] as window_start, forced,
      case when draws[i + 1] in (2, 4) then case when spent > 0 then draws[i + 5] else 0 end
        else greatest(0, least(draws[i + 5], spent) - draws[i + 4]) end as used,
      case when draws[i + 1] >= 3 then draw_keys[(sum((draws[i + 1] >= 3)::int) over (partition by user_id, id order by i))::int] end as key,
      (verified and i = 1 and draws[2] = 0)::int as verified
    from removed, generate_series(1, cardinality(draws), 6) i
  ), summed_values as (
    select quota_id, key, window_start, sum(used)::bigint as used
    from counted where used > 0 and kind >= 3 group by 1, 2, 3
  ), kept as (
    update value_counter c set archived = c.archived + v.used from summed_values v
    where c.shard = $1 and c.quota_id = v.quota_id and c.value_key = v.key
      and c.window_start = to_timestamp(v.window_start / 1000.0)
  ), summed as (
    select quota_id, window_no, sum(used)::bigint as used, sum(verified) as verified,
      case when count(forced) = count(*) then coalesce(sum(used) filter (where forced), 0)::bigint end as forced
    from counted where (used > 0 or verified > 0) and kind < 3 group by 1, 2
  )
  select ${shown},
    (select count(*) from removed) as removed,
    array(select quota_id from summed order by quota_id, window_no) as quotas,
    array(select window_no from summed order by quota_id, window_no) as windows,
    array(select used from summed order by quota_id, window_no) as used,
    array(select forced from summed order by quota_id, window_no) as forced,
    array(select verified from summed order by quota_id, window_no) as verified`
}

/** What removed reservations leave of each window: arrays of the same length. */
interface ArchivedWindows {
  quotas: number[]
  windows: number[]
  used: number[]
  /** The part of `used` that was booked by force; null if that is not known. */
  forced: (number | null)[]
  /** How many reservations, whose first unit the window's grant paid, were verified. */
  verified: number[]
}

/** In the order of keys, so that two processes that add to the same windows cannot deadlock. */
const ARCHIVE = sql`
  insert into archive (shard, quota_id, window_no, used, forced, verified)
  select h.shard, k.quota_id, k.window_no, k.used, k.forced, k.verified
  from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) k (quota_id, window_no, used, forced, verified)
  cross join shard_head h where h.shard = $1 order by k.quota_id, k.window_no
  on conflict (shard, quota_id, window_no) do update
  set used = archive.used + excluded.used, forced = archive.forced + excluded.forced,
    verified = archive.verified + excluded.verified`

/**
 * Runs a removal, and adds what the removed reservations used to the archive.
 *
 * The statement has no name, so each page is planned anew: a plan kept from when the table was empty joined by the wrong index
 * and took more than 4 s for a thousand reservations, until the table was analyzed (20 ms otherwise).
 */
export async function removeReservations<Shown extends object>(
  tx: Transaction,
  shard: Shard,
  removal: { text: Sql; values: readonly SqlValue[] },
): Promise<Shown & { removed: number }> {
  const [row] = await tx.query<Shown & ArchivedWindows & { removed: number }>(removal)
  if (row === undefined) throw new Error('the database returned no row')
  const { quotas, windows, used, forced, verified } = row
  if (quotas.length > 0)
    await tx.query({ name: 'archive-used', text: ARCHIVE, values: [shard, quotas, windows, used, forced, verified] })
  return row
}
