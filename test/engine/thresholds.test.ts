/** The events of thresholds reached and of reservations that expire, on a real database. */
import { describe, expect, test } from 'vitest'
import { updateQuota } from '../../src/admin/quotas/change-quota.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import {
  createBench,
  differences,
  draw,
  makeLocked,
  neighbours,
  reserve,
  settle,
  someone,
  warm,
} from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
interface Row {
  number: number
  sequence: number
  type: string
  data: { quota?: { id: number; used: number }; reservation?: object; percent?: number; sendable?: object }
}

const eventsOf = (user: number) =>
  db.query<Row>({
    text: sql`select number, sequence, type, data from event where user_id = $1 order by number`,
    values: [user],
  })

/** The percents of a user's threshold events, in order. */
async function percentsOf(user: number): Promise<(number | undefined)[]> {
  const rows = await eventsOf(user)
  return rows.filter(({ type }) => type === 'quota.threshold_reached').map(({ data }) => data.percent)
}

const consume = (user: number, id: string, units: number) => draw('consume', user, id, units)

describe.each(['locked', 'optimistic'] as const)('%s mode', mode => {
  test('emits each percent again after a top-up has made room above it', async () => {
    const engine = bench.engine()
    const user = someone()
    const { id } = await bench.quota({ user_id: user, limit: 100 })
    await (mode === 'locked' ? makeLocked(engine, bench) : warm(engine, user))
    await engine.submit(consume(user, 'a', 100))
    expect(await percentsOf(user)).toEqual([80, 100])
    await updateQuota(db, id, { limit: 200 }, bench.author(), () => true)
    await engine.submit(consume(user, 'b', 59))
    expect(await percentsOf(user)).toEqual([80, 100])
    await engine.submit(consume(user, 'c', 1))
    await engine.submit(settle('refund', user, 'c'))
    await engine.submit(consume(user, 'd', 41))
    expect(await percentsOf(user)).toEqual([80, 100, 80, 100])
    expect(await differences(db)).toEqual([])
  })

  test('says what the user can still send, by all quotas that count such messages', async () => {
    const engine = bench.engine()
    const user = someone()
    await bench.quota({ user_id: user, limit: 100, countries: ['DE'], priority: 1 })
    await bench.quota({ user_id: user, limit: 50 })
    await bench.quota({ user_id: user, limit: 1_000, enabled: false })
    const { id: cap } = await bench.quota({ user_id: user, kind: 'cap', limit: 90, alert_at: [] })
    await (mode === 'locked' ? makeLocked(engine, bench) : warm(engine, user))
    await engine.submit(draw('consume', user, 'a', 80, { country: 'DE' }))
    // 20 and 50 units are left, and the cap allows 10 of them.
    const sendableAt = async (index: number) => (await eventsOf(user)).at(index)?.data.sendable
    expect(await sendableAt(-1)).toEqual({ units: 10, country: 'DE', message_type: null })
    // By an administrator, of the same user.
    await updateQuota(db, cap, { limit: 85, alert_at: [90] }, bench.author(), () => true)
    expect(await sendableAt(-1)).toEqual({ units: 5, country: null, message_type: null })
  })

  test('emits each percent once, with the quota as it is then', async () => {
    const engine = bench.engine()
    const user = someone()
    const { id } = await bench.quota({ user_id: user, limit: 100, name: 'Q "1" \\ {x}', metadata: { a: '"}' } })
    await (mode === 'locked' ? makeLocked(engine, bench) : warm(engine, user))
    await engine.submit(consume(user, 'a', 79))
    expect(engine.reports.at(-1)?.mode).toBe(mode)
    expect(await percentsOf(user)).toEqual([])
    await engine.submit(consume(user, 'b', 1))
    expect(await percentsOf(user)).toEqual([80])
    await engine.submit(settle('refund', user, 'b'))
    await engine.submit(consume(user, 'c', 1))
    await engine.submit(consume(user, 'd', 20))
    expect(await percentsOf(user)).toEqual([80, 100])
    const rows = await eventsOf(user)
    expect(rows.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
    const view = { id, name: 'Q "1" \\ {x}', metadata: { a: '"}' }, version: 1, created_by: 'ada', limit: 100 }
    expect(rows[1]?.data).toMatchObject({ percent: 80, quota: { ...view, used: 80, remaining: 20, status: 'active' } })
    expect(rows[2]?.data).toMatchObject({ percent: 100, quota: { ...view, used: 100, status: 'exhausted' } })
    expect(Object.keys(rows[1]?.data.quota ?? {})).toEqual(Object.keys(rows[0]?.data.quota ?? {}))
  })

  test('emits several percents of one batch, of several users, and those refunded within the batch', async () => {
    const engine = bench.engine()
    const users = neighbours(3)
    const [jumper = 0, returner = 0, quiet = 0] = users
    for (const user of users) await bench.quota({ user_id: user, limit: 100, alert_at: [10, 50, 90] })
    if (mode === 'locked') await makeLocked(engine, bench)
    else for (const user of users) await warm(engine, user)
    await Promise.all([
      engine.submit(consume(jumper, 'a', 95)),
      engine.submit(reserve(returner, 'a', 60)),
      engine.submit(settle('commit', returner, 'a')),
      engine.submit(settle('refund', returner, 'a')),
      engine.submit(reserve(quiet, 'a', 95)),
    ])
    expect(await percentsOf(jumper)).toEqual([10, 50, 90])
    expect(await percentsOf(returner)).toEqual([10, 50])
    expect(await percentsOf(quiet)).toEqual([])
    await engine.submit(consume(returner, 'b', 50))
    expect(await percentsOf(returner)).toEqual([10, 50])
    for (const user of users) {
      const sequences = (await eventsOf(user)).map(({ sequence }) => sequence)
      expect(sequences).toEqual(sequences.map((_, index) => index + 1))
    }
  })

  test('emits again in a new window', async () => {
    const engine = bench.engine()
    const user = someone()
    await bench.quota({ user_id: user, limit: 100, period: 'hour' })
    await engine.submit(consume(user, 'a', 80))
    clock.now += HOUR_MS
    await (mode === 'locked' ? makeLocked(engine, bench) : warm(engine, user))
    await engine.submit(consume(user, 'b', 79))
    expect(await percentsOf(user)).toEqual([80])
    await engine.submit(consume(user, 'c', 1))
    expect(await percentsOf(user)).toEqual([80, 80])
    // A late settlement corrects a closed window and emits nothing.
    await engine.submit(reserve(user, 'late', 20, { ttl_ms: 2 * HOUR_MS }))
    clock.now += HOUR_MS
    await engine.submit(settle('commit', user, 'late'))
    expect(await percentsOf(user)).toEqual([80, 80])
    // One batch rolls the quota and reaches the thresholds.
    clock.now += HOUR_MS
    await engine.submit(consume(user, 'd', 100))
    expect(await percentsOf(user)).toEqual([80, 80, 80, 100])
  })
})

test('lowering the limit emits the thresholds that it reaches, and the engine does not repeat them', async () => {
  const engine = bench.engine()
  const user = someone()
  const { id } = await bench.quota({ user_id: user, limit: 100 })
  await warm(engine, user)
  await engine.submit(consume(user, 'a', 50))
  await updateQuota(db, id, { limit: 60 }, bench.author(), () => true)
  expect((await eventsOf(user)).map(({ type }) => type).slice(1)).toEqual(['quota.updated', 'quota.threshold_reached'])
  await updateQuota(db, id, { limit: 1_000 }, bench.author(), () => true)
  await engine.submit(consume(user, 'b', 750))
  expect(await percentsOf(user)).toEqual([80, 80])
  await engine.submit(consume(user, 'c', 200))
  expect(await percentsOf(user)).toEqual([80, 80, 100])
})

test('two engines and an administrator at once: each percent once, numbers and sequences without a gap', async () => {
  const engines = [bench.engine(), bench.engine()]
  const users = neighbours(4)
  const percents = Array.from({ length: 100 }, (_, index) => index + 1)
  const quotas = await Promise.all(users.map(user => bench.quota({ user_id: user, limit: 200, alert_at: percents })))
  const senders = Array.from({ length: 200 }, async (_, n) => {
    for (const user of users) await engines[n % 2]?.submit(consume(user, `m${n}`, 1))
  })
  const administrators = quotas.map(async ({ id }) => {
    for (let n = 0; n < 5; n++) await updateQuota(db, id, { name: `n${n}` }, bench.author(), () => true)
  })
  await Promise.all([...senders, ...administrators])
  for (const user of users) {
    const emitted = await percentsOf(user)
    expect(emitted.toSorted((one = 0, other = 0) => one - other)).toEqual(percents)
  }
  const gaps = await db.query({
    text: sql`select shard from event group by shard having max(number) <> count(*) union all
      select shard from event group by shard, user_id having max(sequence) <> count(*) union all
      select shard from shard_head h where last_event <> (select count(*) from event e where e.shard = h.shard)`,
  })
  expect(gaps).toEqual([])
})

test('a batch without events does not wait for the lock on the outbox head', async () => {
  const engine = bench.engine()
  const user = someone()
  await bench.quota({ user_id: user, limit: 100 })
  const stranger = await bench.stranger()
  await stranger.query(`begin; select 1 from shard_head where shard = ${shardOf(user)} for update`)
  expect(await engine.submit(consume(user, 'a', 79))).toMatchObject({ outcome: 'granted' })
  await stranger.query('rollback')
})

describe('a reservation that expires', () => {
  test('emits one event with what became of its units', async () => {
    const engine = bench.engine()
    const user = someone()
    await bench.quota({ user_id: user, limit: 100 })
    await engine.submit(reserve(user, 'freed', 10, { ttl_ms: 1_000 }))
    await engine.submit(settle('commit', user, 'freed', 4))
    await engine.submit(reserve(user, 'taken', 80, { ttl_ms: 1_000, on_expiry: 'commit', country: 'DE' }))
    clock.now += 1_000
    for (const id of ['freed', 'freed', 'taken']) await engine.submit({ op: 'expire', user_id: user, id })
    const rows = (await eventsOf(user)).slice(1)
    expect(rows).toMatchObject([
      {
        type: 'reservation.expired',
        data: { reservation: { id: 'freed', user_id: user, units: 10, committed: 4 }, released: 6, committed: 0 },
      },
      { type: 'reservation.expired', data: { reservation: { id: 'taken' }, released: 0, committed: 80 } },
      { type: 'quota.threshold_reached', data: { percent: 80, quota: { used: 84 } } },
    ])
  })

  test('emits an event through a command that finds it expired, also from memory', async () => {
    const engine = bench.engine()
    const user = someone()
    await bench.quota({ user_id: user, limit: 100 })
    await warm(engine, user)
    await engine.submit(reserve(user, 'm', 10, { ttl_ms: 1_000, on_expiry: 'commit' }))
    clock.now += 1_000
    await engine.submit(settle('refund', user, 'm', 3))
    expect(engine.reports.at(-1)?.mode).toBe('optimistic')
    expect((await eventsOf(user)).slice(1)).toMatchObject([
      { type: 'reservation.expired', data: { reservation: { id: 'm', refunded: 3 }, released: 0, committed: 10 } },
    ])
  })

  test('emits nothing if it was settled in time', async () => {
    const engine = bench.engine()
    const user = someone()
    await bench.quota({ user_id: user, limit: 100 })
    await engine.submit(reserve(user, 'm', 10, { ttl_ms: 1_000 }))
    await engine.submit(settle('release', user, 'm'))
    clock.now += 1_000
    await engine.submit({ op: 'expire', user_id: user, id: 'm' })
    expect(await eventsOf(user)).toHaveLength(1)
  })
})

test('after all of these tests the counters equal the ledger', async () => {
  expect(await differences(db)).toEqual([])
})
