import type { Shard } from '../domain/shard.ts'
import type { Transaction } from './database.ts'

/**
 * Runs a statement over rows of several shards: once on one PostgreSQL, once for each shard on a cluster. There, a statement
 * that locks rows, or that joins a bounded number of rows to each key, reaches one shard only, and must say which:
 * `shard = any($1)`.
 *
 * @param rows in the order in which they are locked within a shard; shards are locked in ascending order
 */
export async function inParts<Row, Result>(
  tx: Transaction,
  rows: readonly Row[],
  shardOf: (row: Row) => Shard,
  statement: (part: readonly Row[]) => Promise<Result[]>,
): Promise<Result[]> {
  if (!tx.isCluster) return statement(rows)
  const results: Result[] = []
  const parts = [...Map.groupBy(rows, shardOf)].sort(([one], [other]) => one - other)
  for (const [, part] of parts) results.push(...(await statement(part)))
  return results
}

/**
 * SQL: that a row is in one of the shards of an array, for a cluster, which then asks no other shards. One PostgreSQL would
 * sort the array for each row that it looks up (measured: an import of 500 rows took twice to five times as long).
 */
export function inShards(tx: Transaction, column: string, shards: string): string {
  return tx.isCluster ? `and ${column} = any(${shards}::smallint[])` : ''
}
