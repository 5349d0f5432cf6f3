/** What waits for a synchronous standby does not pile up while that is away, for more than twice as long as a call may take. */
import { afterAll, expect, test } from 'vitest'
import { createQuota } from '../../src/admin/quotas/create-quota.ts'
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { ownServer } from '../support/database.ts'
import { reserve, START } from '../support/engine.ts'
import { createSite } from '../support/process.ts'
import { requireStandby, setStandbys, waitingForStandby } from '../support/standby.ts'

const log = { info() {}, warn() {}, error: console.error }
const { url: adminUrl, serviceUrl: url } = await ownServer()
const db = openDatabase({ url: adminUrl })

const site = await createSite()

const ENGINE_CONNECTIONS = 4
const POOL_CONNECTIONS = 3
const engine = createEngine({ url, now: () => START, log, connections: ENGINE_CONNECTIONS })
const pool = openDatabase({ url, maxConnections: POOL_CONNECTIONS })
afterAll(async () => {
  await setStandbys(db, '')
  await Promise.all([engine.close(), pool.close(), db.close()])
})

const waiting = () => waitingForStandby(db)

const author = { now: START, actor: 'ada', requestId: 'test' }
const create = (on: Database, user: number) =>
  on.transaction(tx => createQuota(tx, { user_id: user, limit: 1_000 }, author))

/** Repeats a call until `isOver`, also after errors. Answers how often it succeeded. */
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
  await requireStandby(db)

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
    most = Math.max(most, (await waiting()).length)
    return performance.now() > until
  }
  await expect.poll(watch, { timeout: 20_000, interval: 20 }).toBe(true)
  isOver = true
  expect(most).toBeGreaterThan(POOL_CONNECTIONS)
  expect(most).toBeLessThanOrEqual(ENGINE_CONNECTIONS + POOL_CONNECTIONS)

  await setStandbys(db, '')
  const began = performance.now()
  // No call was answered before the standby confirmed it.
  for (const successes of await Promise.all(hammering)) expect(successes).toBeLessThanOrEqual(1)
  for (const user of users) expect(await engine.submit(reserve(user, 'last', 1))).toMatchObject({ outcome: 'granted' })
  expect(await create(pool, 2_000)).toMatchObject({ outcome: 'created' })
  expect(performance.now() - began).toBeLessThan(20_000)
  expect((await waiting()).length).toBe(0)
})

test('while it is away, a service answers changes with 503, reads, and says that it is ready', async () => {
  const AUTH_SECRET = 'a secret for tests only, long enough for HS256'
  const service = await site.start({ DATABASE_URL: url, AUTH_SECRET })
  await requireStandby(db)
  const change = service.call('POST', '/api/sms/admin/quota', { body: { user_id: 5_000, limit: 1 } })
  await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0)
  expect(await service.call('GET', '/readyz')).toMatchObject({ status: 200 })
  expect(await service.call('GET', '/api/sms/admin/quota/list')).toMatchObject({ status: 200 })
  expect(await change).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  await setStandbys(db, '')
  await service.stop()
})
