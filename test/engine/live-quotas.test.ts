/** What a user's expired quotas cost and do: they stay in the table until an administrator deletes them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, nodesOf, planOf } from '../../bench/explain.ts'
import { updateQuota } from '../../src/admin/quotas/change-quota.ts'
import { createQuota } from '../../src/admin/quotas/create-quota.ts'
import { openDatabase, type Transaction } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { LEDGER_STATEMENTS } from '../../src/db/ledger/statements.ts'
import { STORED_COLUMNS } from '../../src/db/quotas/quotas.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, formatTimestamp, HOUR_MS } from '../../src/domain/time/time.ts'
import { ENGINE_SETTINGS } from '../../src/engine/connections.ts'
import { createBench, differences, draw, reserve, settle, someone, warm } from '../support/engine.ts'
import { untilWaiting } from '../support/sessions.ts'
import { rawSql } from '../support/sql.ts'

const bench = await createBench()
const { db, clock } = bench
const always = () => true
const EXPIRED = 1_000
/** More than this user's few live quotas need, and far less than the 1,000 expired ones: their rows alone are 80 pages. */
const FEW_BLOCKS = 40

/** The write counters of a user's quotas by id: what is rewritten has another one. */
async function seqsOf(user: number): Promise<Map<number, number>> {
  const rows = await db.query<{ id: number; seq: number }>({
    text: sql`select id, seq from quota where shard = $1 and user_id = $2 and deleted_at is null order by id`,
    values: [shardOf(user), user],
  })
  return new Map(rows.map(({ id, seq }) => [id, seq]))
}

/** A user with three live quotas and 1,000 copies of an expired one. */
async function withExpired() {
  const user = someone()
  const ended = await bench.quota({ user_id: user, starts_at: clock.now - DAY_MS, expires_at: clock.now - HOUR_MS })
  const copied = STORED_COLUMNS.replace('"id"', `nextval('quota_number') * 64 + shard`)
  await db.query({
    text: rawSql`insert into quota (shard, ${STORED_COLUMNS})
      select shard, ${copied} from quota, generate_series(2, ${EXPIRED}) where id = $1`,
    values: [ended.id],
  })
  const live: number[] = []
  for (const expires_at of [null, clock.now + DAY_MS, clock.now + 2 * DAY_MS]) {
    live.push((await bench.quota({ user_id: user, expires_at })).id)
  }
  return { user, ended: ended.id, live }
}

const { user, ended, live } = await withExpired()

// Where the engine's statements run.
const place = bench.placeOf(shardOf(user))
const node = openDatabase({ url: place.url, maxConnections: 1 })
afterAll(() => node.close())

/** The ids whose rows `work` writes. */
async function writtenBy(work: () => Promise<unknown>): Promise<number[]> {
  const before = await seqsOf(user)
  await work()
  return [...(await seqsOf(user))].filter(([id, seq]) => before.get(id) !== seq).map(([id]) => id)
}

describe('with 1,000 expired quotas', () => {
  test('a change writes the live ones', async () => {
    const [first = 0] = live
    const written = await writtenBy(() => updateQuota(db, first, { limit: 5_000 }, bench.author(), always))
    expect(written).toEqual(live)
  })

  test('a change of an expired quota writes it and the live ones', async () => {
    const written = await writtenBy(() => updateQuota(db, ended, { name: 'ended' }, bench.author(), always))
    expect(written).toEqual([ended, ...live])
    const [account] = await db.query({ text: sql`select live from account where user_id = $1`, values: [user] })
    expect(account).toEqual({ live: 3 })
  })

  test('the statements of a change read the live ones', async () => {
    // For a database whose statistics are as old as its users.
    await db.query({ text: sql`analyze quota` })
    const blocks: number[] = []
    await db.transaction(async tx => {
      const explained: Transaction = {
        isCluster: false,
        async query(statement) {
          if (!/^(select|update)[^;]* quota\b/.test(statement.text)) return tx.query(statement)
          const savepoint = await tx.query({ text: sql`savepoint explained` })
          expect(savepoint).toEqual([])
          blocks.push(blocksOf(await planOf(tx, statement)))
          await tx.query({ text: sql`rollback to explained` })
          return tx.query(statement)
        },
      }
      await createQuota(explained, { user_id: user, limit: 1, external_ref: 'cheap' }, bench.author())
    })
    expect(blocks.length).toBeGreaterThanOrEqual(2)
    expect(Math.max(...blocks)).toBeLessThan(FEW_BLOCKS)
  })

  describe.each(['without statistics', 'with statistics'])('and %s, the engine reads few rows', statistics => {
    beforeAll(async () => {
      if (statistics === 'with statistics') await db.query({ text: sql`analyze quota` })
    })

    test.each([
      ['load-quotas', 10],
      ['read-quotas', 10],
      ['fence-quotas', 10],
      ['all-quotas', 10],
      ['free-quotas', 10],
      // For explanations: the 20 that ended last.
      ['read-ended-quotas', 21],
    ] as const)('%s', async (name, rows) => {
      const plan = await node.transaction(async tx => {
        for (const [setting, value] of Object.entries(ENGINE_SETTINGS)) {
          await tx.query({ text: rawSql`set local ${setting} = '${value}'` })
        }
        await tx.query({ text: sql`set local plan_cache_mode = force_generic_plan` })
        const generic = `"${name} ${statistics}"`
        await tx.query({ text: rawSql`prepare ${generic} as ${place.on(LEDGER_STATEMENTS[name] ?? sql``)}` })
        const values = [`{${shardOf(user)}}`, `{${user}}`, formatTimestamp(clock.now)].map(value => `'${value}'`)
        return planOf(tx, { text: rawSql`execute ${generic} (${values.join(', ')})` })
      })
      // An update may have to move a row to another page, and then writes to every index of the table.
      const read = plan['Node Type'] === 'ModifyTable' ? (plan.Plans ?? []) : [plan]
      expect(read.map(blocksOf).filter(blocks => blocks >= FEW_BLOCKS)).toEqual([])
      for (const node of nodesOf(plan)) expect(node['Actual Rows']).toBeLessThan(rows)
    })
  })
})

test('a fence locks quotas by id, as batches do, and not by their expiry', async () => {
  const other = someone()
  const first = await bench.quota({ user_id: other })
  const second = await bench.quota({ user_id: other, expires_at: clock.now + DAY_MS })
  const stranger = await bench.stranger()
  await stranger.query('begin')
  await stranger.query('select 1 from quota where id = $1 and shard = ($1 % 64)::smallint for update', [first.id])
  const values = [[shardOf(other)], [other], formatTimestamp(clock.now)]
  const fence = bench.placeOf(shardOf(other)).on(LEDGER_STATEMENTS['fence-quotas'] ?? sql``)
  const fencing = node.query({ text: fence, values })
  await untilWaiting(db, 1)
  const free = await stranger.query(
    'select 1 from quota where id = $1 and shard = ($1 % 64)::smallint for update skip locked',
    [second.id],
  )
  expect(free.rowCount).toBe(1)
  await stranger.query('rollback')
  await fencing
  expect((await seqsOf(other)).get(second.id)).toBeGreaterThan(0)
})

describe('expired quotas still matter', () => {
  test('their external_ref is taken', async () => {
    const other = someone()
    const past = { starts_at: clock.now - DAY_MS, expires_at: clock.now - HOUR_MS }
    const taken = await bench.quota({ user_id: other, external_ref: 'taken', ...past })
    const conflict = { outcome: 'conflict', existingId: taken.id }
    const draft = { user_id: other, limit: 1, external_ref: 'taken' }
    expect(await db.transaction(tx => createQuota(tx, draft, bench.author()))).toEqual(conflict)
    const { id } = await bench.quota({ user_id: other })
    expect(await updateQuota(db, id, { external_ref: 'taken' }, bench.author(), always)).toEqual(conflict)
  })

  test('one that is revived is drawn on by an engine that remembers the others', async () => {
    const engine = bench.engine()
    const other = someone()
    await bench.quota({ user_id: other, priority: 2 })
    const past = { starts_at: clock.now - DAY_MS, expires_at: clock.now - HOUR_MS }
    const old = await bench.quota({ user_id: other, priority: 1, ...past })
    await warm(engine, other)
    await updateQuota(db, old.id, { expires_at: clock.now + DAY_MS }, bench.author(), always)
    const granted = await engine.submit(reserve(other, 'm1', 5))
    expect(granted).toMatchObject({ reservation: { draws: [{ quota_id: old.id }] } })
  })

  test('an engine that remembers only expired ones does not miss a new one', async () => {
    const engine = bench.engine()
    const other = someone()
    await bench.quota({ user_id: other, expires_at: clock.now + HOUR_MS })
    await engine.submit(reserve(other, 'm1', 500, { ttl_ms: 2 * DAY_MS }))
    await warm(engine, other)
    clock.now += DAY_MS
    const { id } = await bench.quota({ user_id: other })
    const booked = await engine.submit(draw('consume', other, 'm2', 5, { force: true }))
    expect(booked).toMatchObject({ outcome: 'granted', reservation: { draws: [{ quota_id: id }] } })
    // Draws on the expired one still settle.
    expect(await engine.submit(settle('commit', other, 'm1', 200))).toMatchObject({ outcome: 'settled' })
    expect(await engine.submit(settle('release', other, 'm1'))).toMatchObject({ outcome: 'settled' })
  })

  test('one that expires by the administrator’s clock stops an engine whose clock is behind', async () => {
    const lag = 500
    const engine = bench.engine({ now: () => clock.now - lag })
    const other = someone()
    await bench.quota({ user_id: other, expires_at: clock.now + HOUR_MS })
    await warm(engine, other)
    clock.now += HOUR_MS
    await bench.quota({ user_id: other, kind: 'cap', limit: 5, starts_at: clock.now - DAY_MS })
    expect(await engine.submit(reserve(other, 'm1', 500))).toMatchObject({ outcome: 'denied', reason: 'cap_reached' })
  })
})

test('after all of these tests the counters equal the ledger', async () => {
  expect(await differences(db)).toEqual([])
})
