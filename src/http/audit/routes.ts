import type { FastifyInstance } from 'fastify'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { getList } from '../resource/list.ts'
import { changes } from './responses.ts'

/** All changes by administrators: `/api/sms/admin/audit`. */
export function auditRoutes(server: FastifyInstance, context: RouteContext): void {
  getList(server, '', context, changes, {
    ...operation(
      'Administrator',
      'listAudit',
      'List all changes by administrators',
      "Changes of each kind of `resource`, newest first: what administrators change, users' requests for more units and addresses for messages, and erasures of users. `resource` and `thing_id` together are the history of one thing. The erasure of a user removes the changes of the user's quotas, pauses, requests and profile; the erasure itself stays. Filters are combined. Kept for ever, unless `AUDIT_RETENTION_DAYS` says otherwise.",
    ),
    isReport: true,
    answer: 'AuditPage',
  })
}
