/** Which store the tables lie in, one PostgreSQL or a Citus cluster, and which buckets lie together there. */
import { SHARDS, type Shard, shardFrom } from '../domain/shard.ts'
import type { Queryable } from './database.ts'

/** The buckets that one statement can reach: of a distributed table, those of one Citus shard; otherwise all of them. */
export interface Lane {
  /** Which node holds the buckets, as `host:port`; empty on one PostgreSQL. Lanes of one node fail together. */
  readonly node: string
  readonly host: string
  readonly port: number
  /** In ascending order. */
  readonly buckets: readonly Shard[]
}

export interface Store {
  /** The version of the extension `citus` in this database; null on one PostgreSQL. */
  readonly citus: string | null
  /** Whether the table `account`, with which all others are colocated, is distributed. */
  readonly isDistributed: boolean
}

export async function findStore(db: Queryable): Promise<Store> {
  const [found] = await db.query<{ citus: string }>({
    text: `select extversion as citus from pg_extension where extname = 'citus'`,
  })
  if (found === undefined) return { citus: null, isDistributed: false }
  const distributed = await db.query({
    text: `select from pg_dist_partition where logicalrelid = to_regclass('account') and partmethod = 'h'`,
  })
  return { citus: found.citus, isDistributed: distributed.length > 0 }
}

/**
 * One lane for each Citus shard of `account` that holds buckets, in the order of their first buckets; one lane with all
 * buckets where the tables are not distributed. A move of a shard to another node changes the lane's node.
 */
export async function findLanes(db: Queryable): Promise<Lane[]> {
  const { isDistributed } = await findStore(db)
  if (!isDistributed) return [{ node: '', host: '', port: 0, buckets: SHARDS }]
  const rows = await db.query<{ host: string; port: number; buckets: readonly number[] }>({
    // Without planning over shards: catalogs and a function of the shard's bounds, so it answers with any node down.
    text: `with bucket as (
        select number, get_shard_id_for_distribution_column('account'::regclass, number) as shardid
        from generate_series(0, ${SHARDS.length - 1}) number
      )
      select n.nodename as host, n.nodeport as port, array_agg(b.number order by b.number) as buckets
      from bucket b join pg_dist_placement p on p.shardid = b.shardid
        join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
      group by b.shardid, n.nodename, n.nodeport order by min(b.number)`,
  })
  return rows.map(({ host, port, buckets }) => ({
    node: `${host}:${port}`,
    host,
    port,
    buckets: buckets.map(shardFrom),
  }))
}
