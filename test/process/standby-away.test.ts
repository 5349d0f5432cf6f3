/**
 * A synchronous standby that is away for longer than the service waits for an answer. The server's processes go on
 * waiting for it after the service has given up on them: no timeout and no closed connection ends them. They must not
 * pile up. Uses a server of its own, because the list of standbys is a setting of the server.
 */
import { afterAll, expect, test } from 'vitest'
import { createQuota } from '../../src/admin/create-quota.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { scratchFolder } from '../support/cluster.ts'
import { reserve, START } from '../support/engine.ts'

const { folder, remove } = await scratchFolder()
const log = { info() {}, warn() {}, error: console.error }
const embedded = await startEmbedded({ dataDir: folder, log })
await migrate({ url: embedded.url })
const db = openDatabase({ url: embedded.url })

const ENGINE_CONNECTIONS = 4
const POOL_CONNECTIONS = 3
const engine = createEngine({ url: embedded.url, now: () => START, log, connections: ENGINE_CONNECTIONS })
const pool = openDatabase({ url: embedded.url, maxConnections: POOL_CONNECTIONS })
afterAll(async () => {
  await setStandbys('')
  await Promise.all([engine.close(), pool.close(), db.close()])
  await embedded.stop()
  await remove()
})

async function setStandbys(names: string): Promise<void> {
  await db.query({ text: `alter system set synchronous_standby_names = '${names}'` })
  await db.query({ text: 'select pg_reload_conf()' })
}

/** The server's processes that wait for a standby. */
async function countWaiting(): Promise<number> {
  const rows = await db.query({ text: "select 1 from pg_stat_activity where wait_event = 'SyncRep'" })
  return rows.length
}

const author = { now: START, actor: 'ada', requestId: 'test' }
const create = (on: Database, user: number) =>
  on.transaction(tx => createQuota(tx, { user_id: user, limit: 1_000 }, author))

/** Repeats a call until `isOver`, whatever becomes of it. Answers how often it succeeded. */
async function hammer(call: () => Promise<unknown>, isOver: () => boolean): Promise<number> {
  let successes = 0
  while (!isOver()) {
    await call().then(
      () => successes++,
      () => {},
    )
  }
  return successes
}

test('while it is away, few processes wait for it; when it returns, service is back', { timeout: 90_000 }, async () => {
  const users = Array.from({ length: 20 }, (_, index) => 100 + index)
  for (const user of users) await create(db, user)
  await Promise.all(users.map(user => engine.submit(reserve(user, 'first', 1))))
  await setStandbys('missing')
  const shown = async () => (await db.query({ text: 'show synchronous_standby_names' }))[0]
  await expect.poll(shown).toEqual({ synchronous_standby_names: 'missing' })

  let isOver = false
  let calls = 0
  const hammering = [
    ...users.map(user =>
      hammer(
        () => engine.submit(reserve(user, `m${calls++}`, 1)),
        () => isOver,
      ),
    ),
    ...Array.from({ length: POOL_CONNECTIONS }, () =>
      hammer(
        () => create(pool, 1_000 + calls++),
        () => isOver,
      ),
    ),
  ]
  // More than twice as long as the service waits for an answer.
  let most = 0
  const until = performance.now() + 10_000
  const watch = async () => {
    most = Math.max(most, await countWaiting())
    return performance.now() > until
  }
  await expect.poll(watch, { timeout: 20_000, interval: 20 }).toBe(true)
  isOver = true
  expect(most).toBeGreaterThan(ENGINE_CONNECTIONS)
  expect(most).toBeLessThanOrEqual(ENGINE_CONNECTIONS + POOL_CONNECTIONS)

  await setStandbys('')
  const began = performance.now()
  // No call was answered before the standby confirmed it.
  for (const successes of await Promise.all(hammering)) expect(successes).toBeLessThanOrEqual(1)
  for (const user of users) expect(await engine.submit(reserve(user, 'last', 1))).toMatchObject({ outcome: 'granted' })
  expect(await create(pool, 2_000)).toMatchObject({ outcome: 'created' })
  expect(performance.now() - began).toBeLessThan(2_000)
  expect(await countWaiting()).toBe(0)
})
