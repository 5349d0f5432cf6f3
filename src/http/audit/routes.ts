import type { FastifyInstance } from 'fastify'
import { type AuditEntry, AuditQuery } from '../../contract/audit.ts'
import { type AuditedChange, listChanges } from '../../db/users/audit.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/bounds.ts'
import { formatTimestamp } from '../../domain/time.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { auditPageOf, cursorAfter } from './requests.ts'

/** All changes by administrators: `/api/sms/admin/audit`. */
export function auditRoutes(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '', {
    ...operation(
      'Administrator',
      'listAudit',
      'List all changes by administrators',
      "Changes of quotas, webhooks, plans, pauses and users' profiles, users' requests for more units, and erasures of users, newest first. The erasure of a user removes the changes of the user's quotas, pauses, requests and profile; the erasure itself stays. Filters are combined. Kept for ever, unless `AUDIT_RETENTION_DAYS` says otherwise.",
    ),
    query: AuditQuery,
    answer: 'AuditPage',
    handler: async request => {
      const { filters, after } = auditPageOf(request.query)
      const { page_size: size = DEFAULT_PAGE_SIZE } = request.query
      const { changes, next } = await listChanges(db, filters, after, size)
      return { items: changes.map(entryOf), page_size: size, next_cursor: next && cursorAfter(next, filters) }
    },
  })
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
