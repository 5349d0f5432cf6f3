import { afterAll, expect, test } from 'vitest'
import { BEGIN, ROLLBACK } from '../../src/db/connection/pipelined-connection.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { createConnections } from '../../src/engine/connections.ts'
import { connectTo } from '../../src/engine/servers.ts'
import { freshDatabase } from '../support/database.ts'

const { db, url } = await freshDatabase()
let now = 0
const log = { info() {}, warn() {}, error() {} }
const connections = createConnections({
  connect: connectTo(url),
  monotonicMs: () => now,
  lockTimeoutMs: 100,
  log,
  onLost() {},
})
afterAll(() => connections.close())

/** The engine's sessions, the oldest first. */
const sessions = () =>
  db.query<{ pid: number; query: string }>({
    text: sql`select pid, query from pg_stat_activity
      where datname = current_database() and application_name = 'sms-quota engine' order by backend_start`,
  })

/** The last statement of the engine's only session. */
async function lastStatement(): Promise<string | undefined> {
  const rows = await sessions()
  expect(rows).toHaveLength(1)
  return rows[0]?.query
}

/** Lets the time pass, uses the connection, and returns whether that has made it forget its plans. */
async function forgetsAfter(ms: number): Promise<boolean> {
  await connections.use(connection => connection.run([BEGIN, ROLLBACK]))
  now += ms
  await connections.use(async () => {})
  return (await lastStatement()) === 'discard plans'
}

test('plans are made again as the connection grows older, and every minute at the latest', async () => {
  expect(await forgetsAfter(1_000)).toBe(false)
  expect(await forgetsAfter(1)).toBe(true)
  // It was 1,001 ms old then.
  expect(await forgetsAfter(2_001)).toBe(false)
  expect(await forgetsAfter(1)).toBe(true)
  expect(await forgetsAfter(3_600_000)).toBe(true)
  expect(await forgetsAfter(60_000)).toBe(false)
  expect(await forgetsAfter(1)).toBe(true)
})

test('when one is lost, the idle ones are closed: what ended it may have ended them', async () => {
  await connections.use(() => connections.use(async () => {}))
  const [first, second] = await sessions()
  expect(second).toBeDefined()
  await db.query({ text: sql`select pg_terminate_backend($1::int)`, values: [first?.pid ?? null] })
  await expect.poll(sessions).toEqual([])
})
