/** Starts and stops of the embedded database that are interrupted, each after several delays. */
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { connectionOf, startEmbedded } from '../../src/db/embedded/embedded.ts'
import { foldersIn } from '../../src/db/embedded/folders.ts'
import { isServerOf, readPidFile } from '../../src/db/embedded/postmaster.ts'
import { findRunning } from '../../src/db/embedded/server.ts'
import { answerOf, createFolders, kill, pidOf, read, recorder, withDatabase, write } from './embedded-fixture.ts'

const { root, services, started, start, startService, prepare, spawnService } = await createFolders()

/** What the system shows of a process; undefined if it has ended. */
function shownOf(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

function stateOf(pid: number): string {
  const shown = shownOf(pid, 'stat')
  return shown === undefined ? 'ended' : (/^.*\) (\w)/s.exec(shown)?.[1] ?? '')
}

test.runIf(process.platform === 'linux')('a server counts as running until its process has ended', async () => {
  const dataDir = await prepare('ending')
  for (let n = 0; n < 5; n++) {
    const embedded = await start(dataDir)
    const pid = await pidOf(dataDir)
    process.kill(pid, 'SIGINT')
    while (await isServerOf(foldersIn(dataDir), pid));
    // Z: it has ended, and this process has not collected its exit status yet.
    expect(stateOf(pid)).toMatch(/^(ended|Z)$/)
    await embedded.stop()
  }
})

test('of services that create the same folder at the same time: one gets it', async () => {
  const dataDir = join(root, 'race')
  const answers = await Promise.all([0, 1, 2].map(() => answerOf(spawnService(dataDir))))
  const [winner, ...others] = answers.flatMap(({ url }) => url ?? [])
  expect(others).toEqual([])
  expect(answers.flatMap(({ error }) => error ?? [])).toEqual([
    expect.stringMatching(/in use/),
    expect.stringMatching(/in use/),
  ])
  await write(winner ?? '', 1)
  for (const service of services) await kill(service)
  expect((await start(dataDir)).adopted).toBe(true)
})

test('a stop while the server is restarting ends it, at any point of the restart', async () => {
  const dataDir = await prepare('on-its-way')
  for (const delay of [4, 8, 12, 16, 20]) {
    const gone = Promise.withResolvers<void>()
    const embedded = await startEmbedded({ dataDir, log: { info() {}, warn: () => gone.resolve(), error() {} } })
    const folders = foldersIn(dataDir)
    const before = await readPidFile(folders)
    process.kill(before?.pid ?? Number.NaN, 'SIGKILL')
    await gone.promise
    await pause(delay)
    const stopped = embedded.stop()
    await pause(3)
    // Blocks this process until the server is up, if it was started: the next probe finds it ready.
    const deadline = Date.now() + 500
    while (Date.now() < deadline && !isReadyAfter(before?.pid, folders.cluster));
    await stopped
    expect(await connectionOf(dataDir)).toBe(undefined)
  }
})

/** Whether a server with another process id is ready. Synchronous, so the event loop does not run meanwhile. */
function isReadyAfter(pid: number | undefined, cluster: string): boolean {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    return Number(lines[0]) !== pid && lines[7]?.trim() === 'ready'
  } catch {
    return false
  }
}

test('a start that is killed while it creates the database does not stop the next one', async () => {
  const dataDir = join(root, 'interrupted')
  for (const delay of [150, 300, 450, 600, 750]) {
    const service = spawnService(dataDir)
    await pause(delay)
    await kill(service)
  }
  const { url, stop } = await start(dataDir)
  await write(url, 1)
  await stop()
  // The next start removes what the initdb of a killed start was still writing.
  await pause(1_000)
  expect(await read((await start(dataDir)).url)).toEqual([{ value: 1 }])
  expect((await readdir(dataDir)).filter(name => name.startsWith('.preparing'))).toEqual([])
})

test('a server that hangs as it ends does not keep the next start waiting', async () => {
  const dataDir = await prepare('hanging')
  const service = await startService(dataDir)
  await write(service.url, 1)
  const adminUrl = (await findRunning(foldersIn(dataDir)))?.adminUrl ?? ''
  const [row] = await withDatabase(adminUrl, db =>
    db.query<{ pid: number }>({ text: sql`select pid from pg_stat_activity where backend_type = 'checkpointer'` }),
  )
  await service.kill()
  const pid = await pidOf(dataDir)
  // It has the last checkpoint to write. Not 0, which would be this process and its group.
  process.kill(row?.pid ?? Number.NaN, 'SIGSTOP')
  process.kill(pid, 'SIGINT')
  const { url, adopted } = await start(dataDir)
  expect(adopted).toBe(false)
  expect(await read(url)).toEqual([{ value: 1 }])
})

/** The process of a server that writes checkpoints, once there is one that is not `before`. */
async function checkpointerOf(server: number, before = 0): Promise<number> {
  for (; ; await pause(1)) {
    const children = shownOf(server, `task/${server}/children`)?.trim().split(' ').map(Number) ?? []
    const found = children.find(pid => pid !== before && shownOf(pid, 'cmdline')?.includes('checkpointer'))
    if (found !== undefined) return found
  }
}

test.runIf(process.platform === 'linux')('a server that hangs as it recovers is ended and started again', async () => {
  const dataDir = await prepare('hanging in its recovery')
  const { messages, log } = recorder()
  const embedded = await startEmbedded({ dataDir, log, stopTimeout: 100, recoveryTimeout: 5_000 })
  started.push(embedded)
  await write(embedded.url, 1)
  // Something to recover: the first checkpoint after it waits for what writes it.
  await withDatabase(embedded.url, async db => {
    await db.query({ text: sql`create table recovered as select n from generate_series(1, 1000000) n` })
  })
  const server = await pidOf(dataDir)
  const before = await checkpointerOf(server)
  process.kill(before, 'SIGKILL')
  process.kill(await checkpointerOf(server, before), 'SIGSTOP')
  await expect.poll(() => messages, { timeout: 60_000 }).toContain('embedded database: running again')
  expect(messages).toContain('embedded database: restart failed, retrying')
  expect(await pidOf(dataDir)).not.toBe(server)
  expect(await read(embedded.url)).toEqual([{ value: 1 }])
})
