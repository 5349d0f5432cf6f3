import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { deleteQuota } from '../../src/admin/quotas/delete-quota.ts'
import { transferOnce } from '../../src/admin/quotas/transfer.ts'
import { updateProfile } from '../../src/admin/users/change-profile.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { removeDeletedQuota } from '../../src/db/reservations/retention.ts'
import { PROOFS } from '../../src/db/verify/proof.ts'
import { readableColumns } from '../../src/db/verify/readable.ts'
import { MAX_PENDING } from '../../src/db/verify/usage.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import type { QuotaDraft } from '../../src/domain/quotas/quota.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { type Bench, createBench, draw, reserve, settle, someone } from '../support/engine.ts'
import { seeds } from '../support/runs.ts'
import { rawSql } from '../support/sql.ts'
import { judgeOf, RIGHT } from './verify-fixture.ts'

const bench = await createBench()
const { db, clock } = bench
const { engine, retire, rollUp, update, judge, expectRightInHistories } = judgeOf(bench)

/** A user with an archive, a closed window and a current one, in which 4 are used and 2 reserved. */
async function aUser(draft: Partial<QuotaDraft> = {}): Promise<{ user: number; quota: number; window: number }> {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, period: 'hour', limit: 10, ...draft })
  await engine.submit(draw('consume', user, 'old', 3))
  clock.now += 1
  await retire(user)
  await engine.submit(draw('consume', user, 'archived with it', 1))
  await engine.submit(reserve(user, 'late', 2, { ttl_ms: 100 * HOUR_MS }))
  clock.now += HOUR_MS
  await engine.submit(draw('consume', user, 'used', 4))
  await engine.submit(reserve(user, 'reserved', 2, { ttl_ms: 100 * HOUR_MS }))
  return { user, quota: id, window: await windowOf(id) }
}

async function windowOf(quota: number): Promise<number> {
  const text = sql`select window_no from quota where id = $1`
  const [row] = await db.query<{ window_no: number }>({ text, values: [quota] })
  return row?.window_no ?? -1
}

const change = (text: string, ...values: (number | string)[]) => db.query({ text: rawSql`${text}`, values })

/** Makes it look as if the quota had always had this limit, so that no change explains what is past it. */
async function pretendLimit(quota: number, limit: number): Promise<void> {
  await change('update quota set "limit" = $2 where id = $1', quota, limit)
  await change('update quota_window set "limit" = $2 where quota_id = $1', quota, limit)
  await change(
    `update quota_change set after = jsonb_set(after, '{limit}', $2::text::jsonb) where quota_id = $1`,
    quota,
    `${limit}`,
  )
}

describe('finds nothing wrong', () => {
  test('with a user whose windows were closed and archived, by every proof that concerns a user', async () => {
    const { user: userId } = await aUser()
    const { proofs, differences } = await verify(db, { userId })
    expect(differences).toEqual([])
    expect(Object.fromEntries(proofs)).toEqual({
      counters: { checked: 2, notProvable: 0 },
      limits: { checked: 2, notProvable: 0 },
      draws: { checked: 4, notProvable: 0 },
      rollover: { checked: 1, notProvable: 0 },
      usage: { checked: 1, notProvable: 0 },
      transfers: { checked: 0, notProvable: 0 },
      live: { checked: 1, notProvable: 0 },
      plans: { checked: 0, notProvable: 0 },
      values: { checked: 0, notProvable: 0 },
      profiles: { checked: 0, notProvable: 0 },
      sequences: { checked: 1, notProvable: 0 },
    })
  })

  test('with a user without any rows, and one who sends without a quota', async () => {
    expect(await judge(0)).toEqual(RIGHT)
    const user = someone()
    await engine.submit(draw('consume', user, 'forced', 5, { force: true }))
    expect(await judge(user)).toEqual(RIGHT)
    expect((await verify(db, { userId: user })).proofs.get('draws')).toEqual({ checked: 1, notProvable: 0 })
  })

  test('with deleted quotas', async () => {
    const { user, quota } = await aUser()
    await deleteQuota(db, quota, bench.author(), () => true)
    expect(await judge(user)).toEqual(RIGHT)
  })

  test('with an account whose last quota was removed', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await deleteQuota(db, id, bench.author(), () => true)
    await removeDeletedQuota(db, shardOf(user), id, 100)
    expect(await judge(user)).toEqual(RIGHT)
  })

  test('with draws on several grants and a cap, after partial settlements and refunds', async () => {
    const user = someone()
    for (const limit of [5, 3]) await bench.quota({ user_id: user, limit, overage_limit: 2, period: 'hour' })
    await bench.quota({ user_id: user, kind: 'cap', limit: 20 })
    await engine.submit(reserve(user, 'm', 11, { ttl_ms: 2 * HOUR_MS }))
    await engine.submit(settle('commit', user, 'm', 7))
    await engine.submit(settle('refund', user, 'm', 4))
    clock.now += HOUR_MS
    await engine.submit(settle('release', user, 'm', 2))
    expect(await judge(user)).toEqual(RIGHT)
    clock.now += 2 * HOUR_MS
    await engine.submit({ op: 'expire', user_id: user, id: 'm' })
    await retire(user)
    expect(await judge(user)).toEqual(RIGHT)
  })

  test('while senders are busy', async () => {
    const users = Array.from({ length: 5 }, () => someone())
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
        if (n % 20 === 0) await rollUp(user)
      }
    }
    const sending = users.map(send)
    const verifyEach = async () => {
      const results = []
      for (const userId of users) results.push(await verify(db, { userId }))
      return results
    }
    const [first, whole, last] = [await verifyEach(), await verify(db), await verifyEach()]
    isOver = true
    await Promise.all(sending)
    for (const { differences } of [...first, whole, ...last]) expect(differences).toEqual([])
    const counts = [first, last].map(results =>
      results.reduce((sum, { proofs }) => sum + (proofs.get('draws')?.checked ?? Number.NaN), 0),
    )
    expect(counts[1]).toBeGreaterThan(counts[0] ?? Number.NaN)
  })
})

test('finds nothing wrong in random histories of sends, changes, revivals, retention and clocks that lag', () =>
  // `verify.long.test.ts` has four times as many.
  expectRightInHistories(seeds(6)))

describe('counters: finds', () => {
  /** The message of a window, by what is counted and what its ledger has. */
  const of = (counted: string, ledger: string) => `${counted}, its ledger has ${ledger}.`
  const RIGHT_COUNTS = 'counted 4 used and 2 reserved'

  test.each([
    [
      'a wrong used',
      'update quota set used = 5 where id = $1',
      of('counted 5 used and 2 reserved', '4 used and 2 reserved'),
    ],
    [
      'a wrong reserved',
      'update quota set reserved = 0 where id = $1',
      of('counted 4 used and 0 reserved', '4 used and 2 reserved'),
    ],
    [
      'a reservation that is lost',
      "delete from reservation where id = 'used' and draws[1] = $1",
      of(RIGHT_COUNTS, '0 used and 2 reserved'),
    ],
    [
      'a reservation that was settled without its counters',
      "update reservation set committed = 2 where id = 'reserved' and draws[1] = $1",
      of(RIGHT_COUNTS, '6 used and 0 reserved'),
    ],
  ])('%s', async (_, text, message) => {
    const { user, quota, window } = await aUser()
    await change(text, quota)
    expect((await judge(user)).messages[0]).toBe(
      `counters: Quota ${quota} of user ${user}, window ${window}: ${message}`,
    )
  })

  test.each([
    [
      'a wrong history',
      'update quota_window set used = 3 where quota_id = $1',
      of('counted 3 used and 2 reserved', '4 used and 2 reserved'),
    ],
    [
      'a history with something reserved too much',
      'update quota_window set reserved = 9 where quota_id = $1',
      of('counted 4 used and 9 reserved', '4 used and 2 reserved'),
    ],
    ['a wrong archive', 'update archive set used = 4 where quota_id = $1', of(RIGHT_COUNTS, '5 used and 2 reserved')],
    ['a lost archive', 'delete from archive where quota_id = $1', of(RIGHT_COUNTS, '1 used and 2 reserved')],
    [
      'a lost window',
      'delete from quota_window where quota_id = $1',
      of('there is no such window', '4 used and 2 reserved'),
    ],
  ])('%s', async (_, text, message) => {
    const { user, quota } = await aUser()
    await change(text, quota)
    expect((await judge(user)).messages[0]).toBe(`counters: Quota ${quota} of user ${user}, window 0: ${message}`)
  })

  test('what draws on a quota that does not exist, or on another user’s', async () => {
    // The second one retires what is settled in its shard, which may be that of the first.
    const [other, one] = [await aUser(), await aUser()]
    const missing = 64 * 1_000_000 + shardOf(one.user)
    const draws = 'update reservation set draws[1] = $1 where user_id = $2 and id = $3'
    await change(draws, missing, one.user, 'used')
    await change(draws, other.quota, one.user, 'reserved')
    const { messages } = await judge(one.user)
    expect(messages.filter(message => message.startsWith('counters'))).toEqual([
      `counters: Quota ${other.quota} of user ${one.user}, window ${other.window}: there is no such window, its ledger has 0 used and 2 reserved.`,
      `counters: Quota ${one.quota} of user ${one.user}, window ${one.window}: counted 4 used and 2 reserved, its ledger has 0 used and 0 reserved.`,
      `counters: Quota ${missing} of user ${one.user}, window ${one.window}: there is no such window, its ledger has 4 used and 0 reserved.`,
    ])
  })
})

describe('limits: finds', () => {
  test('a current window that is oversold', async () => {
    const { user, quota, window } = await aUser()
    await change('update quota set "limit" = 3 where id = $1', quota)
    expect(await judge(user)).toEqual({
      ...RIGHT,
      messages: [
        `limits: Quota ${quota} of user ${user}, window ${window} is oversold: 6 units are used or reserved without force, and it has room for 3 (limit 3, rolled over 0, overage limit 0). No change has lowered its limits from 6 or more.`,
      ],
    })
  })

  test('a closed window that is oversold, also once its reservations are archived', async () => {
    const { user, quota } = await aUser()
    await engine.submit(settle('commit', user, 'late'))
    await pretendLimit(quota, 5)
    await change('update quota set "limit" = 6 where id = $1', quota)
    const messages = [expect.stringMatching(/^limits: Quota \d+ of user \d+, window 0 is oversold: 6 units .* for 5 /)]
    expect(await judge(user)).toEqual({ ...RIGHT, messages })
    clock.now += 1
    await retire(user)
    expect(await judge(user)).toEqual({ ...RIGHT, messages })
  })

  test('one unit past a cap in a window that has forced units, too', async () => {
    const { user, quota } = await aUser()
    const cap = await bench.quota({ user_id: user, kind: 'cap', limit: 1 })
    await engine.submit(draw('consume', user, 'one', 1))
    await engine.submit(draw('consume', user, 'forced', 9, { force: true }))
    expect(await judge(user)).toEqual(RIGHT)
    await pretendLimit(quota, 6)
    await pretendLimit(cap.id, 0)
    await change('update quota_window set "limit" = 10 where quota_id = $1', quota)
    expect((await judge(user)).messages).toEqual([
      expect.stringContaining(`Quota ${quota} of user ${user}, window 1 is oversold: 7 units`),
      expect.stringContaining(`Quota ${cap.id} of user ${user}, window 0 is oversold: 1 units`),
    ])
  })
})

describe('limits: explains what is past a limit by', () => {
  test('force, and observe mode, before and after retention', async () => {
    const user = someone()
    const observing = bench.engine({ observe: true })
    await bench.quota({ user_id: user, limit: 10 })
    await bench.quota({ user_id: user, kind: 'cap', limit: 10 })
    await engine.submit(draw('consume', user, 'fits', 10))
    await engine.submit(draw('consume', user, 'forced', 5, { force: true }))
    await observing.submit(draw('consume', user, 'would be denied', 5))
    expect(await judge(user)).toEqual(RIGHT)
    clock.now += 1
    await retire(user)
    expect(await judge(user)).toEqual(RIGHT)
    const archived = await db.query({
      text: sql`select a.used, a.forced from archive a join quota q on q.shard = a.shard and q.id = a.quota_id where q.user_id = $1`,
      values: [user],
    })
    expect(archived).toEqual([
      { used: 20, forced: 10 },
      { used: 20, forced: 10 },
    ])
  })

  test('a forced commit of units that were released, or that expired', async () => {
    const user = someone()
    await bench.quota({ user_id: user, limit: 10 })
    for (const [id, ttl_ms] of [
      ['released', HOUR_MS],
      ['expired', 1],
    ] as const) {
      await engine.submit(reserve(user, id, 5, { ttl_ms }))
    }
    await engine.submit(settle('release', user, 'released'))
    clock.now += 1
    await engine.submit(draw('consume', user, 'in their place', 5))
    await engine.submit({ op: 'expire', user_id: user, id: 'expired' })
    await engine.submit(draw('consume', user, 'in its place', 5))
    for (const id of ['released', 'expired', 'expired'])
      await engine.submit({ ...settle('commit', user, id), force: true })
    expect(await judge(user)).toEqual(RIGHT)
    clock.now += 1
    await retire(user)
    expect(await judge(user)).toEqual(RIGHT)
  })

  test('a release and a forced commit in one batch, with a draw between them', async () => {
    const user = someone()
    await bench.quota({ user_id: user, limit: 5 })
    await engine.submit(reserve(user, 'a', 5))
    const commit = (total: number) => ({ ...settle('commit', user, 'a', total), force: true })
    const outcomes = await Promise.all(
      [
        settle('release', user, 'a'),
        draw('consume', user, 'b', 5),
        commit(2),
        commit(5),
        reserve(user, 'c', 1, { ttl_ms: HOUR_MS }),
      ].map(command => engine.submit(command)),
    )
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['settled', 'granted', 'settled', 'settled', 'denied'])
    expect(engine.reports.at(-1)?.commands).toBe(5)
    expect(await judge(user)).toEqual(RIGHT)
  })

  test('units that were used before the quota was created', async () => {
    const user = someone()
    await bench.quota({ user_id: user, limit: 10, opening_used: 15 })
    expect(await judge(user)).toEqual(RIGHT)
    clock.now += 1
    await retire(user)
    expect(await judge(user)).toEqual(RIGHT)
  })

  test('a limit that was lowered in that window, and in no other', async () => {
    const { user, quota } = await aUser({ overage_limit: 3 })
    expect(await update(quota, { limit: 2, allow_below_usage: true })).toMatchObject({ outcome: 'changed' })
    expect(await update(quota, { overage_limit: 0, allow_below_usage: true })).toMatchObject({ outcome: 'changed' })
    expect(await judge(user)).toEqual(RIGHT)
    clock.now += HOUR_MS
    await engine.submit(draw('consume', user, 'in the next window', 2))
    expect(await judge(user)).toEqual(RIGHT)
    await change('update quota set "limit" = 1 where id = $1', quota)
    expect((await judge(user)).messages).toEqual([expect.stringContaining('window 2 is oversold: 2 units')])
  })

  test('a limit of a revived quota, under which its last window closed', async () => {
    const user = someone()
    const draft = { user_id: user, limit: 10, period: 'hour', expires_at: clock.now + HOUR_MS } as const
    const { id } = await bench.quota(draft)
    await engine.submit(draw('consume', user, 'm', 8))
    clock.now += 3 * HOUR_MS
    expect(await update(id, { expires_at: null, limit: 4 })).toMatchObject({ outcome: 'changed' })
    expect(await judge(user)).toEqual(RIGHT)
  })

  test('a grant that was unlimited', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, limit: null })
    await engine.submit(draw('consume', user, 'm', 8))
    expect(await update(id, { limit: 4, allow_below_usage: true })).toMatchObject({ outcome: 'changed' })
    expect(await judge(user)).toEqual(RIGHT)
  })
})

test('limits: what an earlier version did not record is not provable, and no difference', async () => {
  const { user, quota } = await aUser()
  await change('update reservation set retaken = null where user_id = $1', user)
  await change('update quota set "limit" = 3 where id = $1', quota)
  expect(await judge(user)).toEqual({ messages: [], notProvable: { limits: 1 } })
  await change('update archive set forced = null where quota_id = $1', quota)
  await pretendLimit(quota, 5)
  expect(await judge(user)).toEqual({ messages: [], notProvable: { limits: 2 } })
  clock.now += 1
  await retire(user)
  const archived = await db.query({ text: sql`select forced from archive where quota_id = $1`, values: [quota] })
  expect(archived).toEqual([{ forced: null }, { forced: null }])
  expect(await judge(user)).toEqual({ messages: [], notProvable: { limits: 2 } })
})

test('without the record of its creation, a quota is not accused of what its changes may explain', async () => {
  const { user, quota } = await aUser()
  await change('update quota set "limit" = 3 where id = $1', quota)
  await change('delete from quota_change where quota_id = $1', quota)
  expect(await judge(user)).toEqual({ messages: [], notProvable: { limits: 1 } })
  await change('update usage_pending set units[1] = units[1] - 1 where $1 = quotas[1]', quota)
  expect(await judge(user)).toEqual({ messages: [], notProvable: { limits: 1, usage: 1 } })
})

describe('draws: finds', () => {
  /** A user with a reservation of 8 units on two grants and a cap, 5 and 3, of which 2 are committed. */
  async function drawn() {
    const user = someone()
    const [first, second] = [
      await bench.quota({ user_id: user, limit: 5 }),
      await bench.quota({ user_id: user, limit: 5 }),
    ]
    const cap = await bench.quota({ user_id: user, kind: 'cap', limit: 10 })
    await engine.submit(reserve(user, 'm', 8, { ttl_ms: HOUR_MS }))
    await engine.submit(settle('commit', user, 'm', 2))
    expect(await judge(user)).toEqual(RIGHT)
    return { user, first: first.id, second: second.id, cap: cap.id }
  }
  const about = (messages: string[]) => messages.filter(message => message.startsWith('draws'))

  test.each([
    ['a gap', 'draws[11] = 6', 'committed'],
    ['an overlap', 'draws[11] = 4', 'committed'],
    ['an empty draw', 'draws[6] = 0', 'committed'],
    ['an unfunded rest without force', 'draws[12] = 7', 'committed'],
    ['a draw past the units', 'draws[12] = 9', 'committed'],
    ['a cap that does not count the whole', 'draws[17] = 1', 'committed'],
    ['a cap that counts more', 'draws[18] = 9', 'committed'],
    ['an order of cap and grant', 'draws[8] = 1', 'committed'],
  ])('%s', async (_, assignment) => {
    const { user, first, second, cap } = await drawn()
    await change(`update reservation set ${assignment} where user_id = $1`, user)
    const [message] = about((await judge(user)).messages)
    expect(message).toMatch(
      new RegExp(
        `^draws: Reservation "m" of user ${user}: its draws do not cover its units. 2 of its 8 units are committed, ` +
          `0 released and 0 refunded; its draws are 0 to \\d on grant ${first}, \\d to \\d on (grant|cap) ${second}, \\d to \\d on cap ${cap}.`,
      ),
    )
  })

  test.each([
    ['of another price', "'4 1 1 3 0'", false],
    ['of no whole segments', "'4 1 1 3 1'", false],
    ['of no segments', "'0 1 1 8 8'", false],
    ['of its price', "'4 1 1 2 0'", true],
    ['of its price, with units for the message', "'2 1 1 3 2'", true],
  ])('units %s', async (_, price, isRight) => {
    const { user } = await drawn()
    await change(`update reservation set price = ${price} where user_id = $1`, user)
    const found = about((await judge(user)).messages)
    if (isRight) expect(found).toEqual([])
    else expect(found[0]).toContain('"m" of user')
    if (!isRight) expect(found[0]).toContain('its units are not those that its rate says')
    await change('update reservation set price = null where user_id = $1', user)
  })

  test('a reservation without draws that is not forced', async () => {
    const { user } = await drawn()
    await change(`update reservation set draws = '{}' where user_id = $1`, user)
    expect(about((await judge(user)).messages)).toEqual([expect.stringContaining('its draws are none.')])
  })

  test('a grant on which a reservation draws as a cap', async () => {
    const { user, cap } = await drawn()
    await change(`update quota set kind = 'grant' where id = $1`, cap)
    expect(about((await judge(user)).messages)).toEqual([
      `draws: Quota ${cap} of user ${user}, window 0: the quota is a grant, and reservations draw on it as a cap.`,
    ])
  })

  test('more settled than was granted', async () => {
    await change('alter table reservation drop constraint reservation_units')
    const { user } = await drawn()
    for (const columns of ['released = 7', 'refunded = 3, released = 0', 'refunded = 0, committed = -1']) {
      await change(`update reservation set ${columns} where user_id = $1`, user)
      const [message] = about((await judge(user)).messages)
      expect(message, columns).toContain(`draws: Reservation "m" of user ${user}: more is settled than was granted.`)
    }
    await change('delete from reservation where user_id = $1', user)
  })
})

describe('rollover', () => {
  const HOURLY = { period: 'hour', limit: 10, rollover_limit: 15 } as const

  /** A user whose first window used 4, and whose next two windows were not touched. */
  async function rolled(draft: Partial<QuotaDraft> = {}) {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, ...HOURLY, ...draft })
    await engine.submit(draw('consume', user, 'a', 4))
    clock.now += 3 * HOUR_MS
    await engine.submit(draw('consume', user, 'b', 1))
    return { user, quota: id }
  }

  test('holds over windows that follow directly, untouched windows and changes of the rollover limit', async () => {
    const { user, quota } = await rolled()
    clock.now += HOUR_MS
    await engine.submit(reserve(user, 'c', 20, { ttl_ms: HOUR_MS / 2 }))
    expect(await judge(user)).toEqual(RIGHT)
    clock.now += 2 * HOUR_MS
    await update(quota, { rollover_limit: 3 })
    clock.now += 2 * HOUR_MS
    await engine.submit(draw('consume', user, 'd', 2))
    await update(quota, { rollover_limit: 1, name: 'twice in a window' })
    await update(quota, { rollover_limit: 0 })
    await engine.submit({ op: 'expire', user_id: user, id: 'c' })
    clock.now += HOUR_MS
    await engine.submit(draw('consume', user, 'e', 2))
    expect(await judge(user)).toEqual(RIGHT)
    expect((await verify(db, { userId: user })).proofs.get('rollover')).toMatchObject({ checked: 5 })
  })

  test('holds for a quota whose start and rollover limit moved before it began, and for a revived one', async () => {
    const user = someone()
    const starts_at = clock.now + 5 * HOUR_MS
    const { id } = await bench.quota({ user_id: user, ...HOURLY, starts_at })
    await update(id, { starts_at: clock.now + 2 * HOUR_MS, rollover_limit: 12, expires_at: clock.now + 8 * HOUR_MS })
    clock.now += 4 * HOUR_MS
    await engine.submit(draw('consume', user, 'a', 1))
    await update(id, { rollover_limit: 7 })
    clock.now += 6 * HOUR_MS
    await update(id, { expires_at: null, rollover_limit: 9 })
    clock.now += 3 * HOUR_MS
    await update(id, { rollover_limit: 2 })
    expect(await judge(user)).toEqual(RIGHT)
  })

  test('finds a window that began with other units than were carried', async () => {
    const { user, quota } = await rolled()
    clock.now += HOUR_MS
    await engine.submit(draw('consume', user, 'c', 1))
    await change('update quota set rolled_over = rolled_over - 1 where id = $1', quota)
    expect((await judge(user)).messages).toEqual([
      `rollover: Quota ${quota} of user ${user}, window 4: began with 14 units rolled over, and window 3 before it carried 15: 15 were expected.`,
    ])
  })

  test('finds a window that began with other units than untouched windows leave', async () => {
    const { user, quota } = await rolled()
    await change('update quota set rolled_over = 16 where id = $1', quota)
    expect((await judge(user)).messages).toEqual([
      `rollover: Quota ${quota} of user ${user}, window 3: began with 16 units rolled over, and window 0 before it carried 6: 15 were expected.`,
    ])
  })

  test('finds a first window with units rolled over', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, ...HOURLY })
    await change('update quota set rolled_over = 1 where id = $1', id)
    expect((await judge(user)).messages).toEqual([
      `rollover: Quota ${id} of user ${user}, window 0: began with 1 units rolled over, and is the first.`,
    ])
  })

  test('finds a window that carried more than it had left, unless a forced commit took units later', async () => {
    const { user, quota } = await rolled()
    await engine.submit(reserve(user, 'c', 20))
    await engine.submit(settle('release', user, 'c'))
    clock.now += HOUR_MS
    const late = await engine.submit({ ...settle('commit', user, 'c'), force: true })
    expect(late).toMatchObject({ outcome: 'settled', reservation: { committed: 20 } })
    expect(await judge(user)).toEqual(RIGHT)
    await change('update quota_window set carried = 7 where quota_id = $1 and window_no = 0', quota)
    expect((await judge(user)).messages).toEqual([
      `rollover: Quota ${quota} of user ${user}, window 0: carried 7 units into the next window, and had 6 left.`,
    ])
  })

  test('cannot prove the first window that is left of a history', async () => {
    const { user, quota } = await rolled()
    clock.now += HOUR_MS
    await engine.submit(draw('consume', user, 'c', 1))
    await change(`delete from reservation where user_id = $1 and id = 'a'`, user)
    await change('delete from quota_window where quota_id = $1 and window_no = 0', quota)
    expect(await judge(user)).toEqual({ messages: [], notProvable: { rollover: 1, usage: 1 } })
  })
})

describe('usage', () => {
  /** A user with 5 opening units and 7 used ones, of which 2 were refunded. */
  async function used() {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, limit: 100, opening_used: 5, period: 'hour' })
    const cap = await bench.quota({ user_id: user, kind: 'cap', limit: 100 })
    await engine.submit(draw('consume', user, 'a', 4))
    clock.now += HOUR_MS
    await engine.submit(draw('consume', user, 'b', 3))
    await engine.submit(settle('refund', user, 'b', 2))
    return { user, quota: id, cap: cap.id }
  }
  test('holds before the rollup, after it, and after retention', async () => {
    const { user } = await used()
    expect(await judge(user)).toEqual(RIGHT)
    await rollUp(user)
    expect(await judge(user)).toEqual(RIGHT)
    clock.now += 1
    await retire(user)
    expect(await judge(user)).toEqual(RIGHT)
  })

  test('finds usage that is wrong or lost', async () => {
    const { user, quota } = await used()
    await rollUp(user)
    await change('update usage set refunded = 1 where user_id = $1 and refunded = 2', user)
    const message = (units: number) =>
      `usage: Quota ${quota} of user ${user}: usage reports ${units} units, and its windows used 10, of which 5 were used before its creation.`
    expect((await judge(user)).messages).toEqual([message(6)])
    await change('delete from usage where user_id = $1', user)
    expect((await judge(user)).messages).toEqual([message(0)])
    await change('update usage_pending set units[1] = 0 where $1 = any(users)', user)
  })

  test('finds verified messages that are lost or counted twice', async () => {
    const { user, quota } = await used()
    await engine.submit({ op: 'feedback', user_id: user, id: 'a' })
    await rollUp(user)
    const message = (messages: number) =>
      `usage: Quota ${quota} of user ${user}: usage reports ${messages} verified messages, and 1 of its reservations were verified.`
    for (const counted of [0, 2]) {
      await change(
        'update usage set verified_messages = $2 where user_id = $1 and verified_messages is not null',
        user,
        counted,
      )
      expect((await judge(user)).messages).toEqual([message(counted)])
    }
    clock.now += 1
    await retire(user)
    expect((await judge(user)).messages).toEqual([message(2)])
    await change('update usage set verified_messages = 1 where user_id = $1 and verified_messages is not null', user)
    expect(await judge(user)).toEqual(RIGHT)
  })

  test('finds usage that is lost before its rollup', async () => {
    const { user } = await used()
    await change('delete from usage_pending where $1 = any(users)', user)
    expect((await judge(user)).messages).toEqual([expect.stringContaining('usage reports 0 units')])
  })

  test('finds usage of a cap, and of another user’s quota', async () => {
    const [one, other] = [await used(), await used()]
    for (const { user } of [one, other]) await rollUp(user)
    await change('update usage set quota_id = $1 where user_id = $2 and committed = 4', one.cap, one.user)
    await change('update usage set quota_id = $1 where user_id = $2 and committed = 3', other.quota, one.user)
    const { messages } = await judge(one.user)
    expect(messages.filter(message => !message.includes(`Quota ${one.quota} `))).toEqual([
      `usage: Quota ${one.cap} of user ${one.user}: usage reports 4 units for it, and it is a cap.`,
      ...(shardOf(one.user) === shardOf(other.user)
        ? [
            `usage: User ${one.user}: usage reports 1 units for quota ${other.quota}, which belongs to user ${other.user}.`,
          ]
        : []),
    ])
  })

  test('cannot prove usage of a quota that is gone, or of a rollup that is far behind', async () => {
    const { user } = await used()
    await rollUp(user)
    await change(
      `insert into usage values ($1, $2, now(), $3, null, null, 5, 1, 0, 0, 0, 0)`,
      shardOf(user),
      user,
      64_000_000 + shardOf(user),
    )
    expect(await judge(user)).toEqual({ messages: [], notProvable: { usage: 1 } })
    await change(
      `insert into usage_pending (shard, number, bucket, users, quotas, countries, message_types, kinds, units, messages)
       select $1, -n, now(), '{}', '{}', '{}', '{}', '{}', '{}', '{}' from generate_series(1, $2::int) n`,
      shardOf(user),
      MAX_PENDING + 1,
    )
    expect(await judge(user)).toEqual({ messages: [], notProvable: { usage: 3 } })
    await change('delete from usage_pending where number < 0')
  })
})

describe('live', () => {
  test('is the number of unexpired quotas as of the last change, also if some expire later', async () => {
    const user = someone()
    await bench.quota({ user_id: user, expires_at: clock.now + HOUR_MS })
    const { id } = await bench.quota({ user_id: user })
    clock.now += 2 * HOUR_MS
    expect(await judge(user)).toEqual(RIGHT)
    await deleteQuota(db, id, bench.author(), () => true)
    expect(await judge(user)).toEqual(RIGHT)
    await change('update account set live = 1 where user_id = $1', user)
    const at = new Date(clock.now).toISOString()
    expect((await judge(user)).messages).toEqual([
      `live: User ${user}: 1 unexpired quotas are counted as of ${at}, and there were 0.`,
    ])
    await change('update account set live_at = null where user_id = $1', user)
    expect(await judge(user)).toEqual({ messages: [], notProvable: { live: 1 } })
  })
})

test('sequences: finds a gap in the events of a user, and none at the beginning', async () => {
  const { user, quota } = await aUser()
  for (const name of ['a', 'b', 'c']) await update(quota, { name })
  expect(await judge(user)).toEqual(RIGHT)
  const remove = (sequence: number) => change('delete from event where user_id = $1 and sequence = $2', user, sequence)
  await remove(3)
  // As many as the changes have emitted, but for one.
  const [message = '', ...others] = (await judge(user)).messages
  const [, last, found] = /^sequences: User \d+: events 1 to (\d+) are (\d+), and should be \1\.$/.exec(message) ?? []
  expect([Number(last) - Number(found), others]).toEqual([1, []])
  await remove(1)
  await remove(2)
  expect(await judge(user)).toEqual(RIGHT)
})

async function aTransfer(on: Bench = bench) {
  const [giver, receiver] = [someone(), someone()]
  const { id } = await on.quota({ user_id: giver, period: 'hour', limit: 10 })
  const terms = { to_user_id: receiver, units: 4, reason: null, expires_at: null }
  const moved = await transferOnce(on.db, id, terms, on.author(), `${id}`)
  if (moved.outcome !== 'transferred') throw new Error(moved.outcome)
  for (const userId of [giver, receiver]) expect((await verify(on.db, { userId })).differences).toEqual([])
  return { giver, receiver, transfer: moved.transfer }
}

describe('transfers: finds', () => {
  test('one whose reservation has other units, or says nothing of what came back', async () => {
    const { giver, transfer } = await aTransfer()
    await change('update transfer set returned = 1 where id = $1', transfer.id)
    expect((await judge(giver)).messages).toContain(
      `transfers: Transfer ${transfer.id} of user ${giver}: 4 units moved and 1 were given back; its reservation has 4 and 0.`,
    )
  })

  test('a reservation that belongs to none', async () => {
    const { giver, transfer } = await aTransfer()
    await change('delete from transfer where id = $1', transfer.id)
    expect((await judge(giver)).messages).toContain(
      `transfers: Reservation "_transfer:${transfer.id}" of user ${giver} belongs to no transfer.`,
    )
  })

  test('nothing once retention has removed the reservation, and says so', async () => {
    const { giver } = await aTransfer()
    clock.now += 1
    await retire(giver)
    expect(await judge(giver)).toEqual({ messages: [], notProvable: { transfers: 1 } })
  })
})

describe('of everything', async () => {
  const whole = await createBench()
  const sender = whole.engine()
  const run = (text: string) => whole.db.query({ text: rawSql`${text}` })
  const messagesOf = async (max = 20) =>
    (await verify(whole.db, { maxDifferences: max })).differences.map(({ message }) => message)

  test('covers all users, shard by shard', async () => {
    const users = Array.from({ length: 150 }, () => someone())
    await Promise.all(users.filter((_, n) => n % 3 > 0).map(user_id => whole.quota({ user_id })))
    await Promise.all(users.map(user => sender.submit(draw('consume', user, 'm', 1, { force: true }))))
    const parts: number[] = []
    const { proofs, differences } = await verify(whole.db, { onProgress: (_, part) => parts.push(part) })
    expect(differences).toEqual([])
    const checked = PROOFS.map(name => proofs.get(name)?.checked)
    expect(checked).toEqual([expect.any(Number), 100, 100, 150, 0, 100, 0, 100, 0, 0, 0, 100, 100, 100])
    expect(PROOFS.map(name => proofs.get(name)?.notProvable)).toEqual(PROOFS.map(() => 0))
    expect(parts).toEqual(parts.toSorted((one, other) => one - other))
    expect(parts.at(-1)).toBe(1)
  })

  test('finds what cannot be read: times without end, unknown time zones and numbers past those of JavaScript', async () => {
    const bench = await createBench()
    // The alert of a quota without an end ends at infinity.
    await bench.quota({ user_id: 7, limit: 2, alert_at: [50] })
    await bench.engine().submit(draw('consume', 7, 'm', 1))
    await bench.db.query({ text: sql`update usage_upkeep set until = '-infinity'` })
    expect((await verify(bench.db)).differences).toEqual([])
    for (const [table, column, value] of [
      ['quota', 'window_end', 'infinity'],
      ['quota', 'created_at', '-infinity'],
      ['quota', 'time_zone', 'Mars/Olympus'],
      ['quota', 'used', '9007199254740993'],
      ['usage_pending', 'bucket', 'infinity'],
      ['sweeper_watermark', 'closed_until', 'infinity'],
    ] as const) {
      const read = { text: rawSql`select ${column}::text as former from ${table} limit 1` }
      const [row] = await bench.db.query<{ former: string | null }>(read)
      const set = (to: string | null) =>
        bench.db.query({ text: rawSql`update ${table} set ${column} = ${to === null ? 'null' : `'${to}'`}` })
      await set(value)
      const found = (await verify(bench.db)).differences
      await set(row?.former ?? null)
      expect(found[0]).toMatchObject({
        proof: 'readable',
        message: expect.stringContaining(`${table}.${column} of a row`),
      })
      expect(found[0]?.message).toContain(value)
    }
  })

  test('reads all times, numbers and time zones of all tables', async () => {
    const known = (await readableColumns(whole.db)).map(({ table, column }) => `${table}.${column}`)
    const some = [
      'quota.window_end',
      'quota_window.window_start',
      'usage_pending.bucket',
      'user_profile.time_zone',
      'event.at',
    ]
    expect(known).toEqual(expect.arrayContaining(some))
  })

  test('finds rows of quotas that do not exist, and each wrong total of a shard', async () => {
    await run('insert into archive values (5, 6405, 3, 8)')
    await run(
      `insert into quota_window values (5, 6405, 3, now(), now(), 1, 0, 0, 8, 0, 0), (5, 12805, 0, now(), now(), 1, 0, 0, 8, 1, 0)`,
    )
    await run('update shard_head set grants = grants + 1, deleted_caps = 2 where shard = 9')
    await run('update shard_head set caps = caps + 3 where shard = 8')
    const grants = await run(`select count(*) as n from quota where shard = 9`)
    const n = (grants[0] as { n: number }).n
    expect(await messagesOf()).toEqual([
      'Quota 6405 does not exist, window 3: counted 8 used and 0 reserved, its archive has 8 used.',
      'Quota 12805 does not exist, window 0: counted 8 used and 1 reserved, its archive has 0 used.',
      'Shard 8: 3 caps are counted, and there are 0.',
      `Shard 9: ${n + 1} grants are counted, and there are ${n}.`,
      'Shard 9: 2 deleted caps are counted, and there are 0.',
    ])
    await run('delete from archive; delete from quota_window')
    await run('update shard_head set grants = grants - 1, deleted_caps = 0 where shard = 9')
    await run('update shard_head set caps = 0 where shard = 8')
  })

  test('events: finds missing numbers, and events beyond the last', async () => {
    const [last] = await whole.db.query<{ last_event: number }>({
      text: sql`select last_event from shard_head where shard = 4`,
    })
    await run(`insert into event (shard, number, type, at, data)
      select 4, ${last?.last_event} + n, 'webhook.disabled', now(), '{}' from generate_series(1, 60000) n`)
    expect(await messagesOf(1)).toEqual([
      `Shard 4: there are events after ${last?.last_event}, the last that is counted.`,
    ])
    await run('update shard_head set last_event = last_event + 60000 where shard = 4')
    await run('delete from event where shard = 4 and number = 30000')
    expect(await messagesOf()).toEqual([
      expect.stringMatching(/^Shard 4: 1 of the events \d+ to \d+ are missing, the first is 30000.$/),
    ])
    await run(`insert into event (shard, number, type, at, data)
      values (4, 30000, 'webhook.disabled', now(), '{}')`)
  })

  test('profiles: finds references that lead elsewhere than the profiles say, of a user and of all', async () => {
    const author = { now: clock.now, actor: 'ada', requestId: 'r' }
    const ids = [1, 2, 3].map(n => 5_000 + n)
    const [one = 0, two = 0, three = 0] = ids
    for (const user of ids) await updateProfile(whole.db, user, { ref: `ref-${user}` }, author, () => true)
    expect(await messagesOf()).toEqual([])
    await run(`update user_ref set user_id = ${two} where ref = 'ref-${one}'`)
    await run(`delete from user_ref where ref = 'ref-${two}'`)
    await run(`delete from user_profile where user_id = ${three}`)
    expect((await messagesOf()).sort()).toEqual([
      `The reference "ref-${one}" names user ${two}, whose profile has "ref-${two}".`,
      `The reference "ref-${three}" names user ${three}, whose profile has none.`,
      `User ${one} has the reference "ref-${one}", which names user ${two}.`,
      `User ${two} has the reference "ref-${two}", which names no user.`,
    ])
    const { differences } = await verify(whole.db, { userId: two })
    expect(differences.map(({ message }) => message)).toEqual([
      `User ${two} has the reference "ref-${two}", which names no user.`,
    ])
    await run(`delete from user_ref; delete from user_profile; delete from profile_change`)
    await run(`delete from account where user_id = any('{${ids}}')`)
  })

  test('transfers: finds a grant that was made of other units', async () => {
    const { giver, receiver, transfer } = await aTransfer(whole)
    const setLimit = (limit: number) =>
      run(
        `update quota_change set after = jsonb_set(after, '{limit}', '${limit}') where quota_id = ${transfer.to_quota_id}`,
      )
    await setLimit(5)
    expect(await messagesOf()).toEqual([
      `Transfer ${transfer.id} of user ${giver}: 4 units went to user ${receiver} as quota ${transfer.to_quota_id}, which was made for user ${receiver} with 5.`,
    ])
    await setLimit(4)
  })

  test('ends at the maximum of differences', async () => {
    await run('update quota set used = used + 1 where id in (select id from quota limit 30)')
    expect(await messagesOf()).toHaveLength(20)
    expect(await messagesOf(3)).toHaveLength(3)
  })

  /** The first transaction asks what the database is, the second reads all columns, and the next are of ranges of users. */
  test.each([
    [2, 3],
    [3, 4],
  ])('takes less at a time when the statements %i and %i take too long', async (...late) => {
    const tooLong = Object.assign(new pg.DatabaseError('canceling statement', 0, 'error'), { code: '57014' })
    let tries = 0
    const slow: Database = {
      ...whole.db,
      transaction(work, mode) {
        tries += 1
        return late.includes(tries) ? Promise.reject(tooLong) : whole.db.transaction(work, mode)
      },
    }
    const { proofs, differences } = await verify(slow, { maxDifferences: 100 })
    expect([proofs.get('usage')?.checked, proofs.get('draws')?.checked]).toEqual([102, 151])
    const checked = 65 * (await readableColumns(whole.db)).length
    expect(proofs.get('readable')).toEqual({ checked, notProvable: 0 })
    // All of them: a counter that is wrong differs from usage, too.
    expect(differences).toHaveLength(60)
  })
})
