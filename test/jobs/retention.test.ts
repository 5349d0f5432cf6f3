import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import type { Outcome } from '../../src/domain/units/command.ts'
import { createRetention, type RetentionOptions } from '../../src/jobs/retention.ts'
import { createJobRunner } from '../../src/jobs/runner.ts'
import {
  countersOf,
  createBench,
  draw,
  expectVerified,
  neighbours,
  openTransaction,
  reserve,
  START,
  settle,
  someone,
} from '../support/engine.ts'

const KEPT = 35 * DAY_MS
const bench = await createBench()
const { db, clock } = bench
const engine = bench.engine()

/** Moves the clock forward. It never goes back: each test starts where the previous one ended. */
function later(ms: number): EpochMs {
  clock.now += ms
  return clock.now
}

function retentionOf(options: Partial<RetentionOptions> = {}): ReturnType<typeof createRetention> {
  return createRetention({ db, now: () => clock.now, ...options })
}

/** Retires until there is nothing more to do at this time. */
async function retireAll(retention: ReturnType<typeof createRetention>, now = clock.now): Promise<number> {
  let removed = 0
  for (;;) {
    const step = await retention.removeOnce(now)
    removed += step.removed
    if (!step.isBehind) return removed
  }
}

async function idsOf(user: number): Promise<string[]> {
  const text = sql`select id from reservation where user_id = $1 order by id`
  return (await db.query<{ id: string }>({ text, values: [user] })).map(({ id }) => id)
}

async function archiveOf(quotaId: number): Promise<{ window_no: number; used: number }[]> {
  const text = sql`select window_no, used from archive where quota_id = $1 order by window_no`
  return db.query({ text, values: [quotaId] })
}

describe('removes', () => {
  test('reservations that have not changed for the retention time, and no sooner', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await engine.submit(draw('consume', user, 'm', 7))
    expect(await retireAll(retentionOf(), clock.now + KEPT - 1)).toBe(0)
    expect(await retireAll(retentionOf(), later(KEPT))).toBe(1)
    expect(await idsOf(user)).toEqual([])
    expect(await archiveOf(id)).toEqual([{ window_no: 0, used: 7 }])
    expect(await countersOf(db, id)).toEqual({ used: 7, reserved: 0 })
    await expectVerified(db, user)
  })

  test('after the configured time, with the ids, which can be used again', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await engine.submit(draw('consume', user, 'm', 7))
    await retireAll(retentionOf({ retentionMs: 1_000 }), later(1_000))
    expect(await engine.submit(settle('refund', user, 'm'))).toEqual({ outcome: 'not_found' })
    expect(await engine.submit(draw('consume', user, 'm', 2))).toMatchObject({ outcome: 'granted', replayed: false })
    await retireAll(retentionOf({ retentionMs: 1_000 }), later(1_000))
    expect(await archiveOf(id)).toEqual([{ window_no: 0, used: 9 }])
    await expectVerified(db, user)
  })

  test('and archives what every draw has used, after partial settlements, too', async () => {
    const user = someone()
    const first = await bench.quota({ user_id: user, limit: 10, priority: 1, opening_used: 2 })
    const second = await bench.quota({ user_id: user, limit: 10, priority: 2 })
    const third = await bench.quota({ user_id: user, limit: 100, priority: 3 })
    const cap = await bench.quota({ user_id: user, kind: 'cap', limit: 1_000 })
    await engine.submit(reserve(user, 'm', 24))
    await engine.submit(settle('commit', user, 'm', 16))
    await engine.submit(settle('refund', user, 'm', 3))
    await engine.submit(settle('release', user, 'm'))
    await engine.submit(draw('consume', user, 'given back', 4))
    await engine.submit(settle('refund', user, 'given back'))
    await engine.submit(draw('consume', user, 'by force', 2_000, { force: true }))
    await engine.submit(draw('consume', someone(), 'unfunded', 5, { force: true }))
    await retireAll(retentionOf(), later(KEPT + DAY_MS))
    expect(await idsOf(user)).toEqual([])
    // Of 'm' 13 units are used, in burn order: 8 of the first, 5 of the second, none of the third. The forced ones
    // follow.
    const used = await Promise.all([first, second, third, cap].map(quota => archiveOf(quota.id)))
    expect(used.map(([archived]) => archived?.used)).toEqual([10, 10, 1_995, 2_013])
    const forced = await db.query({
      text: sql`select a.forced from archive a join quota q on q.shard = a.shard and q.id = a.quota_id where q.user_id = $1 order by q.id`,
      values: [user],
    })
    expect(forced).toEqual([{ forced: 2 }, { forced: 5 }, { forced: 1_995 }, { forced: 2_000 }])
    await expectVerified(db, user)
  })

  test('those of closed windows, too, whose history stays', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, period: 'hour', limit: 10, rollover_limit: 3 })
    for (const hour of ['h0', 'h1', 'h2']) {
      await engine.submit(draw('consume', user, hour, 5))
      later(HOUR_MS)
    }
    const history = () => db.query({ text: sql`select * from quota_window where quota_id = $1`, values: [id] })
    const before = await history()
    await retireAll(retentionOf(), later(KEPT))
    expect(await archiveOf(id)).toMatchObject([{ used: 5 }, { used: 5 }, { used: 5 }])
    expect(await history()).toEqual(before)
    await expectVerified(db, user)
  })
})

describe('keeps', () => {
  test('reservations with units outstanding, until they are settled', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'm', 7, { ttl_ms: 1_000 }))
    await engine.submit(settle('commit', user, 'm', 3))
    const retention = retentionOf()
    expect(await retireAll(retention, later(KEPT + DAY_MS))).toBe(0)
    await engine.submit({ op: 'expire', user_id: user, id: 'm' })
    expect(await retireAll(retention, later(KEPT - 1))).toBe(0)
    // It is behind the point up to which the shard was read, and is found when the shard is read again, within a day.
    expect(await retireAll(retention, later(DAY_MS))).toBe(1)
    await expectVerified(db, user)
  })

  test('reservations that were settled late, for the whole retention time after that', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    await engine.submit(draw('consume', user, 'm', 7))
    later(30 * DAY_MS)
    await engine.submit(settle('refund', user, 'm', 2))
    const retention = retentionOf()
    expect(await retireAll(retention, later(KEPT - 1))).toBe(0)
    expect(await engine.submit(settle('refund', user, 'm', 2))).toMatchObject({ outcome: 'settled', replayed: true })
    expect(await retireAll(retention, later(DAY_MS))).toBe(1)
    await expectVerified(db, user)
  })

  test('reservations that another transaction is settling, without waiting for it', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await engine.submit(draw('consume', user, 'm1', 1))
    await engine.submit(draw('consume', user, 'm2', 2))
    const settling = await openTransaction(db, tx =>
      tx.query({
        text: sql`select from reservation where shard = $1 and user_id = $2 and id = 'm1' for update`,
        values: [shardOf(user), user],
      }),
    )
    const retention = retentionOf()
    const removed = await retireAll(retention, later(KEPT))
    await settling.commit()
    expect(removed).toBe(1)
    expect(await idsOf(user)).toEqual(['m1'])
    expect(await retireAll(retention, later(DAY_MS))).toBe(1)
    expect(await archiveOf(id)).toEqual([{ window_no: 0, used: 3 }])
    await expectVerified(db, user)
  })
})

describe('many reservations', () => {
  /** In one shard, each at a different time. */
  async function consumeMany(users: readonly number[], count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      later(1)
      const batch = users.map(user => engine.submit(draw('consume', user, `m${n}`, 1)))
      if (n % 50 === 0) await Promise.all(batch)
    }
    await engine.submit(draw('check', users[0] ?? 0, '', 1))
  }

  test('are removed in bounded steps', async () => {
    const users = neighbours(4)
    for (const user_id of users) await bench.quota({ user_id, limit: 1_000_000 })
    await consumeMany(users, 600)
    later(KEPT)
    const retention = retentionOf()
    const steps = [await retention.removeOnce(clock.now)]
    while (steps.at(-1)?.isBehind) steps.push(await retention.removeOnce(clock.now))
    expect(steps.reduce((sum, { removed }) => sum + removed, 0)).toBe(2_400)
    for (const { removed } of steps) expect(removed).toBeLessThan(1_400)
    expect(steps.length).toBeGreaterThan(1)
    await expectVerified(db, ...users)
  })

  test('are removed once by two concurrent jobs, while others are settled', async () => {
    const users = neighbours(3)
    const quotas = []
    for (const user_id of users) quotas.push(await bench.quota({ user_id, limit: 1_000_000 }))
    await consumeMany(users, 500)
    later(KEPT)
    const late = users.flatMap(user =>
      Array.from({ length: 50 }, (_, n) => () => engine.submit(settle('refund', user, `m${n * 9}`))),
    )
    const outcomes: Outcome[] = []
    const settleAll = async () => {
      for (const refund of late) outcomes.push(await refund())
    }
    const removed = await Promise.all([retireAll(retentionOf()), retireAll(retentionOf()), settleAll()])
    const refunded = outcomes.filter(({ outcome }) => outcome === 'settled').length
    expect(outcomes.filter(({ outcome }) => outcome === 'not_found')).toHaveLength(150 - refunded)
    expect(removed[0] + removed[1]).toBe(1_500 - refunded)
    const counters = await Promise.all(quotas.map(({ id }) => countersOf(db, id)))
    expect(counters.reduce((sum, { used }) => sum + used, 0)).toBe(1_500 - refunded)
    await expectVerified(db, ...users)
  })
})

test('as a job it runs until the runner stops', async () => {
  const user = someone()
  await bench.quota({ user_id: user })
  await engine.submit(draw('consume', user, 'm', 1))
  later(KEPT + 3 * DAY_MS)
  const retired = Promise.withResolvers<void>()
  const retention = retentionOf({ onRetire: ({ removed }) => removed > 0 && retired.resolve() })
  const jobs = createJobRunner([retention], { log: { info() {}, warn() {}, error() {} } })
  jobs.start()
  await retired.promise
  await jobs.stop()
  expect(await idsOf(user)).toEqual([])
  expect(clock.now).toBeGreaterThan(START)
})

test('after all of this, verify finds no difference in any user or shard', async () => {
  expect((await verify(db)).differences).toEqual([])
})
