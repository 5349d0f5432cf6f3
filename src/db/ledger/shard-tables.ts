/**
 * The engine's statements on the tables of one Citus shard. On the node that holds them these are ordinary tables, so a
 * batch costs there what it costs on one PostgreSQL: neither the coordinator nor Citus plans its statements.
 */
import type { Lane } from '../store.ts'

/** Where a statement names a table: every table of the engine's statements stands behind one of these words. */
const TABLE = /\b(from|join|into|update)(\s+)([a-z_]+)\b/g

/** The text with the names of the shard's own tables. */
export function onTables(text: string, tables: Lane['tables']): string {
  return text.replace(TABLE, (found, word, space, name) => {
    const table = tables[name]
    return table === undefined ? found : `${word}${space}${table}`
  })
}

/**
 * What every transaction on a shard's tables begins with. The lock is the one that Citus' own statements take: a move of the
 * shard waits for it before it ends writes at the old place, and then others wait for the move. Whoever has the lock knows
 * where the shard is until the transaction ends. The second statement fails if it is no longer here, as if a table were missing;
 * it is one of its own, because it has to see what the first has waited for.
 */
export function placementChecks(shardId: number): readonly string[] {
  return [
    `select lock_shard_metadata(${SHARE_LOCK}, array[${shardId}])`,
    `select (case when exists (
        select from pg_dist_placement where shardid = ${shardId} and groupid = (select groupid from pg_dist_local_group)
      ) then 'pg_class' else 'shard_that_has_moved' end)::regclass`,
  ]
}

/** The number of this mode in PostgreSQL. */
const SHARE_LOCK = 5
