import { describe, expect, inject, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { OF_ALL_SHARDS } from '../../src/db/ledger/add-usage.ts'
import type { UsageSums } from '../../src/db/usage/columns.ts'
import { ROLLUP_PAGE } from '../../src/db/usage/rollup.ts'
import { sumUsage } from '../../src/db/usage/sums.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { usageBucketOf } from '../../src/domain/units/usage.ts'
import { createJobRunner } from '../../src/jobs/runner.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { impatientDatabase } from '../support/database.ts'
import {
  createBench,
  draw,
  expectVerified,
  neighbours,
  openTransaction,
  reserve,
  settle,
  someone,
  usersOfTwoShards,
} from '../support/engine.ts'
import { seeds } from '../support/runs.ts'
import { rawSql } from '../support/sql.ts'
import { MINUTE, NOTHING, usageOn } from './usage-fixture.ts'

const isOnePostgres = inject('nodes') === null
const bench = await createBench()
const { db, clock } = bench
const { engine, usageOf, totalOf, rollUpAll, expectRightInHistories } = usageOn(bench)
const log = { info() {}, warn() {}, error() {} }

async function countOf(table: string): Promise<number> {
  const [row] = await db.query<{ count: number }>({ text: rawSql`select count(*) as count from ${table}` })
  return row?.count ?? Number.NaN
}

describe('usage', () => {
  test('is what was committed, refunded and denied, at the time of each', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, limit: 100 })
    clock.now = Date.parse('2026-03-20T10:07:00Z')
    await engine.submit(reserve(user, 'campaign', 50, { country: 'DE', ttl_ms: DAY_MS }))
    expect(await totalOf(user)).toEqual(NOTHING)
    await engine.submit(settle('commit', user, 'campaign', 20))
    clock.now = Date.parse('2026-03-20T10:22:00Z')
    await engine.submit(settle('commit', user, 'campaign', 30))
    await engine.submit(settle('commit', user, 'campaign', 30))
    await engine.submit(settle('refund', user, 'campaign', 5))
    await engine.submit(settle('refund', user, 'campaign', 7))
    await engine.submit(settle('release', user, 'campaign'))
    await engine.submit(draw('consume', user, 'big', 500, { country: 'FR' }))
    await engine.submit(draw('check', user, '', 500))
    const expected = { ...NOTHING, committed: 30, committed_messages: 1, refunded: 7, refunded_messages: 1 }
    const denied = { denied: 500, denied_messages: 1, quota_exhausted: 500, quota_exhausted_messages: 1 }
    expect(await totalOf(user)).toEqual({ ...expected, ...denied })
    expect(await usageOf(user, 'quota')).toEqual(
      new Map<number | null, UsageSums>([
        [id, expected],
        [null, { ...NOTHING, ...denied }],
      ]),
    )
    expect([...(await usageOf(user, 'country')).keys()]).toEqual(['DE', 'FR'])
    const quarters = [0, 15, 30].map(minutes => Date.parse('2026-03-20T10:00:00Z') + minutes * MINUTE)
    const rows = await sumUsage(db, user, { starts: quarters.slice(0, 2), to: quarters[2] ?? 0 }, undefined, 10)
    expect(rows.map(row => [row.interval, row.committed, row.refunded, row.denied])).toEqual([
      [0, 20, 0, 0],
      [1, 10, 7, 500],
    ])
  })

  test('is verified at the time of the feedback, once, for the grant that pays the first unit', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, limit: 100 })
    const began = Date.parse('2026-03-20T11:07:01.234Z')
    clock.now = began
    const sent = { country: 'DE', message_type: 'otp' }
    for (const message of ['a', 'b', 'c']) await engine.submit(draw('consume', user, message, 1, sent))
    clock.now = began + 15 * MINUTE
    const feedback = (message: string) => engine.submit({ op: 'feedback', user_id: user, id: message })
    const answers = await Promise.all(['a', 'a', 'b', 'nowhere'].map(feedback))
    expect(answers).toMatchObject([
      { replayed: false },
      { replayed: true },
      { replayed: false },
      { outcome: 'not_found' },
    ])
    // Feedback changes no units.
    const changed = sql`select changed_at, verified from reservation where user_id = $1 and id = 'a'`
    expect(await db.query({ text: changed, values: [user] })).toEqual([{ changed_at: began, verified: true }])
    const pending = await db.query<{ at: number; sent_at: (number | null)[] | null }>({
      text: sql`select at, (select array_agg(extract(epoch from s)::numeric * 1000) from unnest(sent_at) s)::text[] as sent_at, kinds
        from usage_pending where $1 = any(users) order by at, number`,
      values: [user],
    })
    expect(pending.at(-1)).toMatchObject({ at: clock.now })
    // A cluster has a null for each of the others.
    expect(pending.flatMap(batch => batch.sent_at?.filter(sent => sent !== null) ?? []).map(Number)).toEqual([began])
    const quarters = [0, 15, 30].map(minutes => usageBucketOf(began) + minutes * MINUTE)
    const isCounted = async () => {
      const rows = await sumUsage(db, user, { starts: quarters.slice(0, 2), to: quarters[2] ?? 0 }, 'quota', 10)
      expect(rows.map(row => [row.key, row.committed_messages, row.denied_messages, row.verified_messages])).toEqual([
        [id, 3, 0, 0],
        [id, 0, 0, 2],
      ])
      expect((await usageOf(user, 'country')).get('DE')).toMatchObject({ verified_messages: 2 })
      expect((await usageOf(user, 'message_type')).get('otp')).toMatchObject({ verified_messages: 2 })
    }
    await isCounted()
    await rollUpAll()
    await isCounted()
    await engine.submit({ ...settle('commit', user, 'c'), verified: true })
    await feedback('c')
    expect(await totalOf(user)).toMatchObject({ committed_messages: 3, verified_messages: 3 })
  })

  test('is committed once more, at its time, when a forced commit takes refunded units again', async () => {
    const user = someone()
    const one = await bench.quota({ user_id: user, limit: 3, priority: 1 })
    const two = await bench.quota({ user_id: user, limit: 9, priority: 2 })
    const commit = (units: number | null) => engine.submit({ ...settle('commit', user, 'm', units), force: true })
    await engine.submit(draw('consume', user, 'm', 5))
    await engine.submit(settle('refund', user, 'm'))
    await commit(4)
    expect(await totalOf(user)).toEqual({
      ...NOTHING,
      ...{ committed: 9, committed_messages: 1, refunded: 5, refunded_messages: 1 },
    })
    for (let n = 0; n < 2; n++) await commit(null)
    const ofOne = { committed: 6, committed_messages: 2, refunded: 3, refunded_messages: 1 }
    const ofTwo = { committed: 4, refunded: 2 }
    expect(await usageOf(user, 'quota')).toEqual(
      new Map([
        [one.id, { ...NOTHING, ...ofOne }],
        [two.id, { ...NOTHING, ...ofTwo }],
      ]),
    )
    await rollUpAll()
    await expectVerified(db, user)
  })

  test('is unfunded if no grant pays, and a refund reduces that', async () => {
    const user = someone()
    await engine.submit(draw('consume', user, 'm', 5, { force: true }))
    await engine.submit(settle('refund', user, 'm', 2))
    expect(await totalOf(user)).toEqual({
      ...NOTHING,
      committed: 5,
      committed_messages: 1,
      unfunded: 5,
      unfunded_messages: 1,
      refunded: 2,
      refunded_messages: 1,
    })
  })

  test('belongs to the grants that paid, unit by unit, and not to caps; a message belongs to the first grant', async () => {
    const user = someone()
    const one = await bench.quota({ user_id: user, limit: 5, overage_limit: 10, priority: 1 })
    const two = await bench.quota({ user_id: user, limit: 5, priority: 2 })
    await bench.quota({ user_id: user, kind: 'cap', limit: 100 })
    // 5 of the first, 5 of the second, 3 of the first's overage: a refund starts at that end.
    await engine.submit(draw('consume', user, 'm', 13))
    await engine.submit(settle('refund', user, 'm', 4))
    const byQuota = await usageOf(user, 'quota')
    const refund = { refunded_messages: 0, refunded: 1 }
    expect(byQuota).toEqual(
      new Map([
        [one.id, { ...NOTHING, committed: 8, committed_messages: 1, refunded: 3, refunded_messages: 1 }],
        [two.id, { ...NOTHING, committed: 5, ...refund }],
      ]),
    )
  })

  test('includes reservations that commit on expiry, and excludes the opening units of a quota', async () => {
    const user = someone()
    await bench.quota({ user_id: user, limit: 100, opening_used: 40 })
    await engine.submit(reserve(user, 'm', 10, { ttl_ms: MINUTE, on_expiry: 'commit' }))
    clock.now += 2 * MINUTE
    await engine.submit({ op: 'expire', user_id: user, id: 'm' })
    expect(await totalOf(user)).toEqual({ ...NOTHING, committed: 10, committed_messages: 1 })
  })

  test('does not count repeated and rejected commands', async () => {
    const user = someone()
    await bench.quota({ user_id: user, limit: 100 })
    for (let n = 0; n < 3; n++) await engine.submit(draw('consume', user, 'm', 1))
    await engine.submit(draw('consume', user, 'm', 2))
    await engine.submit(settle('commit', user, 'unknown', 2))
    await engine.submit(settle('refund', user, 'm', 9))
    expect(await totalOf(user)).toEqual({ ...NOTHING, committed: 1, committed_messages: 1 })
  })
})

test('denials can be all that a batch writes', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, limit: 10 })
  await engine.submit(draw('consume', user, 'm', 10))
  const before = await countOf('usage_pending')
  await engine.submit(draw('consume', user, 'n', 1))
  expect(await countOf('usage_pending')).toBe(before + 1)
  const byQuota = await usageOf(user, 'quota')
  expect([byQuota.get(id), byQuota.get(null)]).toMatchObject([
    { committed: 10, denied: 0 },
    { committed: 0, denied: 1 },
  ])
  await rollUpAll()
})

describe('the rollup', () => {
  test('by two processes, while batches come, loses nothing and counts nothing twice', async () => {
    await rollUpAll()
    const users = neighbours(4)
    for (const user_id of users) await bench.quota({ user_id, limit: 1_000_000 })
    let isOver = false
    const totals: number[] = []
    const send = async () => {
      for (let n = 0; n < 150; n++)
        await Promise.all(users.map(user => engine.submit(draw('consume', user, `f${n}`, 2))))
      isOver = true
    }
    const rollUp = async () => {
      let batches = 0
      while (!isOver) batches += await rollUpAll()
      return batches + (await rollUpAll())
    }
    const readTotals = async () => {
      while (!isOver) totals.push((await totalOf(users[0] ?? 0)).committed)
    }
    const [, one, other] = await Promise.all([send(), rollUp(), rollUp(), readTotals()])
    expect(one + other).toBeGreaterThan(50)
    expect(await countOf('usage_pending')).toBe(0)
    for (const user of users) expect(await totalOf(user)).toMatchObject({ committed: 300, committed_messages: 150 })
    // Concurrent readers see totals that only grow, by whole commits.
    expect(totals).toEqual(totals.toSorted((a, b) => a - b))
    expect(totals.filter(total => total % 2 !== 0)).toEqual([])
  })

  test('skips batches that another process is rolling up, without waiting for it', async () => {
    await rollUpAll()
    const user = someone()
    await bench.quota({ user_id: user, limit: 100 })
    await engine.submit(draw('consume', user, 'm', 1))
    const held = await openTransaction(db, tx =>
      tx.query({
        text: sql`select from usage_pending where shard = $1 for update`,
        values: [isOnePostgres ? OF_ALL_SHARDS : shardOf(user)],
      }),
    )
    expect(await rollUpAll()).toBe(0)
    await held.commit()
    expect(await rollUpAll()).toBe(1)
    expect(await totalOf(user)).toMatchObject({ committed: 1 })
  })

  test('leaves a batch that cannot be added up, names it, and does all others', async () => {
    await rollUpAll()
    const [user = 0, bad = 0] = neighbours(2)
    const elsewhere = someone()
    await bench.quota({ user_id: user, limit: 1_000 })
    await bench.quota({ user_id: elsewhere, limit: 1_000 })
    const errors: unknown[] = []
    const rollup = createUsageRollup({ db, log: { ...log, error: fields => errors.push(fields) } })
    const send = async (id: string) => {
      for (const one of [user, elsewhere]) await engine.submit(draw('consume', one, id, 1))
    }
    for (let n = 0; n < 5; n++) await send(`a${n}`)
    const [planted] = await db.query<{ number: number }>({
      text: sql`insert into usage_pending values ($1, nextval('usage_number'), '2026-03-20', array[$2::bigint], '{1}',
        '{null}', '{null}', '{0}', '{-7}', '{1}') returning number`,
      values: [shardOf(bad), bad],
    })
    for (let n = 0; n < 5; n++) await send(`b${n}`)
    while ((await rollup.rollUpOnce()).isBehind);
    expect(errors).toMatchObject([{ shard: shardOf(bad), number: planted?.number }])
    expect(await db.query({ text: sql`select number from usage_pending` })).toEqual([planted])
    for (const one of [user, elsewhere]) expect(await totalOf(one)).toMatchObject({ committed: 10 })
    // It stays known, and costs the next steps nothing.
    await send('c')
    while ((await rollup.rollUpOnce()).isBehind);
    expect(errors).toHaveLength(1)
    expect(await countOf('usage_pending')).toBe(1)
    await db.query({ text: sql`truncate usage_pending` })
  })

  test('takes no batch that another process holds for the one behind it that cannot be added up', async () => {
    await rollUpAll()
    const user = someone()
    const plant = (number: number, units: number) =>
      db.query({
        text: sql`insert into usage_pending values ($1, $2, '2026-03-20', array[$3::bigint], '{1}', '{null}', '{null}', '{0}', array[$4::bigint], '{1}')`,
        values: [shardOf(user), number, user, units],
      })
    await plant(1, 1)
    await plant(2, -7)
    const held = await openTransaction(db, tx =>
      tx.query({
        text: sql`select from usage_pending where shard = $1 and number = 1 for update`,
        values: [shardOf(user)],
      }),
    )
    const errors: unknown[] = []
    const rollup = createUsageRollup({ db, log: { ...log, error: fields => errors.push(fields) } })
    while ((await rollup.rollUpOnce()).isBehind);
    expect(errors).toMatchObject([{ shard: shardOf(user), number: 2 }])
    await held.commit()
    while ((await rollup.rollUpOnce()).isBehind);
    expect(await db.query({ text: sql`select number from usage_pending` })).toEqual([{ number: 2 }])
    await db.query({ text: sql`truncate usage_pending` })
  })

  test('leaves the part of one shard of a batch that cannot be added up, and adds the others', async () => {
    await rollUpAll()
    const users = usersOfTwoShards()
    const [full = 0, other = 0] = users
    for (const user of users) await bench.quota({ user_id: user, limit: 100 })
    await engine.submit(draw('consume', full, 'a', 1))
    await rollUpAll()
    const text = sql`update usage set committed = 9223372036854775807 where user_id = $1`
    await db.query({ text, values: [full] })
    await Promise.all(users.map(user => engine.submit(draw('consume', user, 'b', 1))))
    const errors: unknown[] = []
    const rollup = createUsageRollup({ db, log: { ...log, error: fields => errors.push(fields) } })
    while ((await rollup.rollUpOnce()).isBehind);
    expect(errors).toMatchObject([{ shard: shardOf(full) }])
    expect(await db.query({ text: sql`select shard, users from usage_pending` })).toEqual([
      { shard: shardOf(full), users: [full] },
    ])
    expect(await totalOf(other)).toMatchObject({ committed: 1 })
    await db.query({ text: sql`truncate usage_pending` })
  })

  test('of a shard that fails does not hold up the others', async () => {
    await rollUpAll()
    const users = usersOfTwoShards()
    for (const user of users) {
      await bench.quota({ user_id: user, limit: 100 })
      await engine.submit(draw('consume', user, 'a', 1))
    }
    await rollUpAll()
    for (const user of users) await engine.submit(draw('consume', user, 'b', 1))
    const held = await openTransaction(db, tx =>
      tx.query({
        text: sql`select from usage where shard = $1 and user_id = $2 for update`,
        values: [shardOf(users[0] ?? 0), users[0] ?? 0],
      }),
    )
    const hasty = createUsageRollup({ db: impatientDatabase(bench.url), log })
    // One step to part the batches of all shards, one for each shard.
    if (isOnePostgres) expect(await hasty.rollUpOnce()).toMatchObject({ batches: 0, isBehind: true })
    await expect(hasty.rollUpOnce()).rejects.toThrow('lock timeout')
    expect(await countOf('usage_pending')).toBe(1)
    await held.commit()
    await rollUpAll()
    for (const user of users) expect(await totalOf(user)).toMatchObject({ committed: 2 })
  })

  test('rests at most until about a page has come', async () => {
    const rollup = createUsageRollup({ db, log })
    const user = someone()
    const come = (batches: number) =>
      db.query({
        text: sql`insert into usage_pending (shard, number, bucket, users, quotas, countries, message_types, kinds, units, messages, shards)
          select $1, n, $5::timestamptz, array[$2::bigint], '{null}', '{DE}', '{otp}', '{0}', '{1}', '{1}', array[$3::smallint]
          from generate_series(1, $4::int) n`,
        values: [
          isOnePostgres ? OF_ALL_SHARDS : shardOf(user),
          user,
          shardOf(user),
          batches,
          timestampParam(usageBucketOf(clock.now)),
        ],
      })
    const restAfter = async (batches: number) => {
      await come(batches)
      const signal = new AbortController().signal
      let end = await rollup.step(signal)
      while (end.isBehind) end = await rollup.step(signal)
      return end.pauseMs(0)
    }
    await rollUpAll()
    expect(await restAfter(0)).toBe(10_000)
    expect(await restAfter(ROLLUP_PAGE / 2)).toBe(10_000)
    expect(await restAfter(ROLLUP_PAGE * 2.5)).toBe(4_000)
    expect(await restAfter(ROLLUP_PAGE / 2)).toBe(8_000)
    expect(await restAfter(ROLLUP_PAGE * 20.5)).toBe(500)
    expect(await restAfter(0)).toBe(10_000)
    expect(await totalOf(user)).toMatchObject({ committed: ROLLUP_PAGE * 24 })
  })

  test('as a job it runs until the runner stops', async () => {
    const user = someone()
    await bench.quota({ user_id: user, limit: 100 })
    await engine.submit(draw('consume', user, 'm', 1))
    const rolledUp = Promise.withResolvers<void>()
    const rollup = createUsageRollup({ db, log, onRollup: ({ batches }) => batches > 0 && rolledUp.resolve() })
    const jobs = createJobRunner([rollup], { log })
    jobs.start()
    await rolledUp.promise
    await jobs.stop()
    expect(await countOf('usage_pending')).toBe(0)
  })
})

test('in random histories usage equals the ledger and the windows, and verify finds no difference, in any zone and at any age', () =>
  // `usage-rollup.long.test.ts` has five times as many and more.
  expectRightInHistories(seeds(6)))
