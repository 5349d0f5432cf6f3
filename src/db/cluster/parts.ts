import type { Shard } from '../../domain/basics/shard.ts'
import type { Transaction } from '../connection/database.ts'
import { type Sql, sql } from '../connection/sql.ts'

/**
 * Runs a statement over rows of several shards: once on one PostgreSQL, once for each Citus shard on a cluster. There, a statement
 * that locks rows, or that joins a bounded number of rows to each key, reaches one Citus shard only, and must say which:
 * `shard = any($1)`.
 *
 * @param rows in the order in which they are locked within a part; parts have an order of their own
 */
export async function runPerCitusShard<Row, Result>(
  tx: Transaction,
  rows: readonly Row[],
  shardOf: (row: Row) => Shard,
  statement: (part: readonly Row[]) => Promise<Result[]>,
): Promise<Result[]> {
  if (!tx.isCluster) return statement(rows)
  const placeOf = await citusShards(tx, [...new Set(rows.map(shardOf))])
  const parts = [...Map.groupBy(rows, row => placeOf.get(shardOf(row)) ?? 0)].sort(([one], [other]) => one - other)
  const results: Result[] = []
  for (const [, part] of parts) results.push(...(await statement(part)))
  return results
}

/** The numbers of the Citus shards that hold the service's shards, from the catalog, which every node has in memory. */
async function citusShards(tx: Transaction, shards: readonly Shard[]): Promise<ReadonlyMap<Shard, number>> {
  const rows = await tx.query<{ shard: Shard; place: number }>({
    name: 'citus-shards',
    text: sql`select shard, get_shard_id_for_distribution_column('account'::regclass, shard) as place
           from unnest($1::smallint[]) shard`,
    values: [shards],
  })
  return new Map(rows.map(({ shard, place }) => [shard, place]))
}

/**
 * SQL: that a row is in one of the shards of an array, for a cluster, which then asks no other shards. One PostgreSQL would
 * sort the array for each row that it looks up (measured: an import of 500 rows took twice to five times as long).
 */
export function shardFilter(tx: Transaction, column: Sql, shards: Sql): Sql {
  return tx.isCluster ? sql`and ${column} = any(${shards}::smallint[])` : sql``
}
