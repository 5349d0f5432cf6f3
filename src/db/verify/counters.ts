import { MAX_INTEGER } from '../../domain/bounds.ts'
import { joinSql, type Sql, sql, sqlInteger } from '../connection/sql.ts'
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
 * Up to which quota of the shard `$1` a page goes that begins after the quota `$2`: one of `$3` windows and rows of the
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
 * The same for windows and archive rows of quotas that do not exist, which no range of users holds. One shard: `$1`, quotas
 * above `$2` and up to `$3`, `$4` differences.
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
