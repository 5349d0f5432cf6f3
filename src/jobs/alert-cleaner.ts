import type { Database } from '../db/connection/database.ts'
import { removeEndedAlerts } from '../db/quotas/alerts.ts'
import { type CleanerOptions, createCleaner } from './cleaner.ts'
import type { RetentionJob } from './runner.ts'

/** A margin for processes whose clocks are behind: to them, the window is still open. */
const MARGIN_MS = 60_000

/** Removes the marks of quotas (`quota_alert`) whose window or quota has ended. */
export function createAlertCleaner({
  db,
  ...options
}: Pick<CleanerOptions, 'now' | 'pageSize'> & { db: Database }): RetentionJob {
  return createCleaner({
    name: 'alert cleaner',
    ...options,
    remove: (shard, now, rows) => removeEndedAlerts(db, shard, now - MARGIN_MS, rows),
  })
}
