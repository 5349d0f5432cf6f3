/** The store of the tables, one PostgreSQL or a Citus cluster, and the buckets that lie together there. */
import { SHARDS, type Shard, shardFrom } from '../../domain/basics/shard.ts'
import type { Queryable } from '../connection/database.ts'
import { sql, sqlInteger } from '../connection/sql.ts'

/** The buckets that one statement can reach: of a distributed table, those of one Citus shard; otherwise all of them. */
export interface ShardPlacement {
  /** The node that holds the buckets, as `host:port`; empty on one PostgreSQL. Lanes of one node fail together. */
  readonly node: string
  readonly host: string
  readonly port: number
  /** In ascending order. */
  readonly buckets: readonly Shard[]
  /** The tables that hold these buckets on their node, by the names of the distributed ones; none on one PostgreSQL. */
  readonly tables: Readonly<Record<string, string>>
  /** The number of the Citus shard of `account`, which stands for those of all tables; null on one PostgreSQL. */
  readonly shardId: number | null
}

/** The lanes of a cluster, and how to find them again: a shard may move, and a standby may take over from its node. */
export interface Cluster {
  readonly lanes: readonly ShardPlacement[]
  findPlacements(): Promise<readonly ShardPlacement[]>
}

export interface Topology {
  /** The version of the extension `citus` in this database; null on one PostgreSQL. */
  readonly citus: string | null
  /** Whether the table `account`, with which all others are colocated, is distributed. */
  readonly isDistributed: boolean
}

export async function findTopology(db: Queryable): Promise<Topology> {
  const [found] = await db.query<{ citus: string }>({
    text: sql`select extversion as citus from pg_extension where extname = 'citus'`,
  })
  if (found === undefined) return { citus: null, isDistributed: false }
  const distributed = await db.query({
    text: sql`select from pg_dist_partition where logicalrelid = to_regclass('account') and partmethod = 'h'`,
  })
  return { citus: found.citus, isDistributed: distributed.length > 0 }
}

/** @throws Error at a worker of a cluster: its sequences begin at 2^48, and some tables are on the coordinator alone */
export async function assertNoWorker(db: Queryable): Promise<void> {
  const { citus } = await findTopology(db)
  if (citus === null) return
  const [group] = await db.query<{ isWorker: boolean }>({
    text: sql`select groupid > 0 as "isWorker" from pg_dist_local_group`,
  })
  if (group?.isWorker === true) throw new Error('DATABASE_URL names a worker of a cluster; name the coordinator')
}

/**
 * One lane for each Citus shard of `account` that holds buckets, in the order of their first buckets; one lane with all
 * buckets where the tables are not distributed. A move of a shard to another node changes the lane's node.
 */
export async function findPlacements(db: Queryable): Promise<ShardPlacement[]> {
  const { isDistributed } = await findTopology(db)
  if (!isDistributed) return [{ node: '', host: '', port: 0, buckets: SHARDS, tables: {}, shardId: null }]
  const rows = await db.query<Omit<ShardPlacement, 'node' | 'buckets'> & { buckets: readonly number[] }>({
    // Without planning over shards: catalogs and functions of the shards' bounds, so it answers with any node down. The
    // tables are those distributed with `account`, and reference tables, of which every node has a copy.
    text: sql`with bucket as (
        select number, get_shard_id_for_distribution_column('account'::regclass, number) as shardid
        from generate_series(0, ${sqlInteger(SHARDS.length - 1)}) number
      ), lane as (
        select shardid, array_agg(number order by number) as buckets from bucket group by shardid
      )
      select n.nodename as host, n.nodeport as port, l.buckets, l.shardid as "shardId",
        (
          select json_object_agg(t.logicalrelid::text,
            shard_name(t.logicalrelid, get_shard_id_for_distribution_column(t.logicalrelid, l.buckets[1])))
          from pg_dist_partition t
          where t.colocationid = (select colocationid from pg_dist_partition where logicalrelid = 'account'::regclass)
            or t.partmethod = 'n' and t.repmodel = 't'
        ) as tables
      from lane l join pg_dist_placement p on p.shardid = l.shardid
        join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
      order by l.buckets[1]`,
  })
  return rows.map(row => ({ ...row, node: `${row.host}:${row.port}`, buckets: row.buckets.map(shardFrom) }))
}

/** The lanes of a cluster; undefined on one PostgreSQL. */
export async function findCluster(db: Queryable): Promise<Cluster | undefined> {
  const lanes = await findPlacements(db)
  return lanes.some(lane => lane.shardId !== null) ? { lanes, findPlacements: () => findPlacements(db) } : undefined
}
