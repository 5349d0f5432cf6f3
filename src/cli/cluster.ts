import { type ClusterOverview, readOverview } from '../db/cluster/overview.ts'
import { openDatabase } from '../db/connection/database.ts'
import type { Arguments } from './arguments.ts'
import { readConfig } from './environment.ts'
import { onDatabase, reportFailure } from './on-database.ts'
import { type Column, tableOf } from './remote/tables.ts'
import type { Terminal } from './terminal.ts'

/** Prints the nodes and shards of a cluster. Resolves to 0, or to 1 if a node cannot be used. */
export async function cluster(args: Arguments, terminal: Terminal): Promise<number> {
  const config = readConfig(args, terminal, { needsKey: false })
  return reportFailure('show the cluster', config, async () => {
    const overview = await onDatabase(config, read)
    if (overview === null) throw new Error('the tables are not distributed over a cluster ("sms-quota distribute")')
    await terminal.print(args.has('json') ? `${JSON.stringify(overview)}\n` : textOf(overview, terminal))
    return overview.nodes.every(({ state }) => state?.isPrepared === true) ? 0 : 1
  })
}

async function read(url: string): Promise<ClusterOverview | null> {
  const db = openDatabase({ url, maxConnections: 1, statementTimeout: 60_000 })
  try {
    return await readOverview(db)
  } finally {
    await db.close()
  }
}

type Node = ClusterOverview['nodes'][number]

const NODES: readonly Column<Node>[] = [
  { title: 'node', value: ({ name }) => name },
  { title: 'role', value: ({ isCoordinator }) => (isCoordinator ? 'coordinator' : 'worker') },
  { title: 'state', value: stateOf },
  { title: 'postgres', value: ({ state }) => state?.postgres ?? null },
  { title: 'citus', value: ({ state }) => state?.citus ?? null },
  { title: 'connections', value: ({ state }) => state && `${state.connections} of ${state.maxConnections}` },
  { title: 'shards', value: ({ shards }) => shards },
  { title: 'size', value: ({ bytes, shards }) => (shards === 0 ? null : megabytes(bytes)) },
]

const SHARDS: readonly Column<ClusterOverview['shards'][number]>[] = [
  { title: 'shard', value: ({ shard }) => shard },
  { title: 'node', value: ({ node }) => node },
  { title: 'size', value: ({ bytes }) => megabytes(bytes) },
  { title: 'buckets', value: ({ buckets }) => buckets.join(' ') },
]

function stateOf({ state, failure, isActive }: Node): string {
  if (!isActive) return 'disabled'
  if (state === null) return `unreachable: ${failure}`
  return state.isPrepared ? 'ok' : 'lacks its settings; run "sms-quota distribute --yes"'
}

function textOf({ nodes, shards, skew }: ClusterOverview, terminal: Terminal): string {
  const ratios = `Largest to smallest by size: shards ${ratio(skew.shards)}, nodes ${ratio(skew.nodes)}.`
  return `${tableOf(nodes, NODES, terminal)}\n${tableOf(shards, SHARDS, terminal)}\n${ratios}\n`
}

const megabytes = (bytes: number | null) => (bytes === null ? 'unknown' : `${(bytes / 1e6).toFixed(1)} MB`)

const ratio = (skew: number | null) => (skew === null ? 'unknown' : skew.toFixed(1))
