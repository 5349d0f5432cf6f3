/**
 * Connections whose other end disappears without closing them, as when a machine loses its power or a firewall forgets
 * what it let through. Nothing tells the service but the time that passes without an answer. Each test waits that time.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { createQuota } from '../../src/admin/quotas/create-quota.ts'
import { isUnavailable, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { countersOf, createBench, differences, reserve, someone } from '../support/engine.ts'
import { createNetwork, type Network } from '../support/network.ts'

const bench = await createBench()
const { db, url } = bench

/** For the tests of an engine, which run at the same time: each takes one. */
const networks = await Promise.all(Array.from({ length: 4 }, () => bench.network()))
function takeNetwork(): Network {
  const network = networks.pop()
  if (network === undefined) throw new RangeError('more tests than networks')
  return network
}

/** How long full service may be away. */
const BOUND_MS = 10_000

/** The bench would close the engines of all tests that run at the same time when the first of them ends. */
const engines: Engine[] = []
afterAll(() => Promise.all(engines.map(engine => engine.close())))

/** What an engine answers after its first command, which opens its connection. */
async function engineBehind(network: Network) {
  const user = someone()
  const { id } = await bench.quota({ user_id: user })
  const log = { info() {}, warn() {}, error() {} }
  const engine = createEngine({ ...bench.behind(network), now: () => bench.clock.now, log, lockTimeoutMs: 900 })
  engines.push(engine)
  expect(await engine.submit(reserve(user, 'first', 1))).toMatchObject({ outcome: 'granted' })
  return { engine, user, quota: id }
}

describe.concurrent('an engine', () => {
  // Half of a batch leaves the server with locked rows, and waiting for the rest.
  test.for(['nothing', 'half', 'all'] as const)(
    'answers within 10 s if the server got %s of the last batch of a dead connection',
    { timeout: 30_000 },
    async (delivered, { expect }) => {
      const network = takeNetwork()
      const { engine, user, quota } = await engineBehind(network)
      const { swallowed } = network.swallowNextCommit(delivered)
      const began = performance.now()
      const asked = engine.submit(reserve(user, 'm1', 5))
      await swallowed
      expect(await asked).toMatchObject({ outcome: 'granted', replayed: false })
      expect(performance.now() - began).toBeLessThan(BOUND_MS)
      expect(await countersOf(db, quota)).toEqual({ used: 0, reserved: 6 })
    },
  )

  test('answers everyone within 10 s if all its connections are dead', { timeout: 60_000 }, async ({ expect }) => {
    const network = takeNetwork()
    const { engine } = await engineBehind(network)
    const users = Array.from({ length: 40 }, () => someone())
    for (const user of users) await bench.quota({ user_id: user })
    await Promise.all(users.map(user => engine.submit(reserve(user, 'm0', 1))))
    network.swallowAll()
    const began = performance.now()
    const answers = await Promise.all(users.map(user => engine.submit(reserve(user, 'm1', 1))))
    expect(performance.now() - began).toBeLessThan(BOUND_MS)
    expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['granted']))
  })
})

describe.concurrent('a pool', async () => {
  const network = await createNetwork(url)
  test('serves again within 10 s if all its connections are dead', { timeout: 200_000 }, async ({ expect }) => {
    const pool = openDatabase({ url: network.url })
    const user = someone()
    const author = { now: bench.clock.now, actor: 'ada', requestId: 'test' }
    const create = () => pool.transaction(tx => createQuota(tx, { user_id: user, limit: 1 }, author))
    await Promise.all(Array.from({ length: 10 }, () => pool.query({ text: sql`select pg_sleep(0.1)` })))
    network.swallowAll()
    const began = performance.now()
    // One call after the other: each would take another dead connection.
    let failures = 0
    for (; ; failures++) {
      const error = await create().then(
        () => undefined,
        (error: unknown) => error,
      )
      if (error === undefined) break
      expect(isUnavailable(error)).toBe(true)
    }
    expect(failures).toBe(1)
    expect(performance.now() - began).toBeLessThan(BOUND_MS)
    await pool.close()
  })
})

test('counters equal the ledger', async () => {
  expect(await differences(db)).toEqual([])
})
