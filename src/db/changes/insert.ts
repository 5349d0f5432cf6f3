import type { ActionOn } from '../../domain/events/audit.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Transaction } from '../connection/database.ts'
import { joinSql, sql, sqlName } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { CHANGE_LOGS, type FurtherColumns, type LoggedResource } from './logs.ts'

/** A change of a thing, as administrators read the thing before and after. */
interface Change {
  /** Of the thing. */
  id: number
  /** Numbers the changes of the thing: its version after the change, or `nextVersion`. */
  version: number
  /** Null before its creation. */
  before: object | null
  /** Null after its deletion. */
  after: object | null
}

export type NewChange<Resource extends LoggedResource> = Change & {
  action: ActionOn<Resource>
} & FurtherColumns<Resource>

/** The subject that makes a change, when, and the request that asks for it; null: the service makes it by itself. */
export interface ChangeAuthor {
  now: EpochMs
  actor: string
  requestId: string | null
}

/** Writes changes to their log, in the transaction that makes them: the things are locked, which numbers their versions. */
export async function insertChanges<Resource extends LoggedResource>(
  tx: Transaction,
  resource: Resource,
  changes: readonly NewChange<Resource>[],
  { now, actor, requestId }: ChangeAuthor,
): Promise<void> {
  const log = CHANGE_LOGS[resource]
  const author = { at: timestampParam(now), actor, request_id: requestId }
  const rows = changes.map(({ id, ...change }) => ({ shard: log.shardOf(id), [log.id]: id, ...change, ...author }))
  const [table, columns] = [sqlName(log.table), joinSql(Object.keys(rows[0] ?? author).map(sqlName))]
  await tx.query({
    text: sql`insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1::json)`,
    values: [JSON.stringify(rows)],
  })
}

/** The number of the next change of a thing whose own version does not count them. The thing is locked, or new. */
export async function nextVersion(tx: Transaction, resource: LoggedResource, id: number): Promise<number> {
  const log = CHANGE_LOGS[resource]
  const [row] = await tx.query<{ next: number }>({
    text: sql`select coalesce(max(version), 0) + 1 as next from ${sqlName(log.table)} where shard = $1 and ${sqlName(log.id)} = $2`,
    values: [log.shardOf(id), id],
  })
  return row?.next ?? 1
}
