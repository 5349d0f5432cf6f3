import pg from 'pg'
import { describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { removeSettled } from '../../src/db/retention.ts'
import { verify } from '../../src/db/verify.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { HOUR_MS } from '../../src/domain/time.ts'
import { createBench, draw, reserve, settle, someone } from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const engine = bench.engine()

/** A user with an archive, a closed window and a current one, in which 4 are used and 2 reserved. */
async function aUser(): Promise<{ user: number; quota: number; window: number }> {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, period: 'hour', limit: 10 })
  await engine.submit(draw('consume', user, 'old', 3))
  clock.now += 1
  await removeSettled(db, shardOf(user), Number.NEGATIVE_INFINITY, clock.now)
  await engine.submit(draw('consume', user, 'archived with it', 1))
  await engine.submit(reserve(user, 'late', 2, { ttl_ms: 100 * HOUR_MS }))
  clock.now += HOUR_MS
  await engine.submit(draw('consume', user, 'used', 4))
  await engine.submit(reserve(user, 'reserved', 2, { ttl_ms: 100 * HOUR_MS }))
  const text = 'select window_no from quota where id = $1'
  const [row] = await db.query<{ window_no: number }>({ text, values: [id] })
  return { user, quota: id, window: row?.window_no ?? -1 }
}

const change = (text: string, ...values: (number | string)[]) => db.query({ text, values })

describe('finds nothing wrong', () => {
  test('with a user whose windows were closed and archived', async () => {
    const { user: userId } = await aUser()
    expect(await verify(db, { userId })).toEqual({ quotas: 1, windows: 2, reservations: 4, differences: [] })
  })

  test('with a user without any rows, and one who sends without a quota', async () => {
    expect(await verify(db, { userId: 0 })).toEqual({ quotas: 0, windows: 0, reservations: 0, differences: [] })
    const userId = someone()
    await engine.submit(draw('consume', userId, 'forced', 5, { force: true }))
    expect(await verify(db, { userId })).toEqual({ quotas: 0, windows: 0, reservations: 1, differences: [] })
  })

  test('with deleted quotas', async () => {
    const { user: userId, quota } = await aUser()
    await change('update quota set deleted_at = updated_at where id = $1', quota)
    expect(await verify(db, { userId })).toMatchObject({ quotas: 1, windows: 2, differences: [] })
  })

  test('while senders are busy', async () => {
    const users = Array.from({ length: 30 }, () => someone())
    for (const user_id of users) {
      await bench.quota({ user_id, limit: 100_000 })
      await bench.quota({ user_id, kind: 'cap', limit: 100_000 })
    }
    let isOver = false
    const send = async (user: number) => {
      for (let n = 0; !isOver; n++) {
        await engine.submit(reserve(user, `m${n}`, 10))
        await engine.submit(settle('commit', user, `m${n}`, 6))
        await engine.submit(settle('refund', user, `m${n}`, 2))
      }
    }
    const sending = users.map(send)
    const results = []
    for (let n = 0; n < 3; n++) results.push(await verify(db))
    isOver = true
    await Promise.all(sending)
    for (const { differences } of results) expect(differences).toEqual([])
    expect(results[2]?.reservations).toBeGreaterThan(results[0]?.reservations ?? Number.NaN)
  })
})

describe('finds', () => {
  const counted = (used: number, reserved: number) => ({ used, reserved })
  const OPEN = { counters: counted(4, 2), ledger: counted(4, 2) }
  const CLOSED = { counters: counted(4, 2), ledger: counted(4, 2) }

  test.each([
    ['a wrong used', 'update quota set used = 5 where id = $1', { ...OPEN, counters: counted(5, 2) }],
    ['a wrong reserved', 'update quota set reserved = 0 where id = $1', { ...OPEN, counters: counted(4, 0) }],
    [
      'a reservation that is lost',
      "delete from reservation where id = 'used' and draws[1] = $1",
      { ...OPEN, ledger: counted(0, 2) },
    ],
    [
      'a reservation that was settled without its counters',
      "update reservation set committed = 2 where id = 'reserved' and draws[1] = $1",
      { ...OPEN, ledger: counted(6, 0) },
    ],
  ])('%s', async (_, text, difference) => {
    const { user, quota, window } = await aUser()
    await change(text, quota)
    const { differences } = await verify(db, { userId: user })
    expect(differences).toEqual([{ user_id: user, quota_id: quota, window_no: window, ...difference }])
  })

  test.each([
    ['a wrong history', 'update quota_window set used = 3 where quota_id = $1', { ...CLOSED, counters: counted(3, 2) }],
    [
      'a history with something reserved too much',
      'update quota_window set reserved = 9 where quota_id = $1',
      { ...CLOSED, counters: counted(4, 9) },
    ],
    ['a wrong archive', 'update archive set used = 4 where quota_id = $1', { ...CLOSED, ledger: counted(5, 2) }],
    ['a lost archive', 'delete from archive where quota_id = $1', { ...CLOSED, ledger: counted(1, 2) }],
    ['a lost window', 'delete from quota_window where quota_id = $1', { ...CLOSED, counters: null }],
  ])('%s', async (_, text, difference) => {
    const { user, quota } = await aUser()
    await change(text, quota)
    const { differences } = await verify(db, { userId: user })
    expect(differences).toEqual([{ user_id: user, quota_id: quota, window_no: 0, ...difference }])
  })

  test('what draws on a quota that does not exist, or on another user’s', async () => {
    const [one, other] = [await aUser(), await aUser()]
    const draws = 'update reservation set draws[1] = $1 where user_id = $2 and id = $3'
    await change(draws, 64 * 1_000_000, one.user, 'used')
    await change(draws, other.quota, one.user, 'reserved')
    const { differences } = await verify(db, { userId: one.user })
    expect(differences).toMatchObject([
      { quota_id: one.quota, counters: counted(4, 2), ledger: counted(0, 0) },
      { quota_id: other.quota, user_id: one.user, counters: null, ledger: counted(0, 2) },
      { quota_id: 64 * 1_000_000, user_id: one.user, counters: null, ledger: counted(4, 0) },
    ])
  })
})

describe('of everything', async () => {
  const whole = await createBench()
  const sender = whole.engine()

  test('covers all users, shard by shard, and rows of quotas that do not exist', async () => {
    for (let n = 0; n < 300; n++) {
      const user = someone()
      if (n % 3 > 0) await whole.quota({ user_id: user })
      await sender.submit(draw('consume', user, 'm', 1, { force: true }))
    }
    const parts: number[] = []
    const seen = await verify(whole.db, { onProgress: (_, part) => parts.push(part) })
    expect(seen).toEqual({ quotas: 200, windows: 200, reservations: 300, differences: [] })
    expect(parts).toEqual(parts.toSorted((one, other) => one - other))
    expect(parts.at(-1)).toBe(1)

    await whole.db.query({ text: 'insert into archive values (5, 6405, 3, 8)' })
    await whole.db.query({
      text: `insert into quota_window values (5, 6405, 3, now(), now(), 1, 0, 0, 8, 0, 0), (5, 12805, 0, now(), now(), 1, 0, 0, 8, 1, 0)`,
    })
    const expected = [
      {
        user_id: null,
        quota_id: 6405,
        window_no: 3,
        counters: { used: 8, reserved: 0 },
        ledger: { used: 8, reserved: 0 },
      },
      {
        user_id: null,
        quota_id: 12805,
        window_no: 0,
        counters: { used: 8, reserved: 1 },
        ledger: { used: 0, reserved: 0 },
      },
    ]
    expect((await verify(whole.db)).differences).toEqual(expected)
  })

  test('ends at the maximum of differences', async () => {
    await whole.db.query({ text: 'update quota set used = used + 1 where id in (select id from quota limit 30)' })
    expect((await verify(whole.db)).differences).toHaveLength(20)
    expect((await verify(whole.db, { maxDifferences: 3 })).differences).toHaveLength(3)
    expect((await verify(whole.db, { maxDifferences: 100 })).differences).toHaveLength(32)
  })

  test('takes fewer users at a time when a statement takes too long', async () => {
    const tooLong = Object.assign(new pg.DatabaseError('canceling statement', 0, 'error'), { code: '57014' })
    let tries = 0
    const slow: Database = {
      ...whole.db,
      transaction(work, mode) {
        tries += 1
        return tries <= 2 ? Promise.reject(tooLong) : whole.db.transaction(work, mode)
      },
    }
    const seen = await verify(slow, { maxDifferences: 100 })
    expect(seen).toMatchObject({ quotas: 200, reservations: 300 })
    expect(seen.differences).toHaveLength(32)
  })
})
