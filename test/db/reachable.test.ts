import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { untilReachable } from '../../src/db/connection/reachable.ts'
import { whenDone } from '../support/cleanup.ts'
import { freshDatabase } from '../support/database.ts'
import { urlOf } from '../support/listening.ts'
import { createNetwork, errorResponse } from '../support/network.ts'

const { url } = await freshDatabase()
const network = await createNetwork(url)

/** The lines of the log while `work` waits for the database of a URL. */
async function waiting(databaseUrl: string, ms: number, signal?: AbortSignal) {
  const lines: { message: string; reason?: unknown }[] = []
  const write = (fields: object, message: string) => void lines.push({ ...fields, message })
  const db = openDatabase({ url: databaseUrl, maxConnections: 1 })
  whenDone(() => db.close())
  const log = { info: write, warn: write, error: write }
  return { lines, done: untilReachable(db, { ms, log, signal }) }
}

/** The address of a server that answers each connection with these bytes, or closes it. */
async function serverThat(answer: Buffer): Promise<string> {
  const server = createServer(socket => socket.on('error', () => {}).once('data', () => socket.end(answer)))
  return `postgres://u:p@${new URL(await urlOf(server)).host}/d`
}

const refusal = (C: string, M: string) => errorResponse({ S: 'FATAL', V: 'FATAL', C, M })

test('a database that comes later is waited for, with one line for each reason', async () => {
  network.cut()
  const { lines, done } = await waiting(network.url, 60_000)
  await expect.poll(() => lines.length).toBe(1)
  network.restore()
  await done
  expect(lines[0]).toMatchObject({ message: 'database: not there yet, waiting', reason: expect.any(String) })
  expect(lines.at(-1)).toEqual({ message: 'database: there, going on' })
})

test('a database that is there is not waited for', async () => {
  const { lines, done } = await waiting(url, 0)
  await done
  expect(lines).toEqual([])
})

test.each([
  ['a port without a server', async () => 'postgres://u:p@127.0.0.1:1/d', /ECONNREFUSED/],
  ['a port of localhost without a server', async () => 'postgres://u:p@localhost:1/d', /ECONNREFUSED/],
  ['a host without an address', async () => 'postgres://u:p@nowhere.invalid/d', /nowhere\.invalid/],
  ['a socket without a server', async () => 'postgres://u:p@/d?host=/nowhere', /ENOENT/],
  ['a server that closes connections', () => serverThat(Buffer.alloc(0)), /terminated|ECONNRESET/],
  ['a server that starts', () => serverThat(refusal('57P03', 'the database system is starting up')), /starting up/],
  ['a server that is full', () => serverThat(refusal('53300', 'sorry, too many clients already')), /too many/],
])('%s is waited for until the time is over', async (_, make, reason) => {
  const { lines, done } = await waiting(await make(), 100)
  await expect(done).rejects.toThrow(reason)
  expect(lines).toEqual([
    { message: 'database: not there yet, waiting', reason: expect.stringMatching(reason), seconds: 1 },
  ])
})

test.each([
  ['a password that is wrong', refusal('28P01', 'password authentication failed')],
  ['a role that is not admitted', refusal('28000', 'no pg_hba.conf entry')],
  ['a database that does not exist', refusal('3D000', 'database "d" does not exist')],
])('%s is reported at once', async (_, answer) => {
  const { lines, done } = await waiting(await serverThat(answer), 3_600_000)
  await expect(done).rejects.toThrow()
  expect(lines).toEqual([])
})

test('a server without TLS, where TLS is required, is reported at once', async () => {
  const { lines, done } = await waiting(`${await serverThat(Buffer.from('N'))}?sslmode=require`, 3_600_000)
  await expect(done).rejects.toThrow(/SSL/)
  expect(lines).toEqual([])
})

test('the wait ends with its signal', async () => {
  const stopping = new AbortController()
  const { lines, done } = await waiting('postgres://u:p@127.0.0.1:1/d', 3_600_000, stopping.signal)
  await expect.poll(() => lines.length).toBe(1)
  stopping.abort(new Error('stopped'))
  await expect(done).rejects.toThrow('stopped')
})
