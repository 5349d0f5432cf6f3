/** The past of a quota: administrators' changes and closed windows. Deleted quotas keep theirs. */
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import { shardOf, shardOfQuota } from '../../domain/basics/shard.ts'
import { type ClosedWindow, roll } from '../../domain/quotas/quota.ts'
import { DAY_MS, type EpochMs } from '../../domain/time/time.ts'
import { type AuditedChange, type AuditKey, listChanges } from '../changes/audit.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { cut, type Page, type Slice } from '../lists/pages.ts'
import { findQuota } from './quotas.ts'

/** A change of a quota: a call makes each, and leaves a quota. */
export interface RecordedChange extends AuditedChange {
  action: 'created' | 'updated' | 'deleted'
  request_id: string
  after: object
}

/**
 * By how many units bounded authors have moved the limits of a user's quotas within a day. A change that a clock ahead has dated counts
 * until a day after its date at most, and from a day before it.
 */
export async function movedUnitsOf(tx: Transaction, userId: number, now: EpochMs): Promise<number> {
  const [row] = await tx.query<{ moved: number }>({
    text: sql`select coalesce(sum(moved_units), 0)::bigint as moved from (
             select moved_units from quota_change
             where shard = $1 and (after ->> 'user_id')::bigint = $2 and at > $3::timestamptz and at < $4::timestamptz offset 0
           ) c`,
    values: [shardOf(userId), userId, timestampParam(now - DAY_MS), timestampParam(now + DAY_MS)],
  })
  return row?.moved ?? 0
}

/**
 * The quotas, of these, that a request of a principal has changed. Callers choose their request ids, so that one can send
 * the id of another's request. It looks at the changes of each quota: by the index of requests, it would read all changes
 * of a request that has changed a million.
 */
export async function changedByRequest(
  tx: Transaction,
  quotaIds: readonly number[],
  { actor, requestId }: { actor: string; requestId: string },
): Promise<Set<number>> {
  const rows = await runPerCitusShard(tx, quotaIds, shardOfQuota, part =>
    tx.query<{ quota_id: number }>({
      text: sql`select k.of_quota as quota_id from unnest($1::smallint[], $2::bigint[]) k (of_shard, of_quota)
             where exists (
               select from (
                 select actor, request_id from quota_change
                 where shard = of_shard and quota_id = of_quota ${shardFilter(tx, sql`shard`, sql`$1`)} offset 0
               ) c where c.request_id = $3 and c.actor = $4
             )`,
      values: [part.map(shardOfQuota), part, requestId, actor],
    }),
  )
  return new Set(rows.map(({ quota_id }) => quota_id))
}

/** A page of changes, newest first; undefined if there never was such a quota. */
export async function changesOf(
  db: Database,
  quotaId: number,
  { after = MAX_INTEGER, ...page }: Page<number>,
): Promise<Slice<RecordedChange, number> | undefined> {
  const place: AuditKey = { at: 0, resource: 'quota', shard: shardOfQuota(quotaId), id: quotaId, version: after }
  const { items, next } = await listChanges<RecordedChange>(
    db,
    { resource: 'quota', thing_id: quotaId },
    { ...page, after: place },
  )
  // Every quota has a change, its creation: only an empty result leaves open whether the quota exists.
  if (items.length === 0 && (await findQuota(db, quotaId)) === undefined) return undefined
  return { items, next: next === null ? null : next.version }
}

/**
 * A page of closed windows, newest first; undefined if there never was such a quota. A window that has ended
 * without a row yet, because nothing has written to the quota since, is among them. The snapshot keeps it from showing
 * twice if its row is written meanwhile.
 */
export function closedWindowsOf(
  db: Database,
  quotaId: number,
  { after = MAX_INTEGER, size, now }: Page<number>,
): Promise<Slice<ClosedWindow, number> | undefined> {
  return db.transaction(async tx => {
    const quota = await findQuota(tx, quotaId)
    if (quota === undefined) return undefined
    const stored = await tx.query<ClosedWindow>({
      text: sql`select window_no, window_start, window_end, "limit", overage_limit, rolled_over, used, reserved, carried
             from quota_window
             where shard = $1 and quota_id = $2 and window_no < $3 order by window_no desc limit $4`,
      values: [shardOfQuota(quotaId), quotaId, after, size + 1],
    })
    const { closed } = roll(quota, now)
    const windows = closed !== null && closed.window_no < after ? [closed, ...stored] : stored
    return cut(windows, size, ({ window_no }) => window_no)
  }, 'snapshot')
}
