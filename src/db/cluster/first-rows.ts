import type { Shard } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, SqlValue, Transaction } from '../connection/database.ts'
import { type Sql, sql } from '../connection/sql.ts'

/** Rows that work waits for: of each shard, the first one by an index. */
export interface Probe {
  name: string
  /** A table and its alias. */
  from: Sql
  /** The time by which the rows lie in the index, behind their shard. */
  by: Sql
  /** Which rows of the shard `h.shard` (of `shard_head h`). */
  where: Sql
  values: readonly SqlValue[]
}

/** A shard that has such a row. */
export interface FirstRow {
  shard: Shard
  first: EpochMs
}

/**
 * Asks all shards in one statement, without a lock, whether there is something to do: a walk over 64 shards which finds nothing would be
 * most of what an idle service costs. A cluster refuses a limit there. On one PostgreSQL, the planner may answer the aggregate by another
 * index. The transaction is planned by keys.
 */
export async function firstRows(tx: Transaction, { name, from, by, where, values }: Probe): Promise<FirstRow[]> {
  const rows = await tx.query<{ shard: Shard; first: EpochMs | null }>({
    name: tx.isCluster ? `${name}-in-cluster` : name,
    text: tx.isCluster
      ? sql`select h.shard, (select min(${by}) from ${from} where ${where}) as first from shard_head h`
      : sql`select h.shard, f.first from shard_head h cross join lateral (
              select ${by} as first from ${from} where ${where} order by ${by} limit 1
            ) f`,
    values,
  })
  return rows.flatMap(({ shard, first }) => (first === null ? [] : { shard, first }))
}

export const findFirstRows = (db: Database, probe: Probe): Promise<FirstRow[]> =>
  db.transaction(tx => firstRows(tx, probe), 'keyed snapshot')

/** The shards that have such rows. */
export const findShardsWith = async (db: Database, probe: Probe): Promise<Shard[]> =>
  (await findFirstRows(db, probe)).map(({ shard }) => shard)
