import { sql } from '../connection/sql.ts'
import type { RangeProof } from './proof.ts'

/**
 * The draws of a reservation on grants cover its units without gap or overlap, but for an unfunded rest that force booked;
 * each draw on a cap covers all units; no more is settled than was granted; and a draw calls a quota what it is. (That a
 * draw's window exists and belongs to the user follows from the counters.)
 */
export const draws: RangeProof = {
  name: 'draws',
  checked: sql`(select coalesce(sum(reservations), 0)::bigint from compared)`,
  exceptions: sql`
    select c.user_id, c.quota_id,
      format('Reservation "%s" of user %s: %s. %s of its %s units are committed, %s released and %s refunded; its draws are %s%s.',
        r.id, r.user_id,
        case when r.committed >= 0 and r.released >= 0 and r.refunded between 0 and r.committed
            and r.committed + r.released <= r.units then 'its draws do not cover its units'
          else 'more is settled than was granted' end,
        r.committed, r.units, r.released, r.refunded, coalesce(d.list, 'none'),
        case when c.uncovered > 1 then format(' (and %s more that draw on the same window)', c.uncovered - 1) else '' end
      ) as message
    from compared c
    join reservation r on r.shard = $1 and r.user_id = c.user_id and r.id = c.first_uncovered,
    lateral (
      select string_agg(format('%s to %s on %s %s', r.draws[i + 4], r.draws[i + 5],
        case r.draws[i + 1] when 0 then 'grant' else 'cap' end, r.draws[i]), ', ' order by i) as list
      from generate_series(1, cardinality(r.draws), 6) i
    ) d
    where c.uncovered > 0
    union all
    select user_id, quota_id, format('Quota %s of user %s, window %s: the quota is a %s, and reservations draw on it as a %s.',
      quota_id, user_id, window_no, kind, case kind when 'cap' then 'grant' else 'cap' end)
    from compared
    where kind is not null and (lowest_kind <> (kind = 'cap')::int or highest_kind <> (kind = 'cap')::int)`,
}
