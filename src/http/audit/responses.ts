import Type from 'typebox'
import { type AuditEntry, AuditQuery } from '../../contract/audit.ts'
import { closed } from '../../contract/schemas.ts'
import { type AuditedChange, listChanges } from '../../db/changes/audit.ts'
import { SHARD_COUNT } from '../../domain/basics/shard.ts'
import { AUDITED_RESOURCES } from '../../domain/events/audit.ts'
import { formatTimestamp } from '../../domain/time/time.ts'
import { cursorInteger, cursorTime } from '../platform/cursors.ts'
import { listOf } from '../resource/list.ts'

/** All changes by administrators. */
export const changes = listOf({
  query: AuditQuery,
  key: Type.Object(
    {
      at: cursorTime,
      resource: Type.Enum([...AUDITED_RESOURCES]),
      shard: Type.Integer({ minimum: 0, maximum: SHARD_COUNT - 1 }),
      id: cursorInteger,
      version: cursorInteger,
    },
    closed,
  ),
  read: listChanges<AuditedChange>,
  view: entryOf,
})

function entryOf(change: AuditedChange): AuditEntry {
  const { resource, id, user_id, version } = change
  return {
    resource,
    thing_id: id,
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
