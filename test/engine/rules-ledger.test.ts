/** Windows that end, repeated ids, and the order of the outbox. */
import { describe, expect, test } from 'vitest'
import { createQuota } from '../../src/admin/quotas/create-quota.ts'
import { sql } from '../../src/db/connection/sql.ts'
import type { Command, Outcome } from '../../src/domain/units/command.ts'
import { Unavailable } from '../../src/engine/completion.ts'
import {
  createBench,
  differences,
  neighbours,
  openTransaction,
  reserve,
  settle,
  someone,
  type TestEngine,
  warm,
} from '../support/engine.ts'
import { untilWaiting } from '../support/sessions.ts'

const bench = await createBench()
const { db, clock } = bench
const MIDNIGHT = Date.parse('2026-03-16T00:00:00.000Z')

/** A user's reservations, with the windows in which each one counts. */
const booked = (user: number) =>
  db.query<{ id: string; windows: number[] }>({
    text: sql`select id, array(select draws[i + 2] from generate_series(1, cardinality(draws), 6) i) as windows
      from reservation where user_id = $1 order by id`,
    values: [user],
  })

const windowsOf = (quotaId: number) =>
  db.query<{ window_no: number; used: number; reserved: number }>({
    text: sql`select window_no, used, reserved from quota_window where quota_id = $1
      union all select window_no, used, reserved from quota where id = $1 order by window_no`,
    values: [quotaId],
  })

/** Repeats commands that a busy machine answers as unavailable, as callers do. */
async function insist(engine: TestEngine | undefined, command: Command): Promise<Outcome> {
  for (let attempt = 1; ; attempt++) {
    try {
      if (engine === undefined) throw new Error('there is no such engine')
      return await engine.submit(command)
    } catch (error) {
      if (attempt === 5 || !(error instanceof Unavailable)) throw error
    }
  }
}

describe('the same id on both sides of a window’s end', () => {
  test('is charged once, in the window of its first arrival', async () => {
    const [one, other] = [bench.engine(), bench.engine()]
    const user = someone()
    clock.now = MIDNIGHT - 1
    const { id } = await bench.quota({ user_id: user, period: 'day' })
    await one.submit(reserve(user, 'm1', 5))
    // The other process has the current quota in memory, but not the reservation.
    await warm(other, user)
    clock.now = MIDNIGHT
    const again = await other.submit(reserve(user, 'm1', 5))
    expect(again).toMatchObject({ outcome: 'granted', replayed: true })
    expect(await booked(user)).toEqual([{ id: 'm1', windows: [0] }])
    expect((await windowsOf(id)).map(({ reserved }) => reserved)).toEqual([5, 0])
  })

  test('is charged once when two processes receive it at the same time and one clock is behind', async () => {
    const one = bench.engine({ now: () => MIDNIGHT - 1 })
    const other = bench.engine({ now: () => MIDNIGHT })
    for (let round = 0; round < 10; round++) {
      const user = someone()
      clock.now = MIDNIGHT - 2
      const { id } = await bench.quota({ user_id: user, period: 'day' })
      const asked = [one, other].map(engine => engine.submit(reserve(user, 'm1', 5)))
      const answers = await Promise.all(asked)
      expect(answers.map(answer => 'replayed' in answer && answer.replayed).toSorted()).toEqual([false, true])
      expect(await booked(user)).toHaveLength(1)
      const counted = (await windowsOf(id)).reduce((sum, { reserved }) => sum + reserved, 0)
      expect(counted).toBe(5)
    }
  })
})

test('a window that ends under load: each reservation is booked in the window it was made in', async () => {
  const engines = [bench.engine(), bench.engine()]
  const [hot, ...others] = [someone(), ...neighbours(3)]
  const users = [hot, ...others]
  clock.now = MIDNIGHT - 60_000
  const quotas = await Promise.all(users.map(user => bench.quota({ user_id: user, period: 'day', limit: 100 })))
  // The commands ask for more than the limit in each window.
  const windowOf = new Map<string, number>()
  const denied: number[] = []
  const [count, commands] = [32, 24]
  let [answered, begun] = [0, 0]
  const ended = Promise.withResolvers<void>()
  const senders = Array.from({ length: count }, async (_, sender) => {
    for (let n = 0; n < commands; n++) {
      // The window ends while batches are gathered, decided and written; one sender may be far behind the others. But each asks for its
      // first two users before the end and for its last two after it, however late its engine starts.
      if (n === 2) begun += 1
      if (begun === count && answered >= (count * commands) / 2) {
        clock.now = MIDNIGHT
        ended.resolve()
      }
      if (n === commands - 2) await ended.promise
      const user = n % 2 === 0 ? hot : (users[(sender + n) % users.length] ?? hot)
      const id = `s${sender}-${n}`
      const before = clock.now
      const answer = await insist(engines[sender % 2], reserve(user, id, 1))
      answered += 1
      const after = clock.now
      if (answer?.outcome === 'denied') denied.push(user)
      if (answer?.outcome !== 'granted') continue
      const [draw] = answer.reservation.draws
      windowOf.set(`${user} ${id}`, draw?.window_no ?? -1)
      if (before === after) expect(draw?.window_no).toBe(before < MIDNIGHT ? 0 : 1)
    }
  })
  await Promise.all(senders)
  expect(denied.length).toBeGreaterThan(0)
  for (const [index, user] of users.entries()) {
    const rows = await booked(user)
    const mine = [...windowOf].filter(([key]) => key.startsWith(`${user} `))
    expect(new Map(rows.map(({ id, windows }) => [`${user} ${id}`, windows[0]]))).toEqual(new Map(mine))
    const windows = await windowsOf(quotas[index]?.id ?? 0)
    expect(windows.map(({ window_no }) => window_no)).toEqual([0, 1])
    for (const { window_no, reserved } of windows) {
      expect(reserved).toBeLessThanOrEqual(100)
      expect(reserved).toBe(mine.filter(([, no]) => no === window_no).length)
    }
  }
  expect(new Set([...windowOf.values()])).toEqual(new Set([0, 1]))
  // Reservations that settle after the window’s end settle in the window they were drawn from.
  const late = [...windowOf].filter(([, no]) => no === 0).slice(0, 50)
  await Promise.all(
    late.map(([key], n) => {
      const [user, id = ''] = key.split(' ')
      return insist(engines[n % 2], settle(n % 3 === 0 ? 'release' : 'commit', Number(user), id))
    }),
  )
  const settled = (await Promise.all(quotas.map(({ id }) => windowsOf(id)))).map(([closed]) => closed?.used ?? 0)
  expect(settled.reduce((sum, used) => sum + used, 0)).toBe(late.filter((_, n) => n % 3 !== 0).length)
})

test('the outbox has no gaps: a number is taken only after the previous one is committed', async () => {
  clock.now = MIDNIGHT
  const [one = 0, other = 0] = neighbours(2)
  const make = (user: number) => (tx: Parameters<typeof createQuota>[0]) =>
    createQuota(tx, { user_id: user, limit: 1 }, bench.author())
  const events = () =>
    db.query<{ number: number; user_id: number }>({
      text: sql`select number, user_id from event where user_id = any($1) order by number`,
      values: [[one, other]],
    })
  const first = await openTransaction(db, make(one))
  const second = openTransaction(db, make(other))
  // It waits for the shard’s outbox alone, for its user is another.
  await untilWaiting(db, 1)
  expect(await events()).toEqual([])
  await first.commit()
  const { commit } = await second
  const seen = await events()
  expect(seen).toMatchObject([{ user_id: one }])
  await commit()
  const [before] = seen
  expect(await events()).toEqual([before, { number: (before?.number ?? 0) + 1, user_id: other }])
})

test('a forced commit of units that were given back marks its reservation, and no other commit does', async () => {
  const engine = bench.engine()
  const user = someone()
  await bench.quota({ user_id: user, limit: 10 })
  const commit = (id: string, force: boolean) => engine.submit({ ...settle('commit', user, id), force })
  for (const id of ['plain', 'forced', 'retaken', 'refunded']) await engine.submit(reserve(user, id, 2))
  await commit('plain', false)
  await commit('forced', true)
  await engine.submit(settle('release', user, 'retaken'))
  await commit('retaken', true)
  await commit('refunded', false)
  await engine.submit(settle('refund', user, 'refunded'))
  await commit('refunded', true)
  // Made, released and taken again within one batch.
  const batch = [
    reserve(user, 'at once', 2),
    settle('release', user, 'at once'),
    { ...settle('commit', user, 'at once'), force: true },
  ]
  await Promise.all(batch.map(command => engine.submit(command)))
  const marked = await db.query({
    text: sql`select id from reservation where user_id = $1 and retaken order by id`,
    values: [user],
  })
  expect(marked).toEqual([{ id: 'at once' }, { id: 'refunded' }, { id: 'retaken' }])
})

test('after all of these tests the counters equal the ledger', async () => {
  expect(await differences(db)).toEqual([])
})
