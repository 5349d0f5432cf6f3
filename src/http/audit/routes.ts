import type { FastifyInstance } from 'fastify'
import { AuditQuery } from '../../contract/audit.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { auditPage } from './responses.ts'

/** All changes by administrators: `/api/sms/admin/audit`. */
export function auditRoutes(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '', {
    ...operation(
      'Administrator',
      'listAudit',
      'List all changes by administrators',
      "Changes of quotas, webhooks, plans, pauses and users' profiles, users' requests for more units, and erasures of users, newest first. The erasure of a user removes the changes of the user's quotas, pauses, requests and profile; the erasure itself stays. Filters are combined. Kept for ever, unless `AUDIT_RETENTION_DAYS` says otherwise.",
    ),
    isReport: true,
    query: AuditQuery,
    answer: 'AuditPage',
    handler: ({ query }) => auditPage(db, query),
  })
}
