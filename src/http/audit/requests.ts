import Type, { type Static } from 'typebox'
import type { AuditQuery } from '../../contract/audit.ts'
import type { AuditFilter, AuditKey } from '../../db/users/audit.ts'
import { AUDITED_ACTIONS, AUDITED_RESOURCES } from '../../domain/audit.ts'
import { MAX_INTEGER } from '../../domain/bounds.ts'
import { SHARD_COUNT } from '../../domain/shard.ts'
import { LATEST } from '../../domain/time.ts'
import { invalidRequest } from '../../errors.ts'
import { cursorsOf, issuesWithCursor } from '../platform/cursors.ts'
import { timestampOf } from '../platform/formats.ts'

const epochMs = Type.Integer({ minimum: 0, maximum: LATEST })
const id = Type.Integer({ minimum: 0, maximum: MAX_INTEGER })
const closed = { additionalProperties: false }

const Filters = Type.Object(
  {
    resource: Type.Optional(Type.Enum([...AUDITED_RESOURCES])),
    action: Type.Optional(Type.Enum([...AUDITED_ACTIONS])),
    actor: Type.Optional(Type.String({ maxLength: 255, format: 'text' })),
    request_id: Type.Optional(Type.String({ maxLength: 128, format: 'text' })),
    user_id: Type.Optional(id),
    quota_id: Type.Optional(id),
    webhook_id: Type.Optional(id),
    from: Type.Optional(epochMs),
    to: Type.Optional(epochMs),
  },
  closed,
)
type Filters = Static<typeof Filters>

const FILTERS = [
  'resource',
  'action',
  'actor',
  'request_id',
  'user_id',
  'quota_id',
  'webhook_id',
  'from',
  'to',
] as const satisfies (keyof Filters)[]

/** The filters of a list, and the last change of a page. */
const cursors = cursorsOf(
  Type.Object(
    {
      filters: Filters,
      after: Type.Object(
        {
          at: epochMs,
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
export function pageRequestOf(query: AuditQuery): { filters: Filters; after: AuditKey | undefined } {
  const { from, to, page_size: _size, cursor, ...others } = query
  const asked: Filters = {
    ...others,
    ...(from === undefined ? {} : { from: timestampOf(from) }),
    ...(to === undefined ? {} : { to: timestampOf(to) }),
  }
  if (cursor === undefined) return { filters: asked, after: undefined }
  const { filters, after } = cursors.read(cursor)
  const issues = issuesWithCursor(FILTERS, asked, filters)
  if (issues.length > 0) throw invalidRequest(issues)
  return { filters, after }
}

/** The cursor of the page after this change. */
export function cursorAfter({ at, resource, shard, id, version }: AuditKey, filters: Filters): string {
  return cursors.write({ filters, after: { at, resource, shard, id, version } })
}

/** What a list selects. */
export function filterOf({ request_id, user_id, quota_id, webhook_id, ...filters }: Filters): AuditFilter {
  return {
    ...filters,
    ...(request_id === undefined ? {} : { requestId: request_id }),
    ...(user_id === undefined ? {} : { userId: user_id }),
    ...(quota_id === undefined ? {} : { quotaId: quota_id }),
    ...(webhook_id === undefined ? {} : { webhookId: webhook_id }),
  }
}
