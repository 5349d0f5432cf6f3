import { sql } from '../connection/sql.ts'
import { hasChanges } from './ledger.ts'
import type { RangeProof } from './proof.ts'

/**
 * A window begins with what the one before it carried, by the rule of `roll`: with n untouched windows between them, n times
 * the limit is added, and the rollover limit bounds the sum. And a window carried no more than it had left: units that are
 * not forced can only become fewer after it closed.
 *
 * The rollover limit that holds is the one at the time of the roll. If the current one does not explain a window, it is
 * taken from the first change that found that window open; a change before the quota's start comes before every roll.
 *
 * Not provable: windows before the first that is stored, untouched windows whose changes are not stored any more, and that a window carried as much as it could, since what is
 * released later does not change what was carried.
 */
export const rollover: RangeProof = {
  name: 'rollover',
  checked: sql`(select count(*) from compared where carried is not null)`,
  exceptions: sql`
    select user_id, quota_id, case when carried > greatest(0, unspent) then
        format('Quota %s of user %s, window %s: carried %s units into the next window, and had %s left.',
          quota_id, user_id, window_no, carried, greatest(0, unspent))
      end as message
    from (
      select *, coalesce("limit" + rolled_over - used - reserved + forced + uncertain, 0) as unspent,
        coalesce("limit" + rolled_over - used - reserved + forced, 0) as certain
      from compared where carried > 0
    ) closed
    where carried > greatest(0, certain)
    union all
    select user_id, quota_id, case when window_no = 0 or (previous_no is not null and ${hasChanges(sql`judged.quota_id`)}) then
        format('Quota %s of user %s, window %s: began with %s units rolled over, %s.', quota_id, user_id, window_no, rolled_over,
          case when previous_no is null then 'and is the first'
            else format('and window %s before it carried %s: %s were expected', previous_no, brought, expected) end)
      end
    from (
      select w.*, case
        when previous_no is null then case when window_no = 0 then 0 end
        when added = 0 then brought
        when rolled_over = least(rollover_limit, brought + added) then rolled_over
        when added > 0 then least(brought + added, coalesce((
          select (c.before ->> 'rollover_limit')::bigint from quota_change c
          where c.shard = $1 and c.quota_id = w.quota_id and (c.before ->> 'window_start')::timestamptz >= w.window_start
            and (c.before ->> 'starts_at')::timestamptz <= c.at
          order by c.version limit 1
        ), rollover_limit))
      end as expected
      from (
        select *, (window_no - previous_no - 1) * previous_limit as added
        from (
          select *, lag(window_no) over earlier as previous_no, lag(carried) over earlier as brought,
            lag(coalesce("limit", 0)) over earlier as previous_limit
          from compared where kind is not null
          window earlier as (partition by quota_id order by window_no)
        ) in_order
      ) w
    ) judged
    where rolled_over is distinct from expected`,
}

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
