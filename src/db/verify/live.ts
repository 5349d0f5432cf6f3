import { sql } from '../connection/sql.ts'
import { IN_RANGE } from './ledger.ts'
import type { RangeProof } from './proof.ts'

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
