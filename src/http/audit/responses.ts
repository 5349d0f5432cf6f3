import type { AuditEntry, AuditPage, AuditQuery } from '../../contract/audit.ts'
import type { Database } from '../../db/connection/database.ts'
import { type AuditedChange, listChanges } from '../../db/users/audit.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/bounds.ts'
import { formatTimestamp } from '../../domain/time.ts'
import { auditPageOf, cursorAfter } from './requests.ts'

/** A page of changes by administrators. */
export async function auditPage(db: Database, query: AuditQuery): Promise<AuditPage> {
  const { filters, after } = auditPageOf(query)
  const { page_size: size = DEFAULT_PAGE_SIZE } = query
  const { changes, next } = await listChanges(db, filters, after, size)
  return { items: changes.map(entryOf), page_size: size, next_cursor: next && cursorAfter(next, filters) }
}

function entryOf({ resource, id, user_id, action, version, at, ...shown }: AuditedChange): AuditEntry {
  return {
    resource,
    quota_id: resource === 'quota' ? id : null,
    webhook_id: resource === 'webhook' ? id : null,
    plan_id: resource === 'plan' ? id : null,
    pause_id: resource === 'pause' ? id : null,
    increase_request_id: resource === 'increase_request' ? id : null,
    user_id,
    action,
    version: resource === 'user' ? null : version,
    at: formatTimestamp(at),
    actor: shown.actor,
    request_id: shown.request_id,
    reason: shown.reason,
    transfer_id: shown.transfer_id,
    before: shown.before,
    after: shown.after,
  }
}
