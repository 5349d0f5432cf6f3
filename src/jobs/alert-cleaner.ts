import type { Database } from '../db/connection/database.ts'
import { removeEndedAlerts } from '../db/quotas/alerts.ts'
import { type CleanerOptions, createCleaner } from './cleaner.ts'
import type { RetentionJob } from './runner.ts'

/** Removes the marks of quotas (`quota_alert`) whose window or quota has ended. */
export function createAlertCleaner({
  db,
  ...options
}: Pick<CleanerOptions, 'now' | 'pageSize'> & { db: Database }): RetentionJob {
  return createCleaner({
    name: 'alert cleaner',
    ...options,
    remove: (shard, endedBy, rows) => removeEndedAlerts(db, shard, endedBy, rows),
  })
}
