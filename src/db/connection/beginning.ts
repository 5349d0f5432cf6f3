import { BY_KEYS_IN_ORDER } from './planner-settings.ts'
import { type Sql, sql } from './sql.ts'

/**
 * A `snapshot` only reads, and all its statements see the same state of the database. A `keyed snapshot` is planned by
 * keys, too, without a round trip for the settings.
 */
export type TransactionMode = 'write' | 'snapshot' | 'keyed snapshot'

const SNAPSHOT = sql`begin isolation level repeatable read read only`

/**
 * What begins a transaction. The coordinator of a cluster passes on the whole text in which a setting stands, so there
 * `begin` must not be in it.
 */
export function beginningOf(mode: TransactionMode, isCluster: boolean): readonly Sql[] {
  if (mode === 'write') return [sql`begin isolation level read committed read write`]
  if (mode === 'snapshot') return [SNAPSHOT]
  return isCluster ? [SNAPSHOT, BY_KEYS_IN_ORDER] : [sql`${SNAPSHOT}; ${BY_KEYS_IN_ORDER}`]
}
