/** A PostgreSQL for a benchmark: the embedded server with the service's settings, in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { rawSql } from '../../test/support/sql.ts'
import { type Cleanup, cpuSeconds, proportionalBytes } from './processes.ts'

export interface Postgres {
  readonly version: string
  /** A database with the service's schema, or an empty one. */
  make(name: string, options?: { empty?: boolean }): Promise<Made>
  /** Seconds of CPU that all its processes have used. */
  cpu(): Promise<number | null>
  /** Memory of all its processes in bytes, of shared pages once. */
  memory(): Promise<number>
  /** Current position of the write-ahead log, in bytes. */
  walBytes(): Promise<number>
  /** Writes a checkpoint, so that no side pays for pages that another side wrote. */
  checkpoint(): Promise<void>
}

export interface Made {
  readonly url: string
  readonly db: Database
}

const NO_TIMEOUTS = { statementTimeout: 0, lockTimeout: 0, idleTransactionTimeout: 0 } as const

export async function startPostgres(cleanup: Cleanup): Promise<Postgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sms-quota-bench-'))
  cleanup.add(() => rm(dataDir, { recursive: true, force: true }))
  const server = await startEmbedded({
    dataDir,
    log: { info: () => {}, warn: console.warn, error: console.error },
  })
  cleanup.add(() => server.stop())
  const admin = openDatabase({ url: server.adminUrl, maxConnections: 1, ...NO_TIMEOUTS })
  cleanup.add(() => admin.close())
  const [row] = await admin.query<{ pid: number }>({
    text: sql`select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int as pid`,
  })
  const pid = row?.pid ?? 0

  return {
    version: `${server.version} (${server.optimization})`,
    async make(name, { empty = false } = {}) {
      const url = new URL(server.adminUrl)
      url.pathname = name
      await admin.query({ text: rawSql`create database ${name} template template0 encoding 'UTF8'` })
      if (!empty) await migrate({ url: url.href })
      const db = openDatabase({ url: url.href, maxConnections: 2, ...NO_TIMEOUTS })
      cleanup.add(() => db.close())
      return { url: url.href, db }
    },
    cpu: () => cpuSeconds(pid, true),
    memory: () => proportionalBytes(pid),
    async walBytes() {
      const [wal] = await admin.query<{ bytes: number }>({
        text: sql`select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint as bytes`,
      })
      return wal?.bytes ?? 0
    },
    async checkpoint() {
      await admin.query({ text: sql`checkpoint` })
    },
  }
}
