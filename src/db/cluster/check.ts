import { nodeUrl } from '../../config/database-url.ts'
import { isUnavailable, openDatabase, type Queryable } from '../connection/database.ts'
import { clusterFaults, readNodes } from './nodes.ts'
import { findPlacements, type ShardPlacement } from './topology.ts'

/** The engine has at least this many connections for each lane. */
const CONNECTIONS_PER_LANE = 2

/**
 * The faults of a cluster on which the tables are distributed, and the findings; null if they are not distributed.
 *
 * @param connections the maximum number of connections of a process to one PostgreSQL
 */
export async function checkCluster(
  db: Queryable,
  { url, connections }: { url: string; connections: number },
): Promise<{ faults: readonly string[]; found: string } | null> {
  const lanes = (await findPlacements(db)).filter(({ shardId }) => shardId !== null)
  if (lanes.length === 0) return null
  const faults = (await clusterFaults(db)).map(({ where, fault, fix }) => `${where}: ${fault}; ${fix}`)
  const holding = [...new Map(lanes.map(lane => [lane.node, lane])).values()]
  for (const { name, state } of await readNodes(db)) {
    const most = connections + CONNECTIONS_PER_LANE * lanes.filter(({ node }) => node === name).length
    if (state === null) continue
    if (!state.isPrepared) faults.push(`${name}: it lacks settings for this database; run "sms-quota distribute --yes"`)
    if (state.maxConnections < most) {
      faults.push(`${name}: a process uses up to ${most} connections, and it allows ${state.maxConnections}`)
    }
  }
  for (const lane of holding) faults.push(...(await reachFaults(url, lane)))
  return { faults, found: `Citus, ${lanes.length} shards with buckets on ${holding.length} nodes` }
}

/** The engine connects to the nodes themselves, as the same role. */
async function reachFaults(url: string, lane: ShardPlacement): Promise<string[]> {
  const node = openDatabase({ url: nodeUrl(url, lane), maxConnections: 1 })
  try {
    await node.ping()
    return []
  } catch (error) {
    if (!isUnavailable(error) || !(error instanceof Error)) throw error
    return [`${lane.node}: the service cannot connect to it: ${error.message}`]
  } finally {
    await node.close()
  }
}
