/** Locks that others hold, commands that the database refuses, a full queue, and shutdown. */
import { afterEach, describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { EngineFailure } from '../../src/engine/completion.ts'
import { createBench, differences, makeLocked, neighbours, reserve, settle, someone } from '../support/engine.ts'
import { countSessions, untilWaiting, waitingSince } from '../support/sessions.ts'

const bench = await createBench()
const { db } = bench
const stranger = await bench.stranger()
afterEach(async () => {
  await stranger.query('rollback')
})

async function lock(table: 'account' | 'quota' | 'reservation', ...users: number[]): Promise<void> {
  await stranger.query('begin')
  const text = `select 1 from ${table} where shard = $1 and user_id = $2 for update`
  for (const user of users) await stranger.query(text, [shardOf(user), user])
}

async function withQuotas(users: number[], limit: number | null = 1_000): Promise<number[]> {
  for (const user of users) await bench.quota({ user_id: user, limit })
  return users
}

/** What became of a call: its outcome, or the name of the engine's failure. Any other error is a bug. */
const became = (call: Promise<{ outcome: string }>) =>
  call.then(
    ({ outcome }) => outcome,
    error => (error instanceof EngineFailure ? error.name : error),
  )

describe('a user’s rows are locked for longer than commands may wait', () => {
  test('in optimistic mode, in locked mode, of a reservation: its commands are unavailable, all others are answered meanwhile', async () => {
    const [engine, inLockedMode] = [bench.engine({ lockTimeoutMs: 100 }), bench.engine({ lockTimeoutMs: 100 })]
    await makeLocked(inLockedMode, bench)
    const modes = []
    for (const each of [engine, inLockedMode])
      modes.push({ each, users: await withQuotas(Array.from({ length: 12 }, () => someone())) })
    const [settling = 0, ...others] = await withQuotas(neighbours(3))
    await engine.submit(reserve(settling, 'm1', 1))
    await lock('quota', ...modes.map(({ users: [held = 0] }) => held))
    await lock('reservation', settling)
    const ofModes = modes.map(async ({ each, users: [held = 0, ...free] }) => {
      const answered: string[] = []
      const calls = [held, ...free, held].map(async (user, n) => {
        answered.push(`${user === held ? 'held' : 'free'} ${await became(each.submit(reserve(user, `m${n}`, 1)))}`)
      })
      await Promise.all(calls)
      expect(answered).toEqual([...free.map(() => 'free granted'), 'held Unavailable', 'held Unavailable'])
    })
    const ofReservation = Promise.all([
      became(engine.submit(settle('commit', settling, 'm1'))),
      ...others.map(user => became(engine.submit(reserve(user, 'm1', 1)))),
    ])
    await Promise.all(ofModes)
    expect(await ofReservation).toEqual(['Unavailable', ...others.map(() => 'granted')])
    await stranger.query('rollback')
    for (const {
      each,
      users: [held = 0],
    } of modes)
      expect(await became(each.submit(reserve(held, 'm0', 1)))).toBe('granted')
  })

  test('an administrator who has locked the account holds up no sender before the change is written', async () => {
    const engine = bench.engine()
    const [user = 0] = await withQuotas([someone()])
    await lock('account', user)
    expect(await became(engine.submit(reserve(user, 'm1', 1)))).toBe('granted')
  })

  test('the next commands of that user run isolated from the start', async () => {
    const engine = bench.engine({ lockTimeoutMs: 100 })
    const [held = 0, free = 0] = await withQuotas([someone(), someone()])
    await lock('quota', held)
    await became(engine.submit(reserve(held, 'm1', 1)))
    const waiting = became(engine.submit(reserve(held, 'm2', 1)))
    await became(engine.submit(reserve(free, 'm1', 1)))
    await untilWaiting(db, 1)
    engine.reports.length = 0
    await became(engine.submit(reserve(free, 'm2', 1)))
    expect(engine.reports).toMatchObject([{ commands: 1, retries: 0 }])
    await stranger.query('rollback')
    expect(await waiting).toBe('granted')
  })

  test('for a second: so long its commands wait, however short the wait of others is', async () => {
    const engine = bench.engine({ lockTimeoutMs: 10 })
    const [user = 0] = await withQuotas([someone()])
    await lock('quota', user)
    const began = performance.now()
    expect(await became(engine.submit(reserve(user, 'm1', 1)))).toBe('Unavailable')
    expect(performance.now() - began).toBeGreaterThan(1_000)
  })

  test('a lock that is gone in time: all commands are answered', async () => {
    const engine = bench.engine({ lockTimeoutMs: 100 })
    const [held = 0, ...free] = await withQuotas(neighbours(3))
    await lock('quota', held)
    const answers = Promise.all([held, ...free].map(user => became(engine.submit(reserve(user, 'm1', 1)))))
    // The batch times out, and the user waits apart.
    await untilWaiting(db, 1)
    const [first] = await waitingSince(db)
    await expect.poll(async () => (await waitingSince(db)).some(since => since !== first)).toBe(true)
    await stranger.query('rollback')
    expect(await answers).toEqual(['granted', ...free.map(() => 'granted')])
  })

  test('many users whose rows are locked leave connections for the others', async () => {
    const engine = bench.engine({ connections: 4, lockTimeoutMs: 100 })
    const held = await withQuotas(Array.from({ length: 4 }, () => someone()))
    const free = await withQuotas(Array.from({ length: 4 }, () => someone()))
    await lock('quota', ...held)
    const answered: string[] = []
    const order: Promise<unknown>[] = []
    for (const user of held) {
      order.push(became(engine.submit(reserve(user, 'm1', 1))).then(outcome => answered.push(outcome)))
      // A batch for each of them.
      await new Promise(setImmediate)
    }
    for (const user of free) {
      order.push(became(engine.submit(reserve(user, 'm1', 1))).then(outcome => answered.push(outcome)))
    }
    await Promise.all(order)
    expect(answered).toEqual([...free.map(() => 'granted'), ...held.map(() => 'Unavailable')])
  })
})

describe('a command that the database refuses fails alone', () => {
  test.each([
    ['more units than a bigint holds', (user: number) => reserve(user, 'huge', 2 ** 63)],
    ['more units than are written in digits', (user: number) => reserve(user, 'vast', 1e21)],
    ['units that are a list', (user: number) => reserve(user, 'list', JSON.parse('"1,2"'))],
    ['a zero byte', (user: number) => reserve(user, 'm\0', 1)],
  ])('%s', async (_, poison) => {
    const engine = bench.engine()
    const users = await withQuotas(neighbours(8), null)
    const [poisoned = 0] = users
    const calls = users.flatMap((user, n) => [
      became(engine.submit(reserve(user, `before-${n}`, 1))),
      became(engine.submit(user === poisoned ? poison(user) : reserve(user, `amid-${n}`, 1))),
      became(engine.submit(reserve(user, `after-${n}`, 1))),
    ])
    const answers = await Promise.all(calls)
    expect(answers[1]).toBeInstanceOf(Error)
    expect(answers.toSpliced(1, 1)).toEqual(Array(users.length * 3 - 1).fill('granted'))
    // The batch is halved until one user is left, whose commands run one by one.
    expect(engine.reports.map(({ commands }) => commands).sort((a, b) => b - a)).toEqual([12, 6, 3, 1, 1])
    // Later commands are not affected.
    expect(await became(engine.submit(reserve(poisoned, 'next', 1)))).toBe('granted')
  })
})

test('an id of any text is written as it is, and shifts no other of its batch', async () => {
  const engine = bench.engine()
  const users = await withQuotas(neighbours(4), null)
  const ids = ['m","n', 'm"}', 'm\\', 'null']
  const calls = users.map((user, n) => became(engine.submit(reserve(user, ids[n] ?? '', 1, { country: '"},{"' }))))
  expect(await Promise.all(calls)).toEqual(users.map(() => 'granted'))
  const text = sql`select user_id, id, country from reservation where user_id = any ($1::bigint[]) order by user_id`
  expect(await db.query({ text, values: [users] })).toEqual(
    users
      .map((user_id, n) => ({ user_id, id: ids[n], country: '"},{"' }))
      .sort((one, other) => one.user_id - other.user_id),
  )
})

describe('a queue that is full', () => {
  test.each([
    // A lone principal may have half of the queue. Lanes share it.
    ['in number', { queueCommands: 200 * bench.lanes }],
    ['in bytes', { queueBytes: 100 * (400 + 2 * 4) * bench.lanes }],
  ])('%s: refuses at once, and completes what it accepted', async (_, bound) => {
    const engine = bench.engine(bound)
    const [user = 0] = await withQuotas([someone()])
    await lock('quota', user)
    const id = (n: number) => String(1_000 + n)
    const accepted = Array.from({ length: 100 }, (_, n) => became(engine.submit(reserve(user, id(n), 1))))
    await untilWaiting(db, 1)
    const tookMs: number[] = []
    for (let n = 100; n < 200; n++) {
      const before = performance.now()
      expect(await became(engine.submit(reserve(user, id(n), 1)))).toBe('Overloaded')
      tookMs.push(performance.now() - before)
    }
    // The median: a busy machine may delay a few.
    expect(tookMs.toSorted((one, other) => one - other)[50]).toBeLessThan(50)
    await stranger.query('rollback')
    expect(await Promise.all(accepted)).toEqual(Array(100).fill('granted'))
    expect(await became(engine.submit(reserve(user, id(5_000), 1)))).toBe('granted')
  })

  test('the refusal is a failure of the engine', async () => {
    const engine = bench.engine({ queueCommands: 0 })
    await expect(engine.submit(reserve(someone(), 'm1', 1))).rejects.toBeInstanceOf(EngineFailure)
  })
})

test('under a cap on each value, two processes in locked mode grant exactly its limit', async () => {
  const user = someone()
  await bench.quota({ user_id: user, limit: 1_000 })
  await bench.quota({ user_id: user, kind: 'cap', limit: 3, period: 'day', per: 'country', alert_at: [] })
  const engines = [bench.engine(), bench.engine()]
  for (const engine of engines) await makeLocked(engine, bench)
  const calls = ['a', 'b', 'c', 'd', 'e', 'f'].map((id, n) =>
    engines[n % 2]?.submit(reserve(user, id, 1, { country: 'DE' })),
  )
  const outcomes = await Promise.all(calls)
  expect(outcomes.map(outcome => outcome?.outcome).toSorted()).toEqual([
    ...Array(3).fill('denied'),
    ...Array(3).fill('granted'),
  ])
  expect(engines.map(({ reports }) => reports.at(-1)?.mode)).toEqual(['locked', 'locked'])
})

test('close completes the accepted commands and accepts no new ones', async () => {
  const before = await countSessions(db)
  const engine = bench.engine({ connections: 2, batchSize: 10 })
  const users = await withQuotas(Array.from({ length: 20 }, () => someone()))
  const accepted = users.flatMap(user =>
    Array.from({ length: 50 }, (_, n) => became(engine.submit(reserve(user, `m${n}`, 1)))),
  )
  const closed = engine.close()
  expect(await became(engine.submit(reserve(users[0] ?? 0, 'late', 1)))).toBe('Closed')
  await closed
  expect(await Promise.all(accepted)).toEqual(Array(1_000).fill('granted'))
  const [{ count } = { count: 0 }] = await db.query<{ count: number }>({
    text: sql`select count(*) as count from reservation where user_id = any($1)`,
    values: [users],
  })
  expect(count).toBe(1_000)
  // Other engines of this file stay open.
  await expect.poll(() => countSessions(db)).toBe(before)
})

test('after all of these tests the counters equal the ledger', async () => {
  expect(await differences(db)).toEqual([])
})
