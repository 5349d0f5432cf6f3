import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { type AuditEntry, AuditQuery } from '../../contract/audit.ts'
import { closed } from '../../contract/schemas.ts'
import { type AuditedChange, type AuditFilter, type AuditKey, listChanges } from '../../db/users/audit.ts'
import { AUDITED_RESOURCES } from '../../domain/audit.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/bounds.ts'
import { SHARD_COUNT } from '../../domain/shard.ts'
import { formatTimestamp } from '../../domain/time.ts'
import type { RouteContext } from '../context.ts'
import { cursorsOf, cursorTime, cursorInteger as id, type PageRequest, pageRequestOf } from '../platform/cursors.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'

/** The filters of the list. Times are milliseconds since 1970. */
const { page_size: _size, cursor: _cursor, ...filters } = AuditQuery.properties
const Filters = Type.Object({ ...filters, from: Type.Optional(cursorTime), to: Type.Optional(cursorTime) }, closed)
type Filters = Static<typeof Filters>
const FILTERS = Object.keys(Filters.properties)

/** The filters of a list, and the last change of a page. */
const cursors = cursorsOf(
  Type.Object(
    {
      filters: Filters,
      after: Type.Object(
        {
          at: cursorTime,
          resource: Type.Enum([...AUDITED_RESOURCES]),
          shard: Type.Integer({ minimum: 0, maximum: SHARD_COUNT - 1 }),
          id,
          version: id,
        },
        closed,
      ),
    },
    closed,
  ),
)

/**
 * The filters of a query, and the change after which its page begins.
 * @throws Problem `invalid_request` if a filter contradicts the cursor
 */
function auditPageOf(query: AuditQuery): PageRequest<Pick<AuditFilter, keyof Filters>, AuditKey> {
  return pageRequestOf(query, FILTERS, cursors.read)
}

/** The cursor of the page after this change. */
function cursorAfter({ at, resource, shard, id, version }: AuditKey, filters: Filters): string {
  return cursors.write({ filters, after: { at, resource, shard, id, version } })
}

/** All changes by administrators: `/api/sms/admin/audit`. */
export function auditRoutes(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '', {
    ...operation(
      'Administrator',
      'listAudit',
      'List all changes by administrators',
      "Changes of quotas and webhooks, and erasures of users, newest first. The erasure of a user removes the changes of the user's quotas; the erasure itself stays. Filters are combined. Kept for ever, unless `AUDIT_RETENTION_DAYS` says otherwise.",
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
    user_id,
    action,
    version: resource === 'user' ? null : version,
    at: formatTimestamp(at),
    actor: shown.actor,
    request_id: shown.request_id,
    reason: shown.reason,
    before: shown.before,
    after: shown.after,
  }
}
