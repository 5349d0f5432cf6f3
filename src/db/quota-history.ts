import { type ClosedWindow, type Quota, roll } from '../domain/quota.ts'
import { shardOfQuota } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Database } from './database.ts'
import { findQuota } from './quotas.ts'

/** What a quota went through, newest first; undefined if there never was such a quota. Deleted ones keep theirs. */

export interface RecordedChange {
  version: number
  action: 'created' | 'updated' | 'deleted'
  at: EpochMs
  actor: string
  request_id: string
  reason: string | null
  /** As they were shown then. */
  before: object | null
  after: object
}

/** A part of a list, and whether there is more behind it. */
export interface Slice<Item> {
  items: Item[]
  hasMore: boolean
}

/** Changes of a quota before a version. */
export async function changesOf(
  db: Database,
  quotaId: number,
  before: number,
  size: number,
): Promise<Slice<RecordedChange> | undefined> {
  const changes = await db.query<RecordedChange>({
    text: `select version, action, at, actor, request_id, reason, before, after from quota_change
           where shard = $1 and quota_id = $2 and version < $3 order by version desc limit $4`,
    values: [shardOfQuota(quotaId), quotaId, before, size + 1],
  })
  // Whatever was created has a change; only an empty answer leaves in doubt whether there is such a quota.
  if (changes.length === 0 && (await findQuota(db, quotaId)) === undefined) return undefined
  return sliceOf(changes, size)
}

/**
 * Windows that a quota has left behind, of those before a number. One that ended and was not filed yet, because nothing
 * met the quota since, is among them: the snapshot keeps it from showing twice when it is filed meanwhile.
 */
export function closedWindowsOf(
  db: Database,
  quotaId: number,
  before: number,
  size: number,
  now: EpochMs,
): Promise<Slice<ClosedWindow> | undefined> {
  return db.transaction(async tx => {
    const quota: Quota | undefined = await findQuota(tx, quotaId)
    if (quota === undefined) return undefined
    const filed = await tx.query<ClosedWindow>({
      text: `select window_no, window_start, window_end, "limit", overage_limit, rolled_over, used, reserved, carried
             from quota_window
             where shard = $1 and quota_id = $2 and window_no < $3 order by window_no desc limit $4`,
      values: [shardOfQuota(quotaId), quotaId, before, size + 1],
    })
    const { closed } = roll(quota, now)
    return sliceOf(closed !== null && closed.window_no < before ? [closed, ...filed] : filed, size)
  }, 'snapshot')
}

function sliceOf<Item>(items: Item[], size: number): Slice<Item> {
  return { items: items.slice(0, size), hasMore: items.length > size }
}
