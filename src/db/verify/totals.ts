/**
 * The totals of a shard, by which lists know how many quotas there are, equal the numbers of its quotas. `$1` is the
 * shard. Both are read in one statement, because a later total would hold later quotas.
 */
import { sql } from '../connection/sql.ts'
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
