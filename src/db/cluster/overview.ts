/** The nodes and shards of a cluster, and how evenly the data lies on them. */
import type { Queryable } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { type ClusterNode, readNodes } from './nodes.ts'
import { findPlacements } from './topology.ts'

interface ClusterShard {
  /** The number of the Citus shard of `account`; those of the other tables lie beside it, and move with it. */
  readonly shard: number
  readonly node: string
  /** The buckets of users in it, of 64. */
  readonly buckets: readonly number[]
  /** The size of all tables with their indexes; null: the node cannot be reached. */
  readonly bytes: number | null
}

export interface ClusterOverview {
  readonly nodes: readonly (ClusterNode & { readonly shards: number; readonly bytes: number | null })[]
  readonly shards: readonly ClusterShard[]
  /** The bytes of the largest divided by those of the smallest; null: not all are known. */
  readonly skew: { readonly shards: number | null; readonly nodes: number | null }
}

/** Null: the tables are not distributed. */
export async function readOverview(db: Queryable): Promise<ClusterOverview | null> {
  const lanes = await findPlacements(db)
  const sizes = await readSizes(
    db,
    lanes.some(({ shardId }) => shardId !== null),
  )
  const shards = lanes.flatMap(({ shardId, node, buckets }) =>
    shardId === null ? [] : [{ shard: shardId, node, buckets, bytes: sizes.get(shardId) ?? null }],
  )
  if (shards.length === 0) return null
  const nodes = (await readNodes(db)).map(node => {
    const own = shards.filter(shard => shard.node === node.name)
    return { ...node, shards: own.length, bytes: sumOf(own.map(({ bytes }) => bytes)) }
  })
  const holding = nodes.filter(node => node.shards > 0)
  return {
    nodes,
    shards,
    skew: { shards: skewOf(shards.map(({ bytes }) => bytes)), nodes: skewOf(holding.map(({ bytes }) => bytes)) },
  }
}

/** Bytes by the number of the shard of `account`. Citus leaves out those of nodes that cannot be reached. */
async function readSizes(db: Queryable, isDistributed: boolean): Promise<Map<number, number>> {
  if (!isDistributed) return new Map()
  const rows = await db.query<{ shard: number; bytes: number }>({
    text: sql`select a.shardid as shard, sum(z.size)::bigint as bytes
      from pg_dist_shard a
        join pg_dist_partition t on t.colocationid =
          (select colocationid from pg_dist_partition where logicalrelid = to_regclass('account'))
        join pg_dist_shard s on s.logicalrelid = t.logicalrelid and s.shardminvalue = a.shardminvalue
        join citus_shard_sizes() z on z.shard_id = s.shardid
      where a.logicalrelid = to_regclass('account')
      group by a.shardid`,
  })
  return new Map(rows.map(({ shard, bytes }) => [shard, bytes]))
}

const sumOf = (sizes: readonly (number | null)[]): number | null =>
  sizes.reduce<number | null>((sum, bytes) => (sum === null || bytes === null ? null : sum + bytes), 0)

function skewOf(sizes: readonly (number | null)[]): number | null {
  const known = sizes.filter((bytes): bytes is number => bytes !== null && bytes > 0)
  if (known.length < sizes.length || known.length === 0) return null
  return Math.max(...known) / Math.min(...known)
}
