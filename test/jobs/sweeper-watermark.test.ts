/** The time up to which every reservation is closed, which all processes share. */
import { describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Sweeper } from '../../src/jobs/sweeper.ts'
import { databaseOnOwnServer } from '../support/database.ts'
import { createBench, openTransaction, reserve, someone } from '../support/engine.ts'
import { createSweeping, MINUTE_MS } from './sweeper-fixture.ts'

// The watermark waits for every transaction of its server.
const bench = await createBench(databaseOnOwnServer())
const { db, clock } = bench
const engine = bench.engine()
const { later, sweeperOf, sweepAll, found } = createSweeping(bench, engine)

/**
 * A piece that is checked ends two minutes before the last synchronization. What is concluded from it is written at the
 * next one, a minute later. A piece chosen just before adds one more.
 */
const MINUTES_TO_RAISE = 4

/** The earliest watermark of all shards. */
async function watermark(): Promise<EpochMs> {
  const [row] = await db.query<{ until: EpochMs }>({
    text: sql`select min(closed_until) as until from sweeper_watermark`,
  })
  return row?.until ?? Number.NaN
}

/** Sweeps each minute until the watermark must cover this time, and checks that it does. */
async function raiseWatermark(sweeper: Sweeper): Promise<void> {
  const target = clock.now
  for (let minute = 0; minute < MINUTES_TO_RAISE; minute++) await sweepAll(sweeper, later(MINUTE_MS))
  expect(await watermark()).toBeGreaterThanOrEqual(target)
}

describe('the watermark', () => {
  const SETTLED = 20_000

  /** Consumptions of the last 35 days, the last of them two days ago. */
  async function settle35Days(): Promise<void> {
    await db.query({
      text: sql`insert into reservation
      select n % 64, n % 500 + 1e9, 'old' || n, 0, 'consume', 1, null, 'otp', false, false, 1, 1, 0, 0, 'release', false,
        '{}', at, at, at
      from generate_series(1, $2::int) n, lateral (select to_timestamp($1::bigint / 1000.0)
        - interval '2 days' - n * interval '33 days' / $2::int as at) t`,
      values: [clock.now, SETTLED],
    })
  }

  /** How many entries of the sweeper's index `work` reads, on a connection of its own. */
  async function entriesRead(work: (on: Database) => Promise<unknown>): Promise<number> {
    const one = openDatabase({ url: bench.url, maxConnections: 1 })
    const count = async () => {
      await one.query({ text: sql`select pg_stat_force_next_flush()` })
      const [row] = await one.query<{ read: number }>({
        text: sql`select idx_tup_read as read from pg_stat_user_indexes where indexrelname = 'reservation_expiry'`,
      })
      return row?.read ?? Number.NaN
    }
    try {
      const before = await count()
      await work(one)
      return (await count()) - before
    } finally {
      await one.close()
    }
  }

  test('keeps settled reservations from being read again, after a start and each day', async () => {
    await settle35Days()
    await db.query({ text: sql`update sweeper_watermark set closed_until = '-infinity'` })
    expect(await entriesRead(on => sweepAll(sweeperOf({ db: on })))).toBeGreaterThanOrEqual(SETTLED)
    await raiseWatermark(sweeperOf())
    const read = await entriesRead(async on => {
      const sweeper = sweeperOf({ db: on })
      await sweepAll(sweeper)
      for (let day = 0; day < 3; day++) await sweepAll(sweeper, later(DAY_MS))
    })
    expect(read).toBeLessThan(SETTLED / 10)
    await db.query({ text: sql`delete from reservation where user_id >= 1e9` })
  })

  test('waits for transactions that began before, and covers what they commit', async () => {
    const sweeper = sweeperOf()
    await raiseWatermark(sweeper)
    // A command may be decided that long before its transaction begins, and its process may be behind.
    expect(await watermark()).toBeLessThanOrEqual(clock.now - 2 * MINUTE_MS)
    const user = someone()
    await bench.quota({ user_id: user, starts_at: clock.now - DAY_MS })
    // Like a commit that waits for a standby.
    const waiting = await openTransaction(db, tx => tx.query({ text: sql`select pg_current_xact_id()` }))
    const began = clock.now
    for (let minute = 0; minute < 10; minute++) await sweepAll(sweeper, later(MINUTE_MS))
    expect(await watermark()).toBeLessThan(began + MINUTE_MS)
    const held = bench.engine({ now: () => began + MINUTE_MS })
    await held.submit(reserve(user, 'held', 1, { ttl_ms: 1_000 }))
    await waiting.commit()
    for (let minute = 0; minute < MINUTES_TO_RAISE; minute++) await sweepAll(sweeper, later(MINUTE_MS))
    expect(await found(user, 'held')).toMatchObject({ expired: true })
    // Found open, it is checked again the next day.
    await sweepAll(sweeper, later(DAY_MS))
    await raiseWatermark(sweeper)
  })

  test('stops before a reservation that cannot be closed, and goes on when it is', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'm', 5, { ttl_ms: 1_000 }))
    const due = later(1_000)
    let isBroken = true
    const submit: Engine['submit'] = command => (isBroken ? Promise.reject(new Error('a bug')) : engine.submit(command))
    const sweeper = sweeperOf({ engine: { submit } })
    for (let minute = 0; minute < 20; minute++) await sweepAll(sweeper, later(MINUTE_MS))
    expect(await watermark()).toBeLessThan(due)
    isBroken = false
    // A start finds it however long ago it was due.
    later(50 * DAY_MS)
    const other = sweeperOf()
    expect((await sweepAll(other)).closed).toBe(1)
    await raiseWatermark(other)
  })

  test('is not believed while it is in the future, where a wrong clock may have led it', async () => {
    await db.query({
      text: sql`update sweeper_watermark set closed_until = to_timestamp($1::bigint / 1000)`,
      values: [clock.now + 10 * DAY_MS],
    })
    const user = someone()
    await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'm', 5, { ttl_ms: 1_000 }))
    later(3 * DAY_MS)
    const sweeper = sweeperOf()
    expect((await sweepAll(sweeper)).closed).toBe(1)
    expect(await watermark()).toBeLessThan(clock.now)
    await raiseWatermark(sweeper)
  })

  test('is raised by several sweepers at once', async () => {
    const sweepers = [sweeperOf(), sweeperOf(), sweeperOf()]
    const target = clock.now
    // The transactions of one may delay another.
    for (let minute = 0; minute < 3 * MINUTES_TO_RAISE; minute++) {
      later(MINUTE_MS)
      await Promise.all(sweepers.map(sweeper => sweepAll(sweeper)))
    }
    expect(await watermark()).toBeGreaterThanOrEqual(target)
  })

  test('is undercut by 30 hours each day, for reservations that were committed behind it', async () => {
    const sweeper = sweeperOf()
    await sweepAll(sweeper)
    await raiseWatermark(sweeper)
    await sweepAll(sweeper, later(DAY_MS))
    const walkedAt = clock.now
    // Above the reservation to come: otherwise raising the watermark would find it.
    await raiseWatermark(sweeper)
    const user = someone()
    await bench.quota({ user_id: user, starts_at: clock.now - DAY_MS })
    const held = bench.engine({ now: () => clock.now - HOUR_MS })
    await held.submit(reserve(user, 'very late', 1, { ttl_ms: 1_000 }))
    expect((await sweepAll(sweeper, later(walkedAt + DAY_MS - 1 - clock.now))).closed).toBe(0)
    expect((await sweepAll(sweeper, later(1))).closed).toBe(1)
  })
})
