/** A PostgreSQL for a benchmark: the service's own, with the service's own settings, in a folder that goes afterwards. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type Cleanup, cpuSeconds } from './processes.ts'

export interface Postgres {
  readonly version: string
  /** A database with the service's schema, or an empty one. */
  make(name: string, options?: { empty?: boolean }): Promise<Made>
  /** Seconds of CPU of all its processes so far. */
  cpu(): Promise<number | null>
  /** Bytes of the write-ahead log so far. */
  walBytes(): Promise<number>
  /** So that no side pays for what another has written. */
  checkpoint(): Promise<void>
}

interface Made {
  readonly url: string
  readonly db: Database
}

const PATIENT = { statementTimeout: 0, lockTimeout: 0, idleTransactionTimeout: 0 } as const

export async function startPostgres(cleanup: Cleanup): Promise<Postgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sms-quota-bench-'))
  cleanup.add(() => rm(dataDir, { recursive: true, force: true }))
  const server = await startEmbedded({
    dataDir,
    log: { info: () => {}, warn: console.warn, error: console.error },
  })
  cleanup.add(() => server.stop())
  const admin = openDatabase({ url: server.url, maxConnections: 1, ...PATIENT })
  cleanup.add(() => admin.close())
  const [row] = await admin.query<{ pid: number }>({
    text: `select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::int as pid`,
  })
  const pid = row?.pid ?? 0

  return {
    version: server.version,
    async make(name, { empty = false } = {}) {
      const url = new URL(server.url)
      url.pathname = name
      await admin.query({ text: `create database ${name} template template0 encoding 'UTF8'` })
      if (!empty) await migrate({ url: url.href })
      const db = openDatabase({ url: url.href, maxConnections: 2, ...PATIENT })
      cleanup.add(() => db.close())
      return { url: url.href, db }
    },
    cpu: () => cpuSeconds(pid, true),
    async walBytes() {
      const [wal] = await admin.query<{ bytes: number }>({
        text: `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint as bytes`,
      })
      return wal?.bytes ?? 0
    },
    async checkpoint() {
      await admin.query({ text: 'checkpoint' })
    },
  }
}
