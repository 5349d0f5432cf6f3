import { joinSql, type Sql, sql, sqlName } from './sql.ts'

/**
 * Settings for a transaction whose statements find a few rows by an index. Without these settings, a planner that cannot
 * estimate how few they are reads a whole shard and sorts it (measured: 2.3 s instead of 12 ms with 200,000
 * reservations).
 */
export const BY_KEYS = without(
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'enable_material',
  'jit',
)

/**
 * Settings for a transaction that reads the first of many rows in the order of an index. Without these settings, a
 * planner that underestimates their number reads and sorts all of them (measured: 74 ms instead of 2 ms for one page of
 * one day of a user with 500,000 reservations).
 */
export const IN_INDEX_ORDER = without('enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit')

/**
 * Settings for a transaction that reads lists: it walks an index in order, up to a bound, and looks rows up by their
 * keys. What it sorts after that is few. Without these settings, a planner that knows nothing of a table may read and
 * sort all of it, or walk an index in an order that no bound limits.
 */
export const LISTS = without(
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'enable_material',
  'enable_sort',
  'jit',
)

/** Settings for a transaction of both kinds of statements: the first rows of many keys, each in the order of an index. */
export const BY_KEYS_IN_ORDER = sql`${BY_KEYS}; ${IN_INDEX_ORDER}`

function without(...settings: string[]): Sql {
  return joinSql(
    settings.map(setting => sql`set local ${sqlName(setting)} = off`),
    sql`; `,
  )
}

/**
 * A `snapshot` only reads, and all its statements see the same state of the database. A `keyed snapshot` is planned by
 * keys, too, without a round trip for the settings.
 */
export type TransactionMode = 'write' | 'snapshot' | 'keyed snapshot'

const SNAPSHOT = sql`begin isolation level repeatable read read only`

/**
 * The statements that begin a transaction. The coordinator of a cluster passes on the whole text in which a setting stands, so there
 * `begin` must not be in it.
 */
export function beginStatements(mode: TransactionMode, isCluster: boolean): readonly Sql[] {
  if (mode === 'write') return [sql`begin isolation level read committed read write`]
  if (mode === 'snapshot') return [SNAPSHOT]
  return isCluster ? [SNAPSHOT, BY_KEYS_IN_ORDER] : [sql`${SNAPSHOT}; ${BY_KEYS_IN_ORDER}`]
}
