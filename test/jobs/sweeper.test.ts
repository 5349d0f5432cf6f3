import { describe, expect, test } from 'vitest'
import { deleteQuota } from '../../src/admin/quotas/delete-quota.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import type { Command } from '../../src/domain/units/command.ts'
import { Unavailable } from '../../src/engine/completion.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createJobRunner } from '../../src/jobs/runner.ts'
import { countersOf, createBench, differences, draw, neighbours, reserve, settle, someone } from '../support/engine.ts'
import { createSweeping, MINUTE_MS } from './sweeper-fixture.ts'

const bench = await createBench()
const { db, clock } = bench
// Lanes share the queue.
const engine = bench.engine({ queueCommands: 50_000 * bench.lanes })
const { later, sweeperOf, sweepAll, found } = createSweeping(bench, engine)

describe('a due reservation', () => {
  test('is closed when it expires, not before', async () => {
    const sweeper = sweeperOf()
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'm', 5, { ttl_ms: 10_000 }))
    expect((await sweepAll(sweeper, later(9_999))).closed).toBe(0)
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 5 })
    expect((await sweepAll(sweeper, later(1))).closed).toBe(1)
    expect(await found(user, 'm')).toEqual({ committed: 0, released: 5, refunded: 0, expired: true })
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 0 })
  })

  test('is committed if the sender chose that', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'm', 5, { ttl_ms: 10_000, on_expiry: 'commit' }))
    later(10_000)
    expect((await sweepAll(sweeperOf())).closed).toBe(1)
    expect(await found(user, 'm')).toEqual({ committed: 5, released: 0, refunded: 0, expired: true })
    expect(await countersOf(db, id)).toEqual({ used: 5, reserved: 0 })
  })

  test('is one with units outstanding', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await engine.submit(draw('consume', user, 'used', 1))
    await engine.submit(reserve(user, 'settled', 2, { ttl_ms: 10_000 }))
    await engine.submit(settle('commit', user, 'settled'))
    await engine.submit(reserve(user, 'in part', 10, { ttl_ms: 10_000 }))
    await engine.submit(settle('commit', user, 'in part', 4))
    await engine.submit(settle('release', user, 'in part', 1))
    later(10_000)
    expect((await sweepAll(sweeperOf())).closed).toBe(1)
    expect(await found(user, 'in part')).toEqual({ committed: 4, released: 6, refunded: 0, expired: true })
    expect(await countersOf(db, id)).toEqual({ used: 7, reserved: 0 })
  })

  test('is closed even if its quotas have expired or are deleted, or its window has ended', async () => {
    const user = someone()
    const ended = await bench.quota({ user_id: user, limit: 5, priority: 1, expires_at: clock.now + 5_000 })
    const deleted = await bench.quota({ user_id: user, limit: 5, priority: 2 })
    const rolled = await bench.quota({ user_id: user, limit: 5, period: 'hour' })
    await engine.submit(reserve(user, 'm', 15, { ttl_ms: 2 * HOUR_MS }))
    await deleteQuota(db, deleted.id, bench.author(), () => true)
    later(2 * HOUR_MS)
    expect((await sweepAll(sweeperOf())).closed).toBe(1)
    for (const quota of [ended, deleted, rolled]) {
      expect(await countersOf(db, quota.id)).toEqual({ used: 0, reserved: 0 })
    }
    expect(await differences(db)).toEqual([])
  })
})

describe('many reservations', () => {
  async function reserveMany(count: number, ttl: (n: number) => number): Promise<void> {
    const users = Array.from({ length: 20 }, () => someone())
    for (const user of users) await bench.quota({ user_id: user, limit: 1_000_000 })
    await Promise.all(
      Array.from({ length: count }, (_, n) =>
        engine.submit(reserve(users[n % users.length] ?? 0, `m${n}`, 1, { ttl_ms: ttl(n) })),
      ),
    )
  }

  async function countOpen(): Promise<number> {
    const [row] = await db.query<{ open: number }>({
      text: sql`select count(*) as open from reservation where committed + released < units`,
    })
    return row?.open ?? -1
  }

  /** The engine, with a count of the commands in flight. */
  function watchEngine(): { engine: Pick<Engine, 'submit'>; max(): number } {
    let [inFlight, max] = [0, 0]
    return {
      max: () => max,
      engine: {
        submit(command) {
          inFlight += 1
          max = Math.max(max, inFlight)
          return engine.submit(command).finally(() => {
            inFlight -= 1
          })
        },
      },
    }
  }

  test('that expire together are closed in bounded steps', async () => {
    await reserveMany(5_000, () => 10_000)
    later(10_000)
    const watched = watchEngine()
    const { closed, steps } = await sweepAll(sweeperOf({ engine: watched.engine }))
    expect(closed).toBe(5_000)
    expect(Math.max(...steps.map(step => step.closed))).toBeLessThanOrEqual(500)
    expect(watched.max()).toBeLessThanOrEqual(500)
    expect(await countOpen()).toBe(0)
    expect(await differences(db)).toEqual([])
  })

  test('are closed once by several concurrent sweepers', async () => {
    await reserveMany(1_000, n => 1_000 + n)
    later(2_000)
    const other = bench.engine()
    await Promise.all([sweepAll(sweeperOf()), sweepAll(sweeperOf({ engine: other })), sweepAll(sweeperOf())])
    expect(await countOpen()).toBe(0)
    expect(await differences(db)).toEqual([])
  })

  test('that expired during a long stop are found, the latest first', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    for (const [id, days] of [
      ['first', 1],
      ['last', 200],
      ['middle', 170],
    ] as const) {
      await engine.submit(reserve(user, id, 1, { ttl_ms: days * DAY_MS }))
    }
    later(200 * DAY_MS + MINUTE_MS)
    const closings: string[] = []
    const submit = (command: Command) => {
      closings.push(command.id)
      return engine.submit(command)
    }
    const { steps } = await sweepAll(sweeperOf({ engine: { submit } }))
    expect(closings).toEqual(['last', 'middle', 'first'])
    expect(steps[0]?.closed).toBe(1)
    expect(steps.length).toBeLessThan(40)
  })
})

describe('reading', () => {
  /** The database, with a count of its transactions. */
  function countTransactions(): { db: Database; count(): number } {
    let count = 0
    return {
      count: () => count,
      db: {
        ...db,
        transaction(work, mode) {
          count += 1
          return db.transaction(work, mode)
        },
      },
    }
  }

  test('skips settled reservations once, a page at a time, and then takes one query per step for all shards', async () => {
    const user = someone()
    await bench.quota({ user_id: user, limit: 1_000_000 })
    for (let n = 0; n < 1_000; n += 1) {
      // Groups of fifty expire at different times.
      if (n % 50 === 0) later(1)
      void engine.submit(draw('consume', user, `c${n}`, 1))
      if (n % 50 === 49) await engine.submit(draw('check', user, '', 1))
    }
    const counted = countTransactions()
    const sweeper = sweeperOf({ db: counted.db })
    await sweepAll(sweeper)
    // Ten pages of a hundred, and the queries that go back over the years.
    expect(counted.count()).toBeGreaterThan(10)
    const before = counted.count()
    expect(await sweeper.sweepOnce(later(1_000))).toEqual({ closed: 0, pending: 'none' })
    expect(counted.count() - before).toBe(1)
  })

  test('repeats the last two minutes each minute, for reservations that were committed late', async () => {
    const sweeper = sweeperOf()
    await sweepAll(sweeper)
    const user = someone()
    await bench.quota({ user_id: user, starts_at: clock.now - DAY_MS })
    // Like a batch that waited for its commit: its timestamp is swept before it commits.
    const slow = bench.engine({ now: () => clock.now - 30_000 })
    await slow.submit(reserve(user, 'late', 1, { ttl_ms: 1_000 }))
    expect((await sweepAll(sweeper, later(1_000))).closed).toBe(0)
    expect((await sweepAll(sweeper, later(58_999))).closed).toBe(0)
    expect((await sweepAll(sweeper, later(1))).closed).toBe(1)
    expect((await sweepAll(sweeper, later(MINUTE_MS))).closed).toBe(0)
  })
})

test('a clock that is set back does not keep reservations from being closed', async () => {
  const user = someone()
  await bench.quota({ user_id: user })
  const sweeper = sweeperOf()
  await sweepAll(sweeper, clock.now + 10 * DAY_MS)
  await engine.submit(reserve(user, 'm', 5, { ttl_ms: 1_000 }))
  expect((await sweepAll(sweeper, later(1_000))).closed).toBe(1)
})

describe('a reservation that cannot be closed', () => {
  const away = new Unavailable()

  test('because the store is away is closed when the store is back', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'm', 5, { ttl_ms: 1_000 }))
    let isAway = true
    const submit: Engine['submit'] = command => (isAway ? Promise.reject(away) : engine.submit(command))
    const sweeper = sweeperOf({ engine: { submit } })
    expect(await sweeper.sweepOnce(later(1_000))).toEqual({ closed: 0, pending: 'none' })
    expect(await sweeper.sweepOnce(later(1_000))).toEqual({ closed: 0, pending: 'none' })
    isAway = false
    expect(await sweeper.sweepOnce(later(1_000))).toMatchObject({ closed: 1 })
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 0 })
  })

  test('because its user is locked does not delay those of other users', async () => {
    // Of one shard: the page that names the other one comes after a page of the locked one's.
    const [locked = 0, other = 0] = neighbours(2)
    for (const user_id of [locked, other]) await bench.quota({ user_id })
    const ids = Array.from({ length: 800 }, (_, n) => `m${n}`)
    await Promise.all(ids.map(id => engine.submit(reserve(locked, id, 1, { ttl_ms: 1_000 }))))
    await engine.submit(reserve(other, 'm', 1, { ttl_ms: 1_001 }))
    const submit: Engine['submit'] = command =>
      command.user_id === locked ? Promise.reject(away) : engine.submit(command)
    const sweeper = sweeperOf({ engine: { submit } })
    later(1_001)
    for (let step = 0; step < 3; step++) await sweeper.sweepOnce(clock.now)
    expect(await found(other, 'm')).toMatchObject({ expired: true })
    expect((await sweepAll(sweeperOf())).closed).toBe(800)
  })

  test('because of a bug is logged when it is due and when reading back, and tried again the next day', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'm', 5, { ttl_ms: 1_000 }))
    let isBroken = true
    const logged: object[] = []
    const sweeper = sweeperOf({
      engine: { submit: command => (isBroken ? Promise.reject(new Error('a bug')) : engine.submit(command)) },
      log: { info() {}, warn() {}, error: fields => logged.push(fields) },
    })
    await sweepAll(sweeper, later(1_000))
    await sweepAll(sweeper, later(MINUTE_MS))
    expect(logged).toHaveLength(2)
    // Once more when the watermark comes to it, and not each minute.
    for (let minute = 0; minute < 10; minute++) await sweepAll(sweeper, later(MINUTE_MS))
    expect(logged.length).toBeLessThanOrEqual(3)
    expect(logged[0]).toMatchObject({ reservation: { user_id: user, id: 'm' } })
    isBroken = false
    expect((await sweepAll(sweeper, later(DAY_MS))).closed).toBe(1)
  })
})

test('as a job it runs until the runner stops', async () => {
  const user = someone()
  await bench.quota({ user_id: user })
  await engine.submit(reserve(user, 'm', 5, { ttl_ms: 1_000 }))
  later(1_000)
  const swept = Promise.withResolvers<void>()
  const sweeper = sweeperOf({ onSweep: ({ closed }) => closed === 1 && swept.resolve() })
  const jobs = createJobRunner([sweeper], { log: { info() {}, warn() {}, error() {} } })
  jobs.start()
  await swept.promise
  await jobs.stop()
  expect(await found(user, 'm')).toMatchObject({ released: 5, expired: true })
})

test('looks less often after it found nothing for a while, if it is to, and as before once it finds something', async () => {
  const user = someone()
  await bench.quota({ user_id: user })
  const sweeper = sweeperOf({ idleMs: 7_000 })
  await sweepAll(sweeper, later(1_000))
  const { signal } = new AbortController()
  const pauses: number[] = []
  for (let n = 0; n < 12; n++) pauses.push((await sweeper.step(signal)).pauseMs(1))
  expect(pauses).toEqual([...Array(10).fill(1_000), 7_000, 7_000])
  await engine.submit(reserve(user, 'm', 5, { ttl_ms: 1_000 }))
  later(1_000)
  expect((await sweeper.step(signal)).pauseMs(1)).toBe(1_000)
  expect(await found(user, 'm')).toMatchObject({ expired: true })
})
