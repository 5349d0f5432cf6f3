import Type, { type Static } from 'typebox'
import { AuditQuery } from '../../contract/audit.ts'
import { closed } from '../../contract/schemas.ts'
import type { AuditFilter, AuditKey } from '../../db/changes/audit.ts'
import { AUDITED_RESOURCES } from '../../domain/audit.ts'
import { SHARD_COUNT } from '../../domain/shard.ts'
import { cursorsOf, cursorTime, cursorInteger as id, type PageRequest, pageRequestOf } from '../platform/cursors.ts'

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
export function auditPageOf(query: AuditQuery): PageRequest<Pick<AuditFilter, keyof Filters>, AuditKey> {
  return pageRequestOf(query, FILTERS, cursors.read)
}

/** The cursor of the page after this change. */
export function cursorAfter({ at, resource, shard, id, version }: AuditKey, filters: Filters): string {
  return cursors.write({ filters, after: { at, resource, shard, id, version } })
}
