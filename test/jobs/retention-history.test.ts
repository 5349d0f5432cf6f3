/** What retention removes beside reservations: old windows and deleted quotas. And that one shard does not stop the others. */
import { describe, expect, test } from 'vitest'
import { deleteQuota } from '../../src/admin/quotas/delete-quota.ts'
import type { Database, Transaction } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { PartsFailed } from '../../src/jobs/isolation.ts'
import { createRetention, type RetentionOptions } from '../../src/jobs/retention.ts'
import { countersOf, createBench, draw, expectVerified, reserve, settle, someone } from '../support/engine.ts'
import { rawSql } from '../support/sql.ts'

const bench = await createBench()
const { db, clock } = bench
const engine = bench.engine()

const later = (ms: number) => {
  clock.now += ms
}

/** Retires until nothing is left at this time. A new job reads everything. */
async function retire(options: Partial<RetentionOptions>) {
  const retention = createRetention({ db, now: () => clock.now, ...options })
  const sum = { removed: 0, removedWindows: 0, removedQuotas: 0 }
  for (;;) {
    const step = await retention.removeOnce(clock.now)
    sum.removed += step.removed
    sum.removedWindows += step.removedWindows
    sum.removedQuotas += step.removedQuotas
    if (!step.isBehind) return sum
  }
}

async function count(table: string, quotaId: number, key = 'quota_id'): Promise<number> {
  const [row] = await db.query<{ rows: number }>({
    text: rawSql`select count(*) as rows from ${table} where ${key} = $1`,
    values: [quotaId],
  })
  return row?.rows ?? Number.NaN
}

async function totals(): Promise<object | undefined> {
  const [row] = await db.query({
    text: sql`select counted.*, present, deleted
           from (
             select sum(grants)::int as grants, sum(caps)::int as caps, sum(deleted_grants)::int as deleted_grants,
               sum(deleted_caps)::int as deleted_caps
             from shard_head
           ) counted, (
             select count(*) filter (where deleted_at is null)::int as present,
               count(*) filter (where deleted_at is not null)::int as deleted
             from quota
           ) found`,
  })
  return row
}

async function expectEqual(user: number): Promise<void> {
  await expectVerified(db, user)
  const { grants, caps, deleted_grants, deleted_caps, present, deleted } = (await totals()) as Record<string, number>
  expect([(grants ?? 0) + (caps ?? 0), (deleted_grants ?? 0) + (deleted_caps ?? 0)]).toEqual([present, deleted])
}

/** Uses a unit in each of some hours. */
async function consumeHourly(user: number, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    await engine.submit(draw('consume', user, `h${hour}`, 1))
    later(HOUR_MS)
  }
}

describe('past windows', () => {
  const KEPT = { retentionMs: 35 * DAY_MS, historyRetentionMs: 90 * DAY_MS }

  test('are kept for ever by default', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, period: 'hour' })
    await consumeHourly(user, 3)
    later(3_000 * DAY_MS)
    expect(await retire({})).toMatchObject({ removedWindows: 0 })
    expect(await count('quota_window', id)).toBe(2)
    await expectEqual(user)
  })

  test('are removed after the time, with what is archived of them, and no sooner', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, period: 'hour', rollover_limit: 5 })
    await consumeHourly(user, 4)
    later(89 * DAY_MS)
    await retire(KEPT)
    expect(await count('quota_window', id)).toBe(3)
    expect(await count('archive', id)).toBe(4)
    later(DAY_MS)
    expect(await retire(KEPT)).toMatchObject({ removedWindows: 3 })
    expect(await count('quota_window', id)).toBe(0)
    // The current window's part stays.
    expect(await count('archive', id)).toBe(1)
    await expectEqual(user)
    expect(await engine.submit(draw('consume', user, 'again', 1))).toMatchObject({ outcome: 'granted' })
    await expectEqual(user)
  })

  test('stay while a reservation can correct them', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, period: 'hour' })
    await engine.submit(reserve(user, 'open', 3, { ttl_ms: 7 * DAY_MS }))
    await consumeHourly(user, 3)
    later(400 * DAY_MS)
    // The reservation is overdue and no sweeper runs: it is not removed, and may still be committed.
    await retire(KEPT)
    expect(await count('quota_window', id)).toBe(2)
    await engine.submit({ op: 'expire', user_id: user, id: 'open' })
    await engine.submit({ ...settle('commit', user, 'open'), force: true })
    await expectEqual(user)
    later(36 * DAY_MS)
    await retire(KEPT)
    await retire(KEPT)
    expect(await count('quota_window', id)).toBe(0)
    await expectEqual(user)
  })

  test('of a quota with many are removed in several pages', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, period: 'hour' })
    await db.query({
      text: sql`insert into quota_window
             select $1, $2, -n, at, at + interval '1 hour', 10, 0, 0, 0, 0, 0
             from generate_series(1, 450) n, lateral (select to_timestamp(0) - n * interval '1 hour' as at) t`,
      values: [shardOf(user), id],
    })
    expect(await retire(KEPT)).toMatchObject({ removedWindows: 450 })
    await expectEqual(user)
  })
})

describe('deleted quotas', () => {
  const KEPT = { retentionMs: 35 * DAY_MS, deletedQuotaRetentionMs: 60 * DAY_MS }
  const remove = (id: number) => deleteQuota(db, id, bench.author(), () => true)

  test('are kept for ever by default', async () => {
    const { id } = await bench.quota({ user_id: someone() })
    await remove(id)
    later(3_000 * DAY_MS)
    expect(await retire({})).toMatchObject({ removedQuotas: 0 })
    expect(await count('quota', id, 'id')).toBe(1)
  })

  test('are removed after the time, with windows, archive and history', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, period: 'hour' })
    const cap = await bench.quota({ user_id: user, kind: 'cap', limit: 9 })
    const other = await bench.quota({ user_id: user })
    await consumeHourly(user, 3)
    await remove(id)
    await remove(cap.id)
    later(60 * DAY_MS - 1)
    await retire(KEPT)
    expect(await count('quota', id, 'id')).toBe(1)
    await expectEqual(user)
    later(1)
    await retire(KEPT)
    for (const table of ['quota_window', 'archive', 'quota_change']) expect(await count(table, id), table).toBe(0)
    expect(await count('quota', id, 'id')).toBe(0)
    expect(await count('quota', cap.id, 'id')).toBe(0)
    expect(await count('quota', other.id, 'id')).toBe(1)
    await expectEqual(user)
  })

  test('stay while a reservation from before the deletion is kept', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'open', 3, { ttl_ms: DAY_MS }))
    await remove(id)
    later(100 * DAY_MS)
    await retire(KEPT)
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 3 })
    await engine.submit(settle('commit', user, 'open', 2))
    await expectEqual(user)
    later(36 * DAY_MS)
    await retire(KEPT)
    expect(await count('quota', id, 'id')).toBe(0)
    await expectEqual(user)
  })

  test('stay, too, if the sender’s process was ahead of the administrator’s', async () => {
    const ahead = bench.engine({ now: () => clock.now + 500 })
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await ahead.submit(reserve(user, 'open', 3, { ttl_ms: DAY_MS }))
    await remove(id)
    later(100 * DAY_MS)
    await retire(KEPT)
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 3 })
    await ahead.submit(settle('commit', user, 'open', 2))
    await expectEqual(user)
    later(36 * DAY_MS)
    await retire(KEPT)
    expect(await count('quota', id, 'id')).toBe(0)
  })

  test('with many windows are removed in several pages', async () => {
    const { id, user_id } = await bench.quota({ user_id: someone(), period: 'hour' })
    await db.query({
      text: sql`insert into quota_window
             select $1, $2, -n, at, at + interval '1 hour', 10, 0, 0, 0, 0, 0
             from generate_series(1, 2500) n, lateral (select to_timestamp(0) - n * interval '1 hour' as at) t`,
      values: [shardOf(user_id), id],
    })
    await remove(id)
    later(60 * DAY_MS)
    expect(await retire(KEPT)).toMatchObject({ removedQuotas: 1 })
    await expectEqual(user_id)
  })
})

describe('a shard that fails', () => {
  /** Fails in the transactions of one shard. */
  function failingIn(shard: number, error: Error): Database {
    const failing = (tx: Transaction): Transaction => ({
      isCluster: false,
      query: statement => (statement.values?.[0] === shard ? Promise.reject(error) : tx.query(statement)),
    })
    return { ...db, transaction: (work, mode) => db.transaction(tx => work(failing(tx)), mode) }
  }

  test('does not keep the others from their turn, in this step and in later ones', async () => {
    const [broken, user] = [someone(1), someone(2)]
    for (const user_id of [broken, user]) await bench.quota({ user_id, limit: 100_000 })
    const consume = (id: string) =>
      Promise.all([broken, user].map(user_id => engine.submit(draw('consume', user_id, id, 1))))
    const left = async (user_id: number) =>
      (await db.query({ text: sql`select from reservation where user_id = $1`, values: [user_id] })).length
    const retention = createRetention({ db: failingIn(1, new Error('poison')), now: () => clock.now })

    for (const id of ['first', 'second']) {
      await consume(id)
      later(36 * DAY_MS)
      await expect(retention.removeOnce(clock.now)).rejects.toBeInstanceOf(PartsFailed)
      expect(await left(user)).toBe(0)
    }
    expect(await left(broken)).toBe(2)
  })
})

test('after all of this, verify finds no difference in any user or shard', async () => {
  expect((await verify(db)).differences).toEqual([])
})
