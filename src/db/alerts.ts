import type { Quota } from '../domain/quota.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Database } from './database.ts'
import { BY_KEYS } from './planner-settings.ts'
import { QUOTA_COLUMNS } from './quotas.ts'
import { timestampParam } from './values.ts'

/** A quota that has reached a percent of its `alert_at`. */
export interface Alert {
  /** As stored; its window is the one that holds now. */
  quota: Quota
  /** The highest percent that was emitted in this window and still holds. */
  percent: number
  /** When its event was emitted. */
  at: EpochMs
}

/**
 * The newest events with a percent that are scanned, at most. Events of closed windows count among them, so a quota
 * whose last event lies further back is not found.
 */
export const MAX_SCANNED = 5_000

/**
 * A raised limit or a refund may have undone an emitted percent, by the rule of `alertedBy`. A quota that nothing has
 * written to since its window ended is not among them: in the window that holds now, nothing was emitted.
 */
const STANDING = `
  select * from (
    select distinct on (q.shard, q.id) ${QUOTA_COLUMNS}, emitted.percent, emitted.emitted_at
    from (
      select shard as of_shard, (data -> 'quota' ->> 'id')::bigint as of_quota,
        (data -> 'quota' ->> 'window_start')::timestamptz as of_window, (data ->> 'percent')::int as percent,
        at as emitted_at
      from event where data ? 'percent' and type = 'quota.threshold_reached' order by at desc limit ${MAX_SCANNED}
    ) emitted
    join quota q on q.shard = emitted.of_shard and q.id = emitted.of_quota
    where q.deleted_at is null and q.enabled and q.starts_at <= $1 and (q.expires_at is null or q.expires_at > $1)
      and q.window_start = emitted.of_window and (q.window_end is null or q.window_end > $1)
      and emitted.percent = any (q.alert_at) and q.used > 0
      and q.used * 100 >= emitted.percent * (q."limit" + q.rolled_over)
    order by q.shard, q.id, emitted.percent desc
  ) standing
  order by emitted_at desc, id desc limit $2`

/** Live quotas with a percent that was emitted in the window that holds now and still holds, the latest first. */
export function standingAlerts(db: Database, limit: number, now: EpochMs): Promise<Alert[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const rows = await tx.query<Quota & { percent: number; emitted_at: EpochMs }>({
      name: 'standing-alerts',
      text: STANDING,
      values: [timestampParam(now), limit],
    })
    return rows.map(({ percent, emitted_at: at, ...quota }) => ({ quota, percent, at }))
  }, 'snapshot')
}
