/**
 * The database server of a test run: that of DATABASE_URL, the cluster of TEST_CLUSTER_URL, or an embedded one in a
 * temporary folder. One template database is migrated, and the database of every test file is a copy of it.
 *
 * For tests that need a server of their own, one embedded database is created and migrated, and each takes a copy of its
 * folder: a tenth of a second instead of three seconds.
 */
import { execFile, spawn } from 'node:child_process'
import { chmod, mkdtemp, readdir, realpath, rename, rm, symlink } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ProvidedContext } from 'vitest'
import type { TestProject } from 'vitest/node'
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { createTemplate, dropOn, nodesOf } from './citus.ts'
import { withDatabase } from './database-url.ts'
import { rawSql } from './sql.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A database of the server, from which others can be created. */
    serverUrl: string
    /** The URLs of that database on all nodes of a cluster; null: the server is one PostgreSQL. */
    nodes: [string, ...string[]] | null
    templateName: string
    /** The data folder of a migrated embedded database that does not run. Copy it with `copyDataFolder`. */
    preparedFolder: string
  }
}

type Provided = Pick<ProvidedContext, 'serverUrl' | 'nodes' | 'templateName' | 'preparedFolder'>

let users = 0
let started: Promise<{ provided: Provided; stop(): Promise<void> }> | undefined

/** One server for all projects of a run: the first that needs it starts it, and the last one stops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  users++
  started ??= startServer()
  const { provided, stop } = await started
  project.provide('serverUrl', provided.serverUrl)
  project.provide('nodes', provided.nodes)
  project.provide('templateName', provided.templateName)
  project.provide('preparedFolder', provided.preparedFolder)
  return async () => {
    if (--users === 0) await stop()
  }
}

async function startServer(): Promise<{ provided: Provided; stop(): Promise<void> }> {
  const { folder, remove } = await scratchFolder()
  const preparedFolder = await prepareDataFolder(folder)
  const clusterUrl = process.env.TEST_CLUSTER_URL
  const server = await openServer(clusterUrl ?? process.env.DATABASE_URL, preparedFolder, join(folder, 'server'))
  const templateName = `sms_quota_template_${process.pid}`
  const admin = openDatabase({ url: server.url, maxConnections: 1, statementTimeout: 60_000 })
  const nodes = clusterUrl === undefined ? null : await nodesOf(clusterUrl)
  const stop = async () => {
    await dropOn(nodes ?? [server.url], templateName)
    await admin.close()
    await server.stop()
    await remove()
  }
  try {
    if (nodes === null) {
      await admin.query({ text: rawSql`create database ${templateName}` })
      await migrate({ url: withDatabase(server.url, templateName) })
    } else {
      await createTemplate(nodes, templateName)
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { provided: { serverUrl: server.url, nodes, templateName, preparedFolder }, stop }
}

async function openServer(
  url: string | undefined,
  prepared: string,
  dataDir: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  if (url !== undefined) return { url, stop: async () => {} }
  await copyDataFolder(prepared, dataDir)
  const server = await startEmbedded({ dataDir, log: quiet })
  const db = openDatabase({ url: server.adminUrl, maxConnections: 1 })
  await disableAutovacuum(db)
  await simplifyPassword(db, new URL(server.adminUrl))
  await db.close()
  return { url: server.adminUrl, stop: server.stop }
}

/** The tests open thousands of connections, and each would repeat the four thousand steps that make a password hard to guess. */
function simplifyPassword(db: Database, { username, password }: URL): Promise<void> {
  return db.transaction(async tx => {
    await tx.query({ text: sql`set local scram_iterations = 1` })
    await tx.query({ text: rawSql`alter role ${username} password '${decodeURIComponent(password)}'` })
  })
}

/** For the whole server. Autovacuum comes at times of its own: it locks tables that a test analyzes, and changes plans. */
export async function disableAutovacuum(db: Database): Promise<void> {
  await db.query({ text: sql`alter system set autovacuum = off` })
  await db.query({ text: sql`select pg_reload_conf()` })
}

/** Creates and migrates an embedded database in a folder, and stops it. Its copies share PostgreSQL's programs. */
async function prepareDataFolder(folder: string): Promise<string> {
  const dataDir = join(folder, 'prepared')
  const { url, stop } = await startEmbedded({ dataDir, log: quiet })
  await migrate({ url })
  await stop()
  for (const name of (await readdir(dataDir)).filter(name => name.startsWith('postgresql-'))) {
    await rename(join(dataDir, name), join(folder, name))
    await symlink(join(folder, name), join(dataDir, name))
  }
  return dataDir
}

/** Copies a data folder whose database does not run, with its owners. */
export async function copyDataFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}

/**
 * A folder for database servers that is removed when this process ends, even if it is killed: a shell waits until the
 * other end of its pipe closes, ends the servers that still run in the folder, and removes it.
 */
export async function scratchFolder(parent = tmpdir()): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await realpath(await mkdtemp(join(parent, 'sms-quota-test-')))
  // Under root the server's user must be able to enter.
  await chmod(folder, 0o711)
  const sweeper = spawn('/bin/sh', ['-c', SWEEP, 'sh', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  sweeper.unref()
  if (sweeper.stdin instanceof Socket) sweeper.stdin.unref()
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

const SWEEP = `cat
find "$1" -name postmaster.pid -exec head -n 1 {} \\; | xargs kill -QUIT
sleep 1
rm -rf -- "$1"`

/** Shows warnings and errors only. */
const quiet = { info: () => {}, warn: console.warn, error: console.error }
