import { LOGGED_RESOURCES, type LoggedResource } from '../db/changes/logs.ts'
import { removeOldChanges } from '../db/changes/retention.ts'
import type { Database } from '../db/connection/database.ts'
import { removeEndedPauses } from '../db/pauses/pauses.ts'
import { removeDecidedRequests } from '../db/quotas/increase-requests.ts'
import { removeUnseenNames } from '../db/users/principal-names.ts'
import { removeFreedReferences } from '../db/users/profiles.ts'
import { USAGE_DAYS_KEPT } from '../domain/basics/bounds.ts'
import { DAY_MS, type EpochMs } from '../domain/time/time.ts'
import { createPageSize, forEachApart, type PageSize } from './isolation.ts'
import { createRetentionJob, type RetentionJob } from './runner.ts'

export interface AuditRetentionOptions {
  db: Database
  now: () => EpochMs
  /** How long a change is kept, in milliseconds; null: for ever. */
  retentionMs: number | null
}

const INTERVAL_MS = 60_000
const PAGE = 1_000
/** As long as usage by the day, which shows what a pause denied. */
const PAUSES_KEPT_MS = USAGE_DAYS_KEPT * DAY_MS

/**
 * Removes changes by administrators, and requests for more units that were decided, when their retention time is over, and the names of
 * principals that were not seen for that time. In any case it removes the references that erasures have freed, minutes later, and pauses that ended 400 days ago. Any
 * number of processes may run it.
 */
export function createAuditRetention({ db, now: clock, retentionMs }: AuditRetentionOptions): RetentionJob {
  const sizes = new Map<LoggedResource, PageSize>(LOGGED_RESOURCES.map(resource => [resource, createPageSize(PAGE)]))

  return createRetentionJob({
    name: 'audit retention',
    intervalMs: INTERVAL_MS,
    now: clock,
    async removePage(now, signal) {
      // By the clock as it is: they are personal data of users who are erased. Freed too early, one leads astray for as long as a process
      // remembers it, a minute.
      const freed = await removeFreedReferences(db, clock(), PAGE)
      const ended = await removeEndedPauses(db, now - PAUSES_KEPT_MS, PAGE)
      const removal = { removed: freed + ended, isBehind: freed >= PAGE || ended >= PAGE }
      if (retentionMs === null) return removal
      await forEachApart(sizes, signal, ([resource, size]) =>
        size.run(async rows => {
          const removed = await removeOldChanges(db, resource, now - retentionMs, rows)
          removal.removed += removed
          removal.isBehind ||= removed >= rows
        }),
      )
      const decided = await removeDecidedRequests(db, now - retentionMs, PAGE)
      removal.removed += decided
      removal.isBehind ||= decided >= PAGE
      await removeUnseenNames(db, now - retentionMs)
      return removal
    },
  })
}
