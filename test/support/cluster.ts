/**
 * The database server of a test run: that of DATABASE_URL, or an embedded one in a temporary folder. One template
 * database is migrated, and the database of every test file is a copy of it.
 */
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A database of the server, from which others can be created. */
    serverUrl: string
    templateName: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await openServer(process.env.DATABASE_URL)
  const templateName = `sms_quota_template_${process.pid}`
  const admin = openDatabase({ url: server.url, maxConnections: 1, statementTimeout: 60_000 })
  try {
    await admin.query({ text: `create database ${templateName}` })
    await migrate({ url: withDatabase(server.url, templateName) })
  } catch (error) {
    await admin.close()
    await server.stop()
    throw error
  }
  project.provide('serverUrl', server.url)
  project.provide('templateName', templateName)
  return async () => {
    await admin.query({ text: `drop database ${templateName} with (force)` })
    await admin.close()
    await server.stop()
  }
}

async function openServer(url: string | undefined): Promise<{ url: string; stop(): Promise<void> }> {
  if (url !== undefined) return { url, stop: async () => {} }
  const { folder, remove } = await scratchFolder()
  const embedded = await startEmbedded({ dataDir: folder, log: quiet })
  return {
    url: embedded.url,
    async stop() {
      await embedded.stop()
      await remove()
    },
  }
}

/**
 * A folder for database servers that is removed when this process ends, even if it is killed: a shell waits until the
 * other end of its pipe closes, ends the servers that still run in the folder, and removes it.
 */
export async function scratchFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sms-quota-test-')))
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

/** The URL of another database on the same server. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
