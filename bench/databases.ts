/** Databases for measurements, on the server that DATABASE_URL names or on a temporary one. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../src/db/connection/database.ts'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { migrate } from '../src/db/schema/migrate.ts'
import { rawSql } from '../test/support/sql.ts'

const NO_TIMEOUTS = { statementTimeout: 0, lockTimeout: 0, idleTransactionTimeout: 0 } as const

/** Calls `work` with a function that creates a migrated database. Drops all of them afterwards. */
export async function withDatabases<T>(
  work: (makeDatabase: (name: string) => Promise<Database>) => Promise<T>,
): Promise<T> {
  const server = await openServer(process.env.DATABASE_URL)
  const admin = openDatabase({ url: server.url, maxConnections: 1, ...NO_TIMEOUTS })
  const made: { name: string; db: Database }[] = []
  try {
    return await work(async suffix => {
      const name = `sms_quota_bench_${process.pid}_${suffix}`
      const url = new URL(server.url)
      url.pathname = name
      await admin.query({ text: rawSql`create database ${name} template template0 encoding 'UTF8'` })
      // One connection: measurements call one at a time.
      const db = openDatabase({ url: url.href, maxConnections: 1, ...NO_TIMEOUTS })
      made.push({ name, db })
      await migrate({ url: url.href })
      return db
    })
  } finally {
    for (const { name, db } of made) {
      await db.close()
      await admin.query({ text: rawSql`drop database ${name}` })
    }
    await admin.close()
    await server.stop()
  }
}

async function openServer(url: string | undefined): Promise<{ url: string; stop(): Promise<void> }> {
  if (url !== undefined) return { url, stop: async () => {} }
  const dataDir = await mkdtemp(join(tmpdir(), 'sms-quota-bench-'))
  const remove = () => rm(dataDir, { recursive: true, force: true })
  try {
    const { adminUrl, stop } = await startEmbedded({
      dataDir,
      log: { info: () => {}, warn: console.warn, error: console.error },
    })
    return { url: adminUrl, stop: () => stop().then(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}
