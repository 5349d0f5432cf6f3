/** Marks of quotas (`quota_alert`): the list of quotas that are running out, and how marks are kept. */

import { type Shard, shardOfQuota } from '../../domain/basics/shard.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import { quotaAlertsOf } from '../../domain/quotas/quota-alert.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { findShardsWith } from '../cluster/first-rows.ts'
import { shardFilter } from '../cluster/parts.ts'
import type { Database, SqlValue, Transaction } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { LISTS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { type Page, readPage, type Slice } from '../lists/pages.ts'
import { NOT_DELETED } from './conditions.ts'
import { QUOTA_COLUMNS } from './quotas.ts'

/** A quota that has reached a percent of its `alert_at`. */
interface Alert {
  /** As stored; its window is the one that holds now. */
  quota: Quota
  /** The highest percent that was emitted in this window and still holds. */
  percent: number
  /** When its event was emitted. */
  at: EpochMs
}

/** The place of an alert in the list. */
export interface AlertKey {
  percent: number
  at: EpochMs
  id: number
}

type MarkedQuota = Quota & { reached: number; reached_at: EpochMs }

/** The place before the first alert with less than a percent: no mark has the quota id 0. */
export function firstBelow(percent: number): AlertKey {
  return { percent, at: 0, id: 0 }
}

/**
 * Marks that a page reads, at most. Some do not hold any more: of ended windows, until they are removed, and of quotas
 * whose limit was raised or whose units came back.
 */
export const MAX_ALERTS_SCANNED = 10_000

/**
 * A mark is listed if the quota is live, its window is still the one of the mark (a roll empties `alerted`), and its
 * percent is the highest of those emitted at which the quota stands, by the rule of `alertedBy`.
 */
const STANDING = sql`${NOT_DELETED} and q.enabled and q.starts_at <= $1 and (q.expires_at is null or q.expires_at > $1)
  and (q.window_end is null or q.window_end > $1) and q.used > 0
  and a.reached = (select max(p) from unnest(q.alerted) p
    where p = any (q.alert_at) and q.used * 100 >= p * (q."limit" + q.rolled_over))`

/** Live quotas at a percent that was emitted in the window that holds now: the highest first, of equal ones the latest. */
export async function listAlerts(
  db: Database,
  { after, size, now, maxScanned = MAX_ALERTS_SCANNED }: Page<AlertKey>,
): Promise<Slice<Alert, AlertKey>> {
  const values: SqlValue[] = [timestampParam(now)]
  const keys: SqlValue[] = []
  const marks = marksAfter(after, values, maxScanned)
  const text = sql`select ${QUOTA_COLUMNS}, a.reached, a.reached_at
    from (${marks}) a join quota q on q.shard = a.of_shard and q.id = a.of_quota
    where a.ends_at > $1 and ${STANDING}
    order by a.reached desc, a.reached_at desc, a.of_quota desc limit ${bind(values, size + 1)}`
  const end = sql`select reached, reached_at, of_quota as id from (${marksAfter(after, keys, maxScanned + 1)}) a
           order by reached desc, reached_at desc, of_quota desc offset ${bind(keys, maxScanned - 1)}`
  const scan = {
    page: { text, values },
    keyOf: ({ reached: percent, reached_at: at, id }: MarkedQuota) => ({ percent, at, id }),
    end: { text: end, values: keys },
  }
  const { items, next } = await readPage(db, size, scan, LISTS)
  return { items: items.map(({ reached: percent, reached_at: at, ...quota }) => ({ quota, percent, at })), next }
}

function marksAfter(after: AlertKey | undefined, values: SqlValue[], limit: number): Sql {
  const key = after && [after.percent, timestampParam(after.at), after.id].map(value => bind(values, value))
  return sql`select shard as of_shard, quota_id as of_quota, percent as reached, at as reached_at, ends_at from quota_alert
    where percent <= 100${key === undefined ? sql`` : sql` and (percent, at, quota_id) < (${joinSql(key)})`}
    order by percent desc, at desc, quota_id desc limit ${bind(values, limit)}`
}

/**
 * Makes the rows of quotas equal to their marks after an administrator's change. A mark that the change did not reach keeps
 * its time. The others get `now`, also those whose row was removed because the quota had ended.
 *
 * @param changed each quota with the marks that the change reached
 */
export async function replaceAlerts(
  tx: Transaction,
  changed: readonly { quota: Quota; reached: readonly number[] }[],
  now: EpochMs,
): Promise<void> {
  const marks = changed.flatMap(({ quota, reached }) =>
    quota.deleted_at === null
      ? quotaAlertsOf(quota, quota.alerted).map(mark => ({ ...mark, isKept: !reached.includes(mark.percent) }))
      : [],
  )
  const kept = marks.filter(({ isKept }) => isKept)
  const ids = changed.map(({ quota }) => quota.id)
  await tx.query({
    text: sql`delete from quota_alert a using unnest($1::smallint[], $2::bigint[]) k (shard, quota_id)
           where a.shard = k.shard ${shardFilter(tx, sql`a.shard`, sql`$1`)} and a.quota_id = k.quota_id and (a.quota_id, a.percent) not in (
             select * from unnest($3::bigint[], $4::smallint[])
           )`,
    values: [ids.map(shardOfQuota), ids, kept.map(({ quota_id }) => quota_id), kept.map(({ percent }) => percent)],
  })
  if (marks.length === 0) return
  await tx.query({
    text: sql`insert into quota_alert (shard, quota_id, percent, at, ends_at)
           select ${tx.isCluster ? sql`h` : sql`k`}.shard, k.quota_id, k.percent, $5, coalesce(k.ends_at, 'infinity')
           from unnest($1::smallint[], $2::bigint[], $3::smallint[], $4::timestamptz[]) k (shard, quota_id, percent, ends_at)
           ${tx.isCluster ? sql`join shard_head h on h.shard = k.shard where h.shard = any($1::smallint[])` : sql``}
           on conflict (shard, quota_id, percent) do update set ends_at = excluded.ends_at`,
    values: [
      marks.map(({ quota_id }) => shardOfQuota(quota_id)),
      marks.map(({ quota_id }) => quota_id),
      marks.map(({ percent }) => percent),
      marks.map(({ ends_at }) => timestampParam(ends_at)),
      timestampParam(now),
    ],
  })
}

/** The shards with marks whose window or quota had ended by then. */
export const findEndedAlerts = (db: Database, endedBy: EpochMs): Promise<Shard[]> =>
  findShardsWith(db, {
    name: 'have-ended-alerts',
    ...{ from: sql`quota_alert a`, by: sql`a.ends_at`, where: sql`a.shard = h.shard and a.ends_at <= $1` },
    values: [timestampParam(endedBy)],
  })

/**
 * Removes marks of a shard whose window or quota had ended by then, a page at most, and answers how many. Skips rows that
 * a batch is writing: they get a new end.
 */
export function removeEndedAlerts(db: Database, shard: Shard, endedBy: EpochMs, rows: number): Promise<number> {
  return db.transaction(async tx => {
    await tx.query({ text: LISTS })
    const removed = await tx.query({
      // Materialized: read again for each row, it would pass over those that it has locked, and remove more than a page.
      text: sql`with page as materialized (
               select quota_id, percent from quota_alert where shard = $1 and ends_at <= $2
               order by shard, ends_at limit $3 for update skip locked
             )
             delete from quota_alert a using page
             where a.shard = $1 and a.quota_id = page.quota_id and a.percent = page.percent
             returning 1`,
      values: [shard, timestampParam(endedBy), rows],
    })
    return removed.length
  })
}
