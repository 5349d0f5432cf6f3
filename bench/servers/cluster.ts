/** A Citus cluster for a benchmark: one that runs already, whose nodes are processes of this machine. */
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { distribute } from '../../src/db/schema/distribute.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { rawSql } from '../../test/support/sql.ts'
import type { Made, Postgres } from './postgres.ts'
import { type Cleanup, cpuSeconds, proportionalBytes } from './processes.ts'

/** CPU time and write-ahead log are those of all nodes together. Its own databases are plain ones of the coordinator. */
export interface BenchCluster extends Postgres {
  readonly workers: number
  /** A database whose tables are distributed over this many Citus shards. */
  makeDistributed(name: string, shards: number): Promise<Made>
}

const NO_TIMEOUTS = { statementTimeout: 0, lockTimeout: 0, idleTransactionTimeout: 0 } as const

/** @param url the coordinator, as a superuser: the process ids of the nodes are read from their folders */
export async function openCluster(url: string, cleanup: Cleanup): Promise<BenchCluster> {
  const open = (address: string, maxConnections = 1) => {
    const db = openDatabase({ url: address, maxConnections, ...NO_TIMEOUTS })
    cleanup.add(() => db.close())
    return db
  }
  const coordinator = open(url)
  const workers = await coordinator.query<{ host: string; port: number }>({
    text: sql`select nodename as host, nodeport as port from pg_dist_node where groupid > 0 order by groupid`,
  })
  const nodes = [{ url: new URL(url), db: coordinator }]
  for (const { host, port } of workers) {
    const address = new URL(url)
    address.host = `${host}:${port}`
    nodes.push({ url: address, db: open(address.href) })
  }
  const pids = await Promise.all(nodes.map(({ db }) => postmasterOf(db)))
  const [version] = await coordinator.query<{ text: string }>({
    text: sql`select current_setting('server_version') || ', Citus ' || extversion as text
      from pg_extension where extname = 'citus'`,
  })

  const sum = async (values: Promise<number | null>[]) => {
    let total = 0
    for (const value of await Promise.all(values)) {
      if (value === null) return null
      total += value
    }
    return total
  }
  const addressIn = (node: URL, name: string) => {
    const address = new URL(node)
    address.pathname = name
    return address.href
  }
  const create = async ({ url: node, db }: (typeof nodes)[number], name: string) => {
    await db.query({ text: rawSql`drop database if exists ${name} with (force)` })
    await db.query({ text: rawSql`create database ${name} template template0 encoding 'UTF8'` })
    cleanup.add(() => db.query({ text: rawSql`drop database ${name} with (force)` }))
    return addressIn(node, name)
  }

  return {
    version: version?.text ?? 'unknown',
    workers: workers.length,
    async make(name, { empty = false } = {}) {
      const made = await create({ url: new URL(url), db: coordinator }, name)
      if (!empty) await migrate({ url: made })
      return { url: made, db: open(made, 2) }
    },
    async makeDistributed(name, shards) {
      const urls: string[] = []
      for (const node of nodes) {
        const made = await create(node, name)
        await withDatabase(made, 'create extension citus')
        urls.push(made)
      }
      const [first = '', ...others] = urls
      const { hostname, port } = new URL(first)
      await withDatabase(first, `select citus_set_coordinator_host('${hostname}', ${port})`)
      for (const other of others.map(text => new URL(text)))
        await withDatabase(first, `select citus_add_node('${other.hostname}', ${other.port})`)
      const done = await distribute({ url: first, shards, isConfirmed: true })
      if (done.outcome !== 'done') throw new Error(`the cluster is not fit: ${JSON.stringify(done)}`)
      return { url: first, db: open(first, 2) }
    },
    cpu: () => sum(pids.map(pid => cpuSeconds(pid, true))),
    memory: async () => (await sum(pids.map(proportionalBytes))) ?? 0,
    async walBytes() {
      return (await sum(nodes.map(({ db }) => walOf(db)))) ?? 0
    },
    async checkpoint() {
      for (const { db } of nodes) await db.query({ text: sql`checkpoint` })
    },
  }
}

async function withDatabase(url: string, text: string): Promise<void> {
  const db = openDatabase({ url, maxConnections: 1, ...NO_TIMEOUTS })
  await db.query({ text: rawSql`${text}` }).finally(() => db.close())
}

async function postmasterOf(db: Database): Promise<number> {
  const [row] = await db.query<{ pid: number }>({
    text: sql`select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int as pid`,
  })
  return row?.pid ?? 0
}

async function walOf(db: Database): Promise<number> {
  const [row] = await db.query<{ bytes: number }>({
    text: sql`select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint as bytes`,
  })
  return row?.bytes ?? 0
}
