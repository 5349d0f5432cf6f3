import type { Quota } from '../domain/quota.ts'
import type { EpochMs } from '../domain/time.ts'
import { type Database, timestampParam } from './database.ts'
import { BY_KEYS } from './planner-settings.ts'
import { QUOTA_COLUMNS } from './quotas.ts'

/** A quota that stands at a percent of its `alert_at` or above. */
export interface Alert {
  /** As it is stored; it stands in the window that holds now. */
  quota: Quota
  /** The highest that was told in this window and still holds. */
  percent: number
  /** When that was told. */
  at: EpochMs
}

/**
 * How many of the newest percents are looked at, at most. Those of windows that are over are among them, so a quota whose
 * last percent lies further back is not found.
 */
export const MAX_LOOKED_AT = 5_000

/**
 * A raised limit or a refund may have undone what was told, by the rule of `alertedBy`. A quota that nobody has met since
 * its window ended stands in a window that is over: nothing was told in the one that holds now.
 */
const STANDING = `
  select * from (
    select distinct on (q.shard, q.id) ${QUOTA_COLUMNS}, told.percent, told.told_at
    from (
      select shard as told_shard, (data -> 'quota' ->> 'id')::bigint as told_id,
        (data -> 'quota' ->> 'window_start')::timestamptz as told_window, (data ->> 'percent')::int as percent,
        at as told_at
      from event where data ? 'percent' and type = 'quota.threshold_reached' order by at desc limit ${MAX_LOOKED_AT}
    ) told
    join quota q on q.shard = told.told_shard and q.id = told.told_id
    where q.deleted_at is null and q.enabled and q.starts_at <= $1 and (q.expires_at is null or q.expires_at > $1)
      and q.window_start = told.told_window and (q.window_end is null or q.window_end > $1)
      and told.percent = any (q.alert_at) and q.used > 0
      and q.used * 100 >= told.percent * (q."limit" + q.rolled_over)
    order by q.shard, q.id, told.percent desc
  ) standing
  order by told_at desc, id desc limit $2`

/** Live quotas for which a percent of `alert_at` was told in the window that holds now and still holds, the latest first. */
export function standingAlerts(db: Database, limit: number, now: EpochMs): Promise<Alert[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const rows = await tx.query<Quota & { percent: number; told_at: EpochMs }>({
      name: 'standing-alerts',
      text: STANDING,
      values: [timestampParam(now), limit],
    })
    return rows.map(({ percent, told_at: at, ...quota }) => ({ quota, percent, at }))
  }, 'snapshot')
}
