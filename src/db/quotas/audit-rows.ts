/** Rows of the audit: what was changed of a thing. Each kind of thing has a table, and their columns are the same but for the thing's key. */
import type { EpochMs } from '../../domain/time.ts'
import type { Transaction } from '../connection/database.ts'
import { joinSql, sql, sqlName } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'

export interface AuditRow<Action extends string> {
  /** Of the thing after the change. */
  version: number
  action: Action
  at: EpochMs
  actor: string
  request_id: string
  /** The thing as administrators read it; null before its creation. */
  before: object | null
  after: object
}

/** The columns that name the thing. */
interface Keys {
  breaker_change: { shard: number; breaker_id: number }
  increase_request_change: { shard: number; increase_request_id: number; user_id: number }
  pause_change: { shard: number; pause_id: number; user_id: number | null }
  profile_change: { shard: number; user_id: number }
  user_address_change: { shard: number; user_id: number }
}

/** Writes what was changed, in the transaction of the change: the thing is locked, which numbers its versions. */
export async function insertAuditRow<Table extends keyof Keys>(
  tx: Transaction,
  table: Table,
  key: Keys[Table],
  { version, action, at, actor, request_id, before, after }: AuditRow<string>,
): Promise<void> {
  const row = { ...key, version, action, at: timestampParam(at), actor, request_id, before, after }
  const [name, columns] = [sqlName(table), joinSql(Object.keys(row).map(sqlName))]
  await tx.query({
    text: sql`insert into ${name} (${columns}) select ${columns} from json_populate_record(null::${name}, $1::json)`,
    values: [JSON.stringify(row)],
  })
}
