/**
 * The engine's statements on a Citus cluster. On the tables of one shard: on the node that holds them these are ordinary
 * tables, so a batch costs there what it costs on one PostgreSQL, and neither the coordinator nor Citus plans its statements.
 * And through the coordinator, for an administrator's change or a job.
 */
import type { ShardPlacement } from '../cluster/topology.ts'
import type { Transaction } from '../connection/database.ts'
import { type Sql, sql, sqlInteger, trustedSql } from '../connection/sql.ts'
import { addUsageOfShards } from './add-usage.ts'
import type { LedgerCall } from './statement.ts'

/** The name of a table: in the engine's statements, each stands behind one of these words. */
const TABLE = /\b(from|join|into|update)(\s+)([a-z_]+)\b/g

/** The text with the names of the shard's own tables, which Citus gives as SQL. */
export function onTables(text: Sql, tables: ShardPlacement['tables']): Sql {
  const replaced = text.replace(TABLE, (found, word, space, name) => {
    const table = tables[name]
    return table === undefined ? found : `${word}${space}${table}`
  })
  return trustedSql(replaced)
}

/**
 * The first statements of every transaction on a shard's tables. The lock is the one that Citus' own statements take: a
 * move of the shard waits for it before it ends writes at the old place, and then others wait for the move. The holder of
 * the lock knows where the shard is until the transaction ends. The second statement fails if it is no longer here, as if
 * a table were missing; it is one of its own, because it has to see what the first has waited for.
 */
export function placementChecks(shardId: number): readonly Sql[] {
  return [
    sql`select lock_shard_metadata(${sqlInteger(SHARE_LOCK)}, array[${sqlInteger(shardId)}])`,
    sql`select (case when exists (
        select from pg_dist_placement where shardid = ${sqlInteger(shardId)} and groupid = (select groupid from pg_dist_local_group)
      ) then 'pg_class' else 'shard_that_has_moved' end)::regclass`,
  ]
}

/** The number of this mode in PostgreSQL. */
const SHARE_LOCK = 5

/** Statements that write other rows there than on one PostgreSQL, by their names. */
export const CLUSTER_STATEMENTS: Readonly<Record<string, Sql>> = { [addUsageOfShards.name]: addUsageOfShards.text }

/** Runs statements of the ledger in a transaction of an administrator's change or of a job. */
export async function runLedgerCalls(tx: Transaction, calls: readonly LedgerCall[]): Promise<void> {
  for (const { text, values } of calls) await tx.query({ text, values })
}
