import { sql } from '../connection/sql.ts'
import { hasChanges } from './ledger.ts'
import type { RangeProof } from './proof.ts'

/**
 * No window is oversold. Units without force are granted only while all units of the window have room. Afterwards they
 * can only become fewer, so they have room for ever: the units used and reserved, less the forced ones, are at most
 * limit + rolled_over + overage_limit.
 *
 * The room is the largest that the window has had: an administrator may have lowered its limits. The history of changes shows
 * the quota as it was before and after each change, with the beginning of the window that the change found.
 *
 * Not provable: a window past its limit, if it is not known how much was forced, or if changes are not stored any more.
 */
export const limits: RangeProof = {
  name: 'limits',
  checked: sql`(select count(*) from compared where kind is not null and "limit" is not null)`,
  exceptions: sql`
    select user_id, quota_id, case when unforced - uncertain > largest and ${hasChanges(sql`over_limit.quota_id`)} then
      format('Quota %s of user %s, window %s is oversold: %s units are used or reserved without force, and it has room for %s '
        || '(limit %s, rolled over %s, overage limit %s). No change has lowered its limits from %s or more.',
        quota_id, user_id, window_no, unforced, room, "limit", rolled_over, overage_limit, unforced)
      end as message
    from (
      select *, used + reserved - forced as unforced, "limit" + rolled_over + overage_limit as room
      from compared where kind is not null and used + reserved - forced > "limit" + rolled_over + overage_limit
    ) over_limit, lateral (
      select greatest(room, max((view ->> 'limit')::bigint + (view ->> 'rolled_over')::bigint
          + (view ->> 'overage_limit')::bigint)) as largest,
        bool_or(view ->> 'limit' is null) as was_unlimited
      from quota_change c, lateral (values (c.before), (c.after)) shown (view)
      where c.shard = $1 and c.quota_id = over_limit.quota_id
        and (view ->> 'window_start')::timestamptz = over_limit.window_start
    ) changes
    where was_unlimited is not true and unforced > largest`,
}
