import type { AuditEntry, AuditPage, AuditQuery } from '../../contract/audit.ts'
import { type AuditedChange, listChanges } from '../../db/changes/audit.ts'
import type { Database } from '../../db/connection/database.ts'
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

function entryOf(change: AuditedChange): AuditEntry {
  const { resource, id, user_id, version } = change
  return {
    resource,
    quota_id: resource === 'quota' ? id : null,
    webhook_id: resource === 'webhook' ? id : null,
    plan_id: resource === 'plan' ? id : null,
    pause_id: resource === 'pause' ? id : null,
    increase_request_id: resource === 'increase_request' ? id : null,
    user_id,
    ...changeViewOf(change),
    version: resource === 'user' ? null : version,
  }
}

/** A change as the API shows it to those who know of which thing it is. */
export function changeViewOf<Change extends AuditedChange>({ version, action, at, actor, request_id, ...of }: Change) {
  const { reason, transfer_id, before, after } = of
  return { version, action, at: formatTimestamp(at), actor, request_id, reason, transfer_id, before, after }
}
