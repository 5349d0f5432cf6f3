/** Removes what has been kept long enough, in pages. Each page is a short transaction. */
import { SHARDS, type Shard } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { findShardsWith } from '../cluster/first-rows.ts'
import type { Database } from '../connection/database.ts'
import { sql, sqlInteger } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { type RemovedRows, removeQuota } from '../quotas/removal.ts'
import { IS_SETTLED, removalOf, removeReservations } from './settled.ts'

/** The outcome of one page. */
export interface RemovedPage<Position> {
  removed: number
  /** The position to read on from; null: nothing is left before the cutoff. */
  reached: Position | null
}

/* ── Reservations ───────────────────────────────────────────────────────────────────────────────────────────────── */

/** Reads a page in the order of expiry; a few more rows if several have the same expiry. */
const REMOVE_SETTLED = removalOf(
  sql`select user_id, id, expires_at from reservation
   where shard = $1 and expires_at > $2 and expires_at <= $3
   order by expires_at fetch first $4 rows with ties`,
  sql`${IS_SETTLED} and r.changed_at <= $3`,
  sql`(select case when count(*) >= $4 then max(expires_at) end from page) as reached`,
)

/**
 * Removes a shard's reservations that expired after `after` and at `cutoff` at the latest, are settled, and have not
 * changed since `cutoff`: of a page, oldest first. What they used is added to the archive.
 */
export function removeSettled(
  db: Database,
  shard: Shard,
  after: EpochMs,
  cutoff: EpochMs,
  rows = 1_000,
): Promise<RemovedPage<EpochMs>> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return removeReservations<{ reached: EpochMs | null }>(tx, shard, {
      text: REMOVE_SETTLED,
      values: [shard, timestampParam(after), timestampParam(cutoff), rows],
    })
  })
}

/* ── Windows ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/**
 * A reservation may have been made up to this much after the end of a window or the deletion of a quota that it draws on: by
 * the clocks of two processes and the time that a batch takes, generously.
 */
const MARGIN = sql`interval '10 minutes'`

/** Windows of one quota that a page removes, at most. */
const WINDOWS_OF_QUOTA = 200

/**
 * Reads a page of a shard's quotas and removes their oldest windows. A reservation that draws on a window was made before
 * the window ended, so a window that ended before the user's oldest reservation was made can never change again. Its part
 * of the archive goes with it: each is the other's proof.
 */
const REMOVE_WINDOWS = sql`
  with page as materialized (
    select id, user_id from quota where shard = $1 and id > $2 order by id limit $4
  ), old as materialized (
    select w.quota_id, w.window_no from page
    left join lateral (
      select r.created_at from reservation r where r.shard = $1 and -r.user_id = -page.user_id
      order by r.created_at limit 1
    ) oldest on true
    cross join lateral (
      select quota_id, window_no, window_end from quota_window
      where shard = $1 and quota_id = page.id order by window_no limit ${sqlInteger(WINDOWS_OF_QUOTA)}
    ) w
    where w.window_end <= $3 and w.window_end < coalesce(oldest.created_at - ${MARGIN}, 'infinity')
  ), unarchived as (
    delete from archive a using old
    where a.shard = $1 and a.quota_id = old.quota_id and a.window_no = old.window_no
  ), removed as (
    delete from quota_window w using old
    where w.shard = $1 and w.quota_id = old.quota_id and w.window_no = old.window_no
    returning w.quota_id
  )
  select (select count(*) from removed) as removed,
    coalesce(
      (select min(quota_id) - 1 from (select quota_id from removed group by quota_id
        having count(*) >= ${sqlInteger(WINDOWS_OF_QUOTA)}) unfinished),
      (select case when count(*) >= $4 then max(id) end from page)) as reached`

/** Removes windows that ended at `cutoff` or before and that no reservation can change, of a page of a shard's quotas. */
export function removeWindows(
  db: Database,
  shard: Shard,
  afterQuota: number,
  cutoff: EpochMs,
  quotas: number,
): Promise<RemovedPage<number>> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [page] = await tx.query<RemovedPage<number>>({
      name: 'remove-old-windows',
      text: REMOVE_WINDOWS,
      values: [shard, afterQuota, timestampParam(cutoff), quotas],
    })
    if (page === undefined) throw new Error('the database returned no row')
    return page
  })
}

/* ── Deleted quotas ─────────────────────────────────────────────────────────────────────────────────────────────── */

/** A deleted quota, in the order of deletion. */
export interface DeletedQuota {
  id: number
  deleted_at: EpochMs
}

/** The shards with quotas that were deleted after a position in each shard, and at `cutoff` at the latest. */
export const findShardsWithDeleted = (
  db: Database,
  after: (shard: Shard) => DeletedQuota,
  cutoff: EpochMs,
): Promise<Shard[]> =>
  findShardsWith(db, {
    name: 'have-deleted-quotas',
    ...{ from: sql`quota q`, by: sql`q.deleted_at` },
    where: sql`q.shard = h.shard and q.deleted_at <= $3
      and (q.deleted_at, q.id) > (($1::timestamptz[])[h.shard + 1], ($2::bigint[])[h.shard + 1])`,
    values: [
      SHARDS.map(shard => timestampParam(after(shard).deleted_at)),
      SHARDS.map(shard => after(shard).id),
      timestampParam(cutoff),
    ],
  })

/**
 * A page of a shard's quotas that were deleted at `cutoff` or before, and whether a reservation may still draw on each:
 * one that was made before the deletion.
 */
export function findDeletedQuotas(
  db: Database,
  shard: Shard,
  after: DeletedQuota,
  cutoff: EpochMs,
  quotas: number,
): Promise<(DeletedQuota & { is_drawn: boolean })[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return tx.query({
      name: 'find-deleted-quotas',
      text: sql`select page.id, page.deleted_at, exists (
               select from reservation r where r.shard = $1 and -r.user_id = -page.user_id
                 and r.created_at <= page.deleted_at + ${MARGIN}
             ) as is_drawn
             from (
               select id, user_id, deleted_at from quota
               where shard = $1 and (deleted_at, id) > ($2::timestamptz, $3::bigint) and deleted_at <= $4
               order by deleted_at, id limit $5
             ) page order by page.deleted_at, page.id`,
      values: [shard, timestampParam(after.deleted_at), after.id, timestampParam(cutoff), quotas],
    })
  })
}

/** Removes a page of a deleted quota, on which no reservation draws. */
export function removeDeletedQuota(db: Database, shard: Shard, id: number, rows: number): Promise<RemovedRows> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return removeQuota(tx, shard, id, rows)
  })
}
