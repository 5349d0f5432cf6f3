/** Embedded databases in folders of the caller's own, started by its process or by another one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, inject } from 'vitest'
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { type Embedded, startEmbedded } from '../../src/db/embedded/embedded.ts'
import { copyDataFolder, scratchFolder } from '../support/database-server.ts'

export function recorder() {
  const messages: string[] = []
  const note = (_: object, message: string) => messages.push(message)
  return { messages, log: { info: note, warn: note, error: note } }
}

/** Call this where tests are declared. After each of them it stops what was started, and removes the folders after the last one. */
export async function createFolders() {
  const { folder: root, remove } = await scratchFolder()
  const started: Embedded[] = []
  const services: ChildProcess[] = []
  afterEach(async () => {
    for (const service of services.splice(0)) service.kill('SIGKILL')
    for (const embedded of started.splice(0)) await embedded.stop()
  })
  afterAll(remove)

  function spawnService(dataDir: string): ChildProcess {
    const service = spawnServiceOn(dataDir)
    services.push(service)
    return service
  }

  return {
    root,
    started,
    services,
    spawnService,

    async start(dataDir: string, log = recorder().log, checkInterval = 15_000): Promise<Embedded> {
      const embedded = await startEmbedded({ dataDir, log, checkInterval })
      started.push(embedded)
      return embedded
    },

    /** A data folder whose database was created before, for what does not depend on its creation. */
    async prepare(name: string): Promise<string> {
      const dataDir = join(root, name)
      await copyDataFolder(inject('preparedFolder'), dataDir)
      return dataDir
    },

    async startService(dataDir: string): Promise<{ url: string; pid: number | undefined; kill(): Promise<void> }> {
      const service = spawnService(dataDir)
      const { url, error } = await answerOf(service)
      if (url === undefined) throw new Error(error)
      return { url, pid: service.pid, kill: () => kill(service) }
    },
  }
}

/** A service in a process of its own that can be killed. It prints its address, or why it does not start. */
function spawnServiceOn(dataDir: string): ChildProcess {
  const script = `
    const { startEmbedded } = await import(${JSON.stringify(new URL('../../src/db/embedded/embedded.ts', import.meta.url).href)})
    const log = { info() {}, warn() {}, error() {} }
    await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log }).then(
      ({ url }) => console.log(JSON.stringify({ url })),
      error => console.log(JSON.stringify({ error: error.message })),
    )
    process.stdin.resume().on('end', () => process.exit())`
  return spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

export async function answerOf(service: ChildProcess): Promise<{ url?: string; error?: string }> {
  let output = ''
  for await (const chunk of service.stdout ?? []) {
    output += chunk
    if (output.endsWith('\n')) break
  }
  return JSON.parse(output)
}

export async function kill(service: ChildProcess): Promise<void> {
  service.kill('SIGKILL')
  await new Promise(resolve => service.once('exit', resolve))
}

export async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({ url, maxConnections: 2 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

export const write = (url: string, value: number) =>
  withDatabase(url, async db => {
    await db.query({ text: sql`create table if not exists kept (value integer)` })
    await db.query({ text: sql`insert into kept values ($1)`, values: [value] })
  })

export const readAll = (db: Database) => db.query({ text: sql`select value from kept order by value` })
export const read = (url: string) => withDatabase(url, readAll)

export const pidFileOf = (dataDir: string) => join(dataDir, 'database', 'postmaster.pid')
export const pidOf = async (dataDir: string) => Number.parseInt(await readFile(pidFileOf(dataDir), 'utf8'), 10)
