/**
 * The servers that the engine's connections lead to: one PostgreSQL, or to the node of a cluster that holds a lane's
 * tables.
 */
import { nodeUrl } from '../config/database-url.ts'
import type { Cluster, ShardPlacement } from '../db/cluster/topology.ts'
import { createHosts } from '../db/connection/hosts.ts'
import {
  connectPipelined,
  type PipelinedConnection,
  type PipelinedConnectionOptions,
} from '../db/connection/pipelined-connection.ts'
import { CLUSTER_STATEMENTS, onTables, placementChecks } from '../db/ledger/cluster-statements.ts'

type Options = Omit<PipelinedConnectionOptions, 'url' | 'mustWrite' | 'onBegin'>

/** Opens a connection. */
export type Connect = (options: Options) => Promise<PipelinedConnection>

/** Connects to the database of a URL, which may name several hosts. */
export function connectTo(url: string): Connect {
  const hosts = createHosts(url)
  return options => hosts.connect(host => connectPipelined({ ...options, url: host, mustWrite: hosts.areSeveral }))
}

/**
 * Connects to the node that holds a lane's tables. Every new connection asks the coordinator for it, because shards move
 * and standbys take over; while the coordinator does not answer, the node known last is tried.
 */
export function connectToLane(url: string, lane: ShardPlacement, { findPlacements }: Cluster): Connect {
  let known = lane
  return async options => {
    const lanes = await findPlacements().catch(() => [])
    known = lanes.find(({ buckets }) => buckets[0] === lane.buckets[0]) ?? known
    const { tables, shardId } = known
    const texts = { ...options.statements, ...CLUSTER_STATEMENTS }
    const statements = Object.entries(texts).map(([name, text]) => [name, onTables(text, tables)] as const)
    return connectPipelined({
      ...options,
      url: nodeUrl(url, known),
      settings: { ...options.settings, 'citus.enable_manual_changes_to_shards': 'on' },
      statements: Object.fromEntries(statements),
      onBegin: shardId === null ? [] : placementChecks(shardId),
    })
  }
}
