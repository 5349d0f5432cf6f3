import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { inject } from 'vitest'
import { type Database, type DatabaseOptions, openDatabase } from '../../src/db/connection/database.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { createCopy, dropOn } from './citus.ts'
import { whenDone } from './cleanup.ts'
import { copyDataFolder, disableAutovacuum, scratchFolder } from './database-server.ts'
import { withDatabase } from './database-url.ts'
import { rawSql } from './sql.ts'

export interface FreshDatabase {
  readonly url: string
  readonly db: Database
}

/**
 * A migrated database of the caller's own, dropped after the caller's tests. Call it where tests are declared, not in a
 * hook: `const { db, url } = await freshDatabase()` at the top of the file, or in an `async` describe.
 *
 * A connection or a statement of `db` may take a minute, unless `options` say otherwise: the service's four seconds are short for a fill, and
 * for a machine with other work.
 */
export async function freshDatabase(options: Partial<DatabaseOptions> = {}): Promise<FreshDatabase> {
  const [nodes, template] = [inject('nodes'), inject('templateName')]
  // Copying the files takes half the time of logging the pages.
  const create = (name: string) =>
    nodes === null
      ? administer(`create database ${name} template ${template} strategy file_copy`)
      : createCopy(nodes, name, template)
  return makeDatabase(create, options)
}

/**
 * A migrated database of one PostgreSQL, also where the tests run on a cluster. For tests of plans, which are there those of a
 * coordinator and show neither indexes nor rows, and for tests of what is the same on both.
 */
export function databaseOfOnePostgres(): Promise<FreshDatabase> {
  return inject('nodes') === null ? freshDatabase() : databaseOnOwnServer({ statementTimeout: 60_000 })
}

/** A database without a schema, dropped after the caller's tests. On a cluster it is one of the coordinator alone. */
export async function emptyDatabase(): Promise<FreshDatabase> {
  return makeDatabase(name => administer(`create database ${name} template template0 encoding 'UTF8'`))
}

/**
 * The data folder of a migrated embedded database that does not run, removed after the caller's tests. It is in `parent`, or where the
 * files of the run are, which may be in memory.
 */
export async function preparedFolder(parent?: string): Promise<string> {
  const { folder, remove } = await scratchFolder(parent)
  whenDone(remove)
  const dataDir = join(folder, 'data')
  await copyDataFolder(inject('preparedFolder'), dataDir)
  return dataDir
}

/**
 * A server of the caller's own with a migrated database. It is stopped and removed after the caller's tests. `url` is that of
 * a superuser, `serviceUrl` that of the role that the service uses.
 */
export async function ownServer(parent?: string): Promise<{ url: string; serviceUrl: string; dataDir: string }> {
  const dataDir = await preparedFolder(parent)
  const server = await startEmbedded({ dataDir, log: { info() {}, warn() {}, error() {} } })
  whenDone(server.stop)
  return { url: server.adminUrl, serviceUrl: server.url, dataDir }
}

/** A migrated database of a role without rights, which owns it, as the service has it in its data folder. */
export async function databaseOfPlainRole(): Promise<FreshDatabase> {
  const { serviceUrl: url } = await ownServer()
  const db = openDatabase({ url })
  whenDone(() => db.close())
  return { url, db }
}

/**
 * A migrated database on a server of the caller's own, for what depends on every transaction of a server: those of other
 * test files, and autovacuum's.
 */
export async function databaseOnOwnServer(options: Partial<DatabaseOptions> = {}): Promise<FreshDatabase> {
  const { url } = await ownServer()
  const db = openDatabase({ ...options, url })
  whenDone(() => db.close())
  await disableAutovacuum(db)
  return { url, db }
}

/** Another way to a database, where a statement soon gives up on a lock that stays. Closed after the caller's tests. */
export function impatientDatabase(url: string): Database {
  const db = openDatabase({ url, connectTimeout: 60_000, statementTimeout: 60_000, lockTimeout: 100 })
  whenDone(() => db.close())
  return db
}

async function makeDatabase(
  create: (name: string) => Promise<void>,
  options: Partial<DatabaseOptions> = {},
): Promise<FreshDatabase> {
  const name = `sms_quota_test_${randomUUID().replaceAll('-', '')}`
  const url = withDatabase(inject('serverUrl'), name)
  const db = openDatabase({ connectTimeout: 60_000, statementTimeout: 60_000, ...options, url })
  whenDone(async () => {
    await db.close()
    await dropOn(inject('nodes') ?? [inject('serverUrl')], name)
  })
  await create(name)
  return { url, db }
}

async function administer(text: string): Promise<void> {
  const limits = { connectTimeout: 60_000, statementTimeout: 60_000, lockTimeout: 0 }
  const admin = openDatabase({ url: inject('serverUrl'), maxConnections: 1, ...limits })
  try {
    await admin.query({ text: rawSql`${text}` })
  } finally {
    await admin.close()
  }
}
