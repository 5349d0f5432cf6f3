import type { Database } from '../db/connection/database.ts'
import { CHANGE_TABLES, type ChangeTable, removeOldChanges } from '../db/users/audit-retention.ts'
import { removeUnseenNames } from '../db/users/principal-names.ts'
import type { EpochMs } from '../domain/time.ts'
import { createPageSize, forEachApart, type PageSize } from './isolation.ts'
import type { Job } from './runner.ts'

/**
 * Removes changes by administrators when their retention time is over, and the names of principals that were not seen for
 * that time. Any number of processes may run it.
 */
export interface AuditRetention extends Job {
  /** One step: a page of each kind of changes, oldest first, and the names. Resolves to whether there may be more changes. */
  removeOnce(now: EpochMs, signal?: AbortSignal): Promise<boolean>
}

export interface AuditRetentionOptions {
  db: Database
  now: () => EpochMs
  /** How long a change is kept, in milliseconds; null: for ever. */
  retentionMs: number | null
}

const INTERVAL_MS = 60_000
const PAGE = 1_000

export function createAuditRetention({ db, now: clock, retentionMs }: AuditRetentionOptions): AuditRetention {
  const sizes = new Map<ChangeTable, PageSize>(CHANGE_TABLES.map(table => [table, createPageSize(PAGE)]))

  async function removeOnce(now: EpochMs, signal?: AbortSignal): Promise<boolean> {
    if (retentionMs === null) return false
    let hasMore = false
    await forEachApart(sizes, signal, async ([table, size]) => {
      const isFull = await size.run(async rows => (await removeOldChanges(db, table, now - retentionMs, rows)) >= rows)
      if (isFull) hasMore = true
    })
    await removeUnseenNames(db, now - retentionMs)
    return hasMore
  }

  return {
    name: 'audit retention',
    removeOnce,
    async step(signal) {
      const hasMore = await removeOnce(clock(), signal)
      // At most half of the time, because no caller waits for it.
      return tookMs => (hasMore ? 5 + tookMs : INTERVAL_MS)
    },
  }
}
