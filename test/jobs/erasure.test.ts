import { describe, expect, test } from 'vitest'
import { deleteQuota } from '../../src/admin/delete-quota.ts'
import { requestErasure } from '../../src/admin/erase-user.ts'
import type { Database } from '../../src/db/database.ts'
import { findErasure } from '../../src/db/erasure.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts'
import { createEraser } from '../../src/jobs/erasure.ts'
import { PartsFailed } from '../../src/jobs/isolation.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import {
  createBench,
  differences,
  draw,
  openTransaction,
  reserve,
  settle,
  someone,
  untilWaiting,
  warm,
} from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const engine = bench.engine()

const request = (user: number, force = false) => requestErasure(db, user, force, bench.author())
const eraserOn = (on: Database = db) => createEraser({ db: on, engine, now: () => clock.now })

/** Erases until nothing is under way. */
async function finish(eraser = eraserOn()): Promise<void> {
  while ((await eraser.eraseOnce()).left !== null);
}

async function expectEqual(): Promise<void> {
  expect((await verify(db)).differences).toEqual([])
  expect(await differences(db)).toEqual([])
  const [totals] = await db.query<{ wrong: number }>({
    text: `select count(*) as wrong from shard_head h where
      grants <> (select count(*) from quota q where q.shard = h.shard and kind = 'grant' and deleted_at is null) or
      caps <> (select count(*) from quota q where q.shard = h.shard and kind = 'cap' and deleted_at is null) or
      deleted_grants <> (select count(*) from quota q where q.shard = h.shard and kind = 'grant' and deleted_at is not null) or
      deleted_caps <> (select count(*) from quota q where q.shard = h.shard and kind = 'cap' and deleted_at is not null)`,
  })
  expect(totals?.wrong).toBe(0)
}

/** A user with something in every table. Returns the ids of the quotas. */
async function createHistory(user: number): Promise<number[]> {
  const hourly = await bench.quota({ user_id: user, period: 'hour', limit: 500, alert_at: [1] })
  const cap = await bench.quota({ user_id: user, kind: 'cap', limit: 5_000 })
  const deleted = await bench.quota({ user_id: user, limit: 5 })
  await deleteQuota(db, deleted.id, bench.author(), () => true)
  for (let hour = 0; hour < 3; hour++) {
    for (let n = 0; n < 10; n++) await engine.submit(draw('consume', user, `h${hour}-${n}`, 2))
    clock.now += HOUR_MS
  }
  await engine.submit(settle('refund', user, 'h0-1', 1))
  await engine.submit(draw('consume', user, 'denied', 9_000))
  await createUsageRollup({ db, log: console }).rollUpOnce()
  // Retention has removed some reservations.
  clock.now += DAY_MS
  await engine.submit(draw('consume', user, 'retired', 1))
  clock.now += 2
  await createRetention({ db, now: () => clock.now, retentionMs: 1 }).retireOnce(clock.now)
  for (let n = 0; n < 31; n++) await engine.submit(draw('consume', user, `kept-${n}`, 1))
  await engine.submit(draw('consume', user, 'pending', 1))
  await db.query({
    text: `insert into idempotency (shard, principal, key, request, created_at, answer)
           values (7, 'ada', $1, '{}', to_timestamp(0), $2)`,
    values: [`key-${user}`, JSON.stringify({ id: hourly.id, user_id: user })],
  })
  return [hourly.id, cap.id, deleted.id]
}

/** The tables in which something of the user is left, found by their columns. */
async function tablesWith(user: number, quotas: readonly number[]): Promise<string[]> {
  const columns = await db.query<{ name: string; column: string; type: string }>({
    text: `select c.table_name as name, c.column_name as column, c.data_type as type
           from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
           where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'erasure'
             and column_name in ('user_id', 'quota_id', 'users', 'quotas') order by 1, 2`,
  })
  expect(columns.length).toBeGreaterThan(8)
  const found: string[] = []
  for (const { name, column, type } of columns) {
    const values = column.startsWith('user') ? [user] : quotas
    const condition = type === 'ARRAY' ? `${column} && $1::bigint[]` : `${column} = any($1::bigint[])`
    const rows = await db.query({ text: `select from ${name} where ${condition} limit 1`, values: [values] })
    if (rows.length > 0) found.push(`${name}.${column}`)
  }
  const texts = await db.query({
    text: `select from event where data::text ~ $1
           union all select from idempotency where answer::text ~ $1`,
    values: [`"user_id": ${user}\\M`],
  })
  // The event that announces the erasure names the user.
  if (texts.length > 1) found.push('text')
  return found
}

describe('erases', () => {
  test('everything of the user but the record, and nothing of others', async () => {
    const [user, other] = [someone(3), someone(3)]
    const others = await createHistory(other)
    const quotas = await createHistory(user)
    const before = await tablesWith(user, quotas)
    expect(before).toEqual(
      expect.arrayContaining(['archive', 'event', 'text', 'usage_pending'].map(name => expect.stringContaining(name))),
    )
    const ofOther = await tablesWith(other, others)

    expect(await request(user)).toMatchObject({ outcome: 'running', erasure: { user_id: user, finished_at: null } })
    await expectEqual()
    await finish()

    expect(await tablesWith(user, quotas)).toEqual([])
    expect(await findErasure(db, user)).toMatchObject({
      requested_by: 'ada',
      request_id: 'test',
      force: false,
      finished_at: clock.now,
      removed: { reservation: 32, quota: 3, quota_window: 4, quota_change: 4, idempotency: 1 },
    })
    expect(await tablesWith(other, others)).toEqual(ofOther)
    await expectEqual()
  })

  test('page by page, and counters equal the ledger after each', async () => {
    const user = someone()
    const quotas = await createHistory(user)
    await db.query({
      text: `insert into quota_window
             select $1, $2, -n, at, at + interval '1 hour', 10, 0, 0, 0, 0, 0
             from generate_series(1, 1300) n, lateral (select to_timestamp(0) - n * interval '1 hour' as at) t`,
      values: [shardOf(user), quotas[0] ?? 0],
    })
    for (let n = 0; n < 1_200; n++) void engine.submit(draw('consume', user, `more-${n}`, 1, { force: true }))
    await warm(engine, user)
    await request(user)
    let pages = 0
    const eraser = eraserOn({
      ...db,
      async transaction(work, mode) {
        const result = await db.transaction(work, mode)
        if (mode === undefined) {
          pages += 1
          expect((await verify(db, { userId: user })).differences).toEqual([])
        }
        return result
      },
    })
    await finish(eraser)
    expect(pages).toBeGreaterThan(8)
    expect(await tablesWith(user, quotas)).toEqual([])
    await expectEqual()
  })

  test('a user without any quota', async () => {
    const user = someone()
    await engine.submit(draw('consume', user, 'forced', 5, { force: true }))
    expect(await request(user)).toMatchObject({ outcome: 'running' })
    await finish()
    expect(await tablesWith(user, [])).toEqual([])
  })

  test('no user who was never there', async () => {
    expect(await request(someone())).toEqual({ outcome: 'not_found' })
  })
})

describe('open reservations', () => {
  test('refuse an erasure, also those of closed windows and deleted quotas', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user, period: 'hour' })
    await engine.submit(reserve(user, 'open', 3, { ttl_ms: DAY_MS }))
    expect(await request(user)).toEqual({ outcome: 'open_reservations' })
    clock.now += HOUR_MS
    await engine.submit(draw('consume', user, 'rolls', 1))
    expect(await request(user)).toEqual({ outcome: 'open_reservations' })
    await deleteQuota(db, id, bench.author(), () => true)
    expect(await request(user)).toEqual({ outcome: 'open_reservations' })
    await engine.submit(settle('release', user, 'open'))
    expect(await request(user)).toMatchObject({ outcome: 'running' })
    await finish()
    await expectEqual()
  })

  test('are released by force', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'open', 3))
    await engine.submit(reserve(user, 'partly', 5))
    await engine.submit(settle('commit', user, 'partly', 2))
    await engine.submit(reserve(user, 'overdue', 3, { ttl_ms: 1, on_expiry: 'commit' }))
    clock.now += 10
    expect(await request(user, true)).toMatchObject({ outcome: 'running', erasure: { force: true } })
    await finish()
    expect(await tablesWith(user, [id])).toEqual([])
    await expectEqual()
  })
})

describe('senders meanwhile', () => {
  test('find no quota, even one that the engine remembers', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    await warm(engine, user)
    await request(user)
    expect(await engine.submit(reserve(user, 'late', 1))).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
    await expectEqual()
    await finish()
    expect(await engine.submit(reserve(user, 'later', 1))).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
  })

  test('wait for the request, and are denied then', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await warm(engine, user)
    const erasing = await openTransaction(db, tx =>
      requestErasure({ ...db, transaction: work => work(tx) }, user, false, bench.author()),
    )
    const reserving = engine.submit(reserve(user, 'late', 1))
    await untilWaiting(db, 1)
    await erasing.commit()
    expect(await reserving).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
    await finish()
    // The denial came before the end, so it is erased, too.
    expect(await tablesWith(user, [id])).toEqual([])
    await expectEqual()
  })

  test('can settle until a reservation is gone, by force too', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    for (const name of ['given back', 'used']) await engine.submit(reserve(user, name, 3))
    await engine.submit(settle('release', user, 'given back'))
    await request(user, true)
    expect(await engine.submit({ ...settle('commit', user, 'given back'), force: true })).toMatchObject({
      outcome: 'settled',
    })
    expect(await engine.submit(settle('commit', user, 'used', 1))).toMatchObject({ outcome: 'settled' })
    await expectEqual()
    await finish()
    for (const name of ['given back', 'used'])
      expect(await engine.submit({ ...settle('commit', user, name), force: true })).toEqual({ outcome: 'not_found' })
    expect(await tablesWith(user, [id])).toEqual([])
    await expectEqual()
  })

  test('by force leave data of a new beginning once the erasure is finished', async () => {
    const user = someone()
    await createHistory(user)
    await request(user)
    await engine.submit(draw('consume', user, 'meanwhile', 1, { force: true }))
    await finish()
    expect(await engine.submit(draw('consume', user, 'kept-1', 1, { force: true }))).toMatchObject({
      outcome: 'granted',
      replayed: false,
    })
    const rows = await db.query({ text: 'select id from reservation where user_id = $1', values: [user] })
    expect(rows).toEqual([{ id: 'kept-1' }])
    await expectEqual()
  })
})

describe('goes on', () => {
  test('after a failure of any page, in a new process', async () => {
    const user = someone()
    const quotas = await createHistory(user)
    await engine.submit(reserve(user, 'open', 3))
    await request(user, true)
    let failures = 0
    for (let failing = 1; (await findErasure(db, user))?.finished_at === null; failing++) {
      let count = 0
      const eraser = eraserOn({
        ...db,
        transaction: (work, mode) =>
          db.transaction(async tx => {
            const result = await work(tx)
            count += 1
            if (count === failing) throw new Error('crash before the commit')
            return result
          }, mode),
      })
      await finish(eraser).catch(error => {
        expect(error).toBeInstanceOf(PartsFailed)
        failures += 1
      })
      await expectEqual()
    }
    expect(failures).toBeGreaterThan(4)
    expect(await tablesWith(user, quotas)).toEqual([])
  })

  test('in several processes at once, and each finishes once', async () => {
    const users = [someone(), someone(), someone()]
    for (const user of users) {
      await createHistory(user)
      await request(user)
    }
    await Promise.all([finish(), finish(), finish()])
    await finish()
    for (const user of users) {
      const events = await db.query({
        text: `select from event where type = 'user.erased' and data #>> '{erasure,user_id}' = $1`,
        values: [String(user)],
      })
      expect(events).toHaveLength(1)
    }
    await expectEqual()
  })

  test('when one user fails, with the others', async () => {
    const [broken, user] = [someone(4), someone(5)]
    for (const one of [broken, user]) {
      await bench.quota({ user_id: one })
      await request(one)
    }
    const failing: Database = {
      ...db,
      transaction: (work, mode) =>
        db.transaction(
          tx =>
            work({
              query: statement =>
                statement.values?.[1] === broken ? Promise.reject(new Error('poison')) : tx.query(statement),
            }),
          mode,
        ),
    }
    await expect(eraserOn(failing).eraseOnce()).rejects.toBeInstanceOf(PartsFailed)
    expect((await findErasure(db, user))?.finished_at).toBe(clock.now)
    expect((await findErasure(db, broken))?.finished_at).toBeNull()
    await finish()
  })
})

test('a repeated request has the same record, and one after new data begins again', async () => {
  const user = someone()
  await bench.quota({ user_id: user })
  const first = await request(user)
  expect(await request(user, true)).toEqual(first)
  await finish()
  const { erasure } = (await request(user)) as Extract<typeof first, { erasure: object }>
  expect(await request(user)).toEqual({ outcome: 'finished', erasure })
  await bench.quota({ user_id: user })
  expect(await request(user)).toMatchObject({ outcome: 'running', erasure: { removed: {} } })
  await finish()
  await expectEqual()
})
