import { sql } from '../connection/sql.ts'
import { IN_RANGE } from './ledger.ts'
import type { RangeProof } from './proof.ts'

/**
 * The totals of a shard, by which lists know how many quotas there are, equal the numbers of its quotas. `$1` is the
 * shard. Both are read in one statement, because a later total would hold later quotas.
 */
export const TOTALS = sql`
  select 'totals' as proof, quotas as checked, 0::bigint as not_provable,
    (select coalesce(json_agg(json_build_object('user_id', null, 'quota_id', null,
        'message', format('Shard %s: %s %s are counted, and there are %s.', $1::int, total, what, found))), '[]')
     from (values ('grants', h.grants, q.grants), ('caps', h.caps, q.caps),
       ('deleted grants', h.deleted_grants, q.deleted_grants), ('deleted caps', h.deleted_caps, q.deleted_caps)
     ) t (what, total, found) where total <> found) as differences
  from shard_head h, (
    select count(*) as quotas,
      count(*) filter (where kind = 'grant' and deleted_at is null) as grants,
      count(*) filter (where kind = 'cap' and deleted_at is null) as caps,
      count(*) filter (where kind = 'grant' and deleted_at is not null) as deleted_grants,
      count(*) filter (where kind = 'cap' and deleted_at is not null) as deleted_caps
    from quota where shard = $1
  ) q
  where h.shard = $1`

/**
 * An account's `live` is how many of the user's quotas were neither deleted nor expired at the last change, whose time it
 * holds. Only changes alter which quotas these are. Not provable until the first change that recorded its time.
 */
export const live: RangeProof = {
  name: 'live',
  checked: sql`(select count(*) from account where ${IN_RANGE})`,
  exceptions: sql`
    select user_id, null::bigint as quota_id, case when live_at is not null then
        format('User %s: %s unexpired quotas are counted as of %s, and there were %s.', user_id, live,
          to_char(live_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), found)
      end as message
    from (
      select a.user_id, a.live, a.live_at, count(q.quota_id) as quotas,
        count(q.quota_id) filter (where q.deleted_at is null and coalesce(q.expires_at, 'infinity') > a.live_at) as found
      from (select user_id, live, live_at from account where ${IN_RANGE}) a left join mine q using (user_id)
      group by a.user_id, a.live, a.live_at
    ) accounts
    where live <> found and (live_at is not null or quotas > 0)`,
}
