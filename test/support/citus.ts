/** Databases on the nodes of a Citus cluster, that of TEST_CLUSTER_URL: the coordinator's, which knows the workers. */
import { prepareNodes } from '../../src/db/cluster/nodes.ts'
import { findTopology } from '../../src/db/cluster/topology.ts'
import { type Database, openDatabase, type Queryable } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { distribute } from '../../src/db/schema/distribute.ts'
import { withDatabase } from './database-url.ts'
import { rawSql } from './sql.ts'

const SHARDS = 8

/** The URLs of the database on each node, the coordinator's first. */
export async function nodesOf(url: string): Promise<[string, ...string[]]> {
  const nodes = await on(url, `select nodename as host, nodeport as port from pg_dist_node where groupid > 0`)
  const others = nodes.map(({ host, port }) => {
    const node = new URL(url)
    node.host = `${host}:${port}`
    return node.href
  })
  return [url, ...others]
}

/** Creates a database on every node, and makes them a cluster. Returns the URL of the coordinator's. */
export async function createOnNodes(nodes: readonly [string, ...string[]], name: string): Promise<string> {
  await Promise.all(
    nodes.map(async node => {
      await on(node, `create database ${name}`)
      await on(withDatabase(node, name), 'create extension citus')
    }),
  )
  const [coordinator, ...workers] = nodes.map(node => new URL(withDatabase(node, name)))
  if (coordinator === undefined) throw new Error('there is no coordinator')
  await on(coordinator.href, `select citus_set_coordinator_host('${coordinator.hostname}', ${coordinator.port})`)
  for (const { hostname, port } of workers) await on(coordinator.href, `select citus_add_node('${hostname}', ${port})`)
  return coordinator.href
}

/** Creates a database on every node, migrates and distributes it. Databases can be copied from it afterwards. */
export async function createTemplate(nodes: readonly [string, ...string[]], name: string): Promise<void> {
  const url = await createOnNodes(nodes, name)
  const made = await distribute({
    url,
    shards: SHARDS,
    isConfirmed: true,
  })
  if (made.outcome !== 'done') throw new Error(`the cluster of the tests is not fit: ${JSON.stringify(made)}`)
  // A database with a connection cannot be copied, and Citus keeps one of its own open.
  for (const node of nodes) {
    await on(node, `alter database ${name} with allow_connections false`)
    await on(node, `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`)
  }
}

/** Copies a template on every node. Its settings are those of the database, not of what is in it. */
export async function createCopy(nodes: readonly string[], name: string, template: string): Promise<void> {
  await Promise.all(nodes.map(node => on(node, `create database ${name} template ${template}`)))
  const db = openDatabase({ url: withDatabase(nodes[0] ?? '', name), maxConnections: 1, statementTimeout: 60_000 })
  await prepareNodes(db).finally(() => db.close())
}

export async function dropOn(nodes: readonly string[], name: string): Promise<void> {
  await Promise.all(nodes.map(node => on(node, `drop database if exists ${name} with (force)`)))
}

/** Lays a new table beside the others: on a cluster, foreign keys hold among the rows of a shard only. */
export async function distributeBeside(db: Database, table: string): Promise<void> {
  const { isDistributed } = await findTopology(db)
  if (!isDistributed) return
  await db.query({
    text: sql`select create_distributed_table($1::text::regclass, 'shard', colocate_with => 'account')`,
    values: [table],
  })
}

/** The rows of a query on every node of a cluster, with the node's number; of one PostgreSQL, those of the query. */
export async function onEveryNode<Row extends object>(
  db: Queryable,
  text: string,
): Promise<{ node: number; row: Row }[]> {
  const { isDistributed } = await findTopology(db)
  if (!isDistributed) return (await db.query<Row>({ text: rawSql`${text}` })).map(row => ({ node: 0, row }))
  const nodes = await db.query<{ node: number; rows: string }>({
    text: sql`select nodeid as node, result as rows from run_command_on_all_nodes($1)`,
    values: [`select coalesce(json_agg(t), '[]') from (${text}) t`],
  })
  return nodes.flatMap(({ node, rows }) => JSON.parse(rows).map((row: Row) => ({ node, row })))
}

async function on(url: string, text: string): Promise<{ host: string; port: number }[]> {
  const db = openDatabase({ url, maxConnections: 1, connectTimeout: 60_000, statementTimeout: 60_000, lockTimeout: 0 })
  try {
    return await db.query({ text: rawSql`${text}` })
  } finally {
    await db.close()
  }
}
