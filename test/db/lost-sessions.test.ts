import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { ConnectionLost } from '../../src/db/connection/database.ts'
import { connectPipelined } from '../../src/db/connection/pipelined-connection.ts'
import { configureSession, createLostSessions } from '../../src/db/connection/session.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { emptyDatabase } from '../support/database.ts'
import { createNetwork } from '../support/network.ts'
import { rawSql } from '../support/sql.ts'

const { db, url } = await emptyDatabase()
const open: pg.Client[] = []
afterAll(() => Promise.all(open.map(client => client.end())))

/** A session as the service sets it up. */
async function openSession(at = url) {
  const client = new pg.Client({ connectionString: at })
  client.on('error', () => {})
  await client.connect()
  open.push(client)
  return { client, session: await configureSession(client, {}) }
}

const isAlive = async ({ session }: { session: { pid: string } }) =>
  (await db.query({ text: sql`select 1 from pg_stat_activity where pid = $1`, values: [session.pid] })).length > 0

test('are ended through the next connection, and no other session is', async () => {
  const [lost, other, next] = [await openSession(), await openSession(), await openSession()]
  const sessions = createLostSessions()
  sessions.add(lost.session)
  // The process id of a session that ended long ago, which another session has now.
  sessions.add({ pid: other.session.pid, began: lost.session.began })
  expect(await sessions.end(next.client)).toBe(1)
  expect(await Promise.all([lost, other, next].map(isAlive))).toEqual([false, true, true])
  expect(await sessions.end(next.client)).toBe(0)
})

test('that do not end stop new connections when they are more than four', async () => {
  const role = `sms_quota_test_${randomUUID().replaceAll('-', '')}`
  await db.query({ text: rawSql`create role ${role} login password '${role}'` })
  await db.query({ text: sql`revoke execute on function pg_terminate_backend from public` })
  const powerless = new URL(url)
  powerless.username = role
  powerless.password = role
  const sessions = createLostSessions()
  const lost = await Promise.all(Array.from({ length: 5 }, () => openSession(powerless.href)))
  for (const { session } of lost) sessions.add(session)
  const next = await openSession(powerless.href)
  await expect(sessions.end(next.client)).rejects.toThrow('5 sessions of lost connections go on')
  await lost[0]?.client.end()
  await expect.poll(() => sessions.end(next.client).catch(() => 5)).toBe(4)
  for (const { client } of [...lost, next]) await client.end()
  await db.query({ text: rawSql`drop role ${role}` })
})

const SLOW = { slow: sql`select pg_sleep(0.3)`, endless: sql`select pg_sleep(600)`, quick: sql`select 1` }
const call = (name: keyof typeof SLOW) => [{ name, values: [] }]

test('a batch without an answer in time loses its connection', async () => {
  const lostSessions = createLostSessions()
  const options = { url, statements: SLOW, settings: {}, batchTimeoutMs: 50, lostSessions }
  const connection = await connectPipelined(options)
  expect(await connection.run(call('quick'))).toMatchObject([{ rows: [['1']] }])
  const failure = connection.run(call('endless'))
  await expect(failure).rejects.toThrow(ConnectionLost)
  await expect(failure).rejects.toThrow('no answer within 50 ms')
  expect(connection.isLost).toBe(true)
  const next = await openSession()
  expect(await lostSessions.end(next.client)).toBe(1)
})

test('an answer that came while the process stood still is in time', async () => {
  const connection = await connectPipelined({ url, statements: SLOW, settings: {}, batchTimeoutMs: 50 })
  const answered = connection.run(call('quick'))
  // The batch is on its way; the timer and the answer are both due when the event loop goes on.
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200))
  expect(await answered).toMatchObject([{ rows: [['1']] }])
  await connection.close()
})

test('closing a dead connection does not take long', async () => {
  const network = await createNetwork(url)
  const connection = await connectPipelined({ url: network.url, statements: SLOW, settings: {} })
  network.swallowAll()
  await connection.close()
})
