import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import { joinSql, type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { IS_PRICED } from './ledger.ts'
import type { RangeProof } from './proof.ts'

/** For every window of every quota, current or closed, `used` and `reserved` are the sums over its ledger. */
export const counters: RangeProof = {
  name: 'counters',
  checked: sql`(select count(*) from compared where kind is not null)`,
  exceptions: sql`
    select user_id, quota_id, format('Quota %s of user %s, window %s: %s, its ledger has %s used and %s reserved.',
      quota_id, user_id, window_no,
      case when kind is null then 'there is no such window' else format('counted %s used and %s reserved', used, reserved) end,
      ledger_used, ledger_reserved) as message
    from compared
    where quota_id is not null and (used, reserved) is distinct from (ledger_used, ledger_reserved)`,
}

/**
 * The last quota of a page of the shard `$1` that begins after the quota `$2`: one of `$3` windows and rows of the
 * archive each, and those of the same quota.
 */
export const END_OF_QUOTAS = sql`
  select least(${joinSql(
    [sql`quota_window`, sql`archive`].map(
      table => sql`coalesce((select quota_id from ${table} where shard = $1 and quota_id > $2
        order by quota_id offset $3 limit 1), ${sqlInteger(MAX_INTEGER)})`,
    ),
  )}) as up_to`

/**
 * Proves `counters` for windows and archive rows of quotas that do not exist, which no range of users holds. One shard:
 * `$1`, quotas above `$2` and up to `$3`, `$4` differences.
 */
export const ORPHANS = sql`
  with orphans as (
    select null::bigint as user_id, quota_id,
      format('Quota %s does not exist, window %s: %s, its archive has %s used.', quota_id, window_no,
        case when w.used is null then 'there is no such window'
          else format('counted %s used and %s reserved', w.used, w.reserved) end, coalesce(a.used, 0)) as message
    from (${orphansOf(sql`quota_window`)}) w full join (${orphansOf(sql`archive`)}) a using (quota_id, window_no)
    order by quota_id, window_no limit $4
  )
  select 'counters' as proof, 0::bigint as checked, 0::bigint as not_provable,
    (select coalesce(json_agg(orphans), '[]') from orphans) as differences`

function orphansOf(table: Sql): Sql {
  return sql`select t.* from ${table} t where t.shard = $1 and t.quota_id > $2 and t.quota_id <= $3
    and not exists (select from quota q where q.shard = $1 and q.id = t.quota_id)`
}

/**
 * The draws of a reservation on grants cover its units without gap or overlap, but for an unfunded rest that force booked;
 * each draw on a cap covers all units; no more is settled than was granted; the units are what the rate says; and a draw calls a quota what it is. (That a
 * draw's window exists and belongs to the user follows from the counters.)
 */
export const draws: RangeProof = {
  name: 'draws',
  checked: sql`(select coalesce(sum(reservations), 0)::bigint from compared)`,
  exceptions: sql`
    select c.user_id, c.quota_id,
      format('Reservation "%s" of user %s: %s. %s of its %s units are committed, %s released and %s refunded; its draws are %s%s.',
        r.id, r.user_id,
        case when not ${IS_PRICED} then 'its units are not those that its rate says'
          when r.committed >= 0 and r.released >= 0 and r.refunded between 0 and r.committed
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
