/** engine.md, section 1: what the engine must know, and when it must not trust what it knows. */
import { describe, expect, test } from 'vitest'
import { addQuota, QUOTA_COLUMNS, removeQuota } from '../../src/db/quotas.ts'
import { shardOf } from '../../src/domain/shard.ts'
import {
  countersOf,
  createBench,
  differences,
  draw,
  endSessions,
  neighbours,
  openTransaction,
  reserve,
  settle,
  someone,
  untilWaiting,
  warm,
} from '../support/engine.ts'

const bench = await createBench()
const { db } = bench

describe('one lock that every administrator takes', () => {
  test('a cap that is being made while a lane loads is seen, then and later', async () => {
    const engine = bench.engine()
    const user = someone()
    await bench.quota({ user_id: user })
    const administrator = await openTransaction(db, tx =>
      addQuota(tx, { user_id: user, kind: 'cap', limit: 5 }, bench.author()),
    )
    const asked = engine.submit(reserve(user, 'm1', 500))
    await untilWaiting(db, 1)
    await administrator.commit()
    expect(await asked).toMatchObject({ outcome: 'denied', reason: 'cap_reached' })
    await warm(engine, user)
    expect(await engine.submit(reserve(user, 'm2', 500))).toMatchObject({ outcome: 'denied', reason: 'cap_reached' })
    const granted = await engine.submit(reserve(user, 'm3', 5))
    expect(granted).toMatchObject({ reservation: { draws: [{ kind: 'grant' }, { kind: 'cap' }] } })
  })

  test('also by a lane that only looks, because it has many users to load', async () => {
    const engine = bench.engine()
    const users = neighbours(12)
    const [capped = 0, ...others] = users
    for (const user of users) await bench.quota({ user_id: user })
    const administrator = await openTransaction(db, tx =>
      addQuota(tx, { user_id: capped, kind: 'cap', limit: 5 }, bench.author()),
    )
    const asked = users.map(user => engine.submit(reserve(user, 'm1', 500)))
    await untilWaiting(db, 1)
    await administrator.commit()
    const answers = await Promise.all(asked)
    expect(answers).toMatchObject([{ reason: 'cap_reached' }, ...others.map(() => ({ outcome: 'granted' }))])
  })

  test('several administrators at once: each sees what those before it have made', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    // As many as there can be, but for one.
    const copied = QUOTA_COLUMNS.replace('"id"', `nextval('quota_number') * 64 + shard`)
    await db.query({
      text: `insert into quota (shard, ${QUOTA_COLUMNS}) select shard, ${copied} from quota, generate_series(1, 198)
        where id = $1`,
      values: [id],
    })
    const make = () => db.transaction(tx => addQuota(tx, { user_id: user, limit: 1 }, bench.author()))
    const made = await Promise.all(Array.from({ length: 5 }, make))
    expect(made.map(({ outcome }) => outcome).toSorted()).toEqual(['created', ...Array(4).fill('too_many_quotas')])
    const [account] = await db.query({ text: 'select live from account where user_id = $1', values: [user] })
    expect(account).toEqual({ live: 200 })
  })

  test('an administrator’s change ends what a lane remembers of all the user’s quotas', async () => {
    const engine = bench.engine()
    const user = someone()
    await bench.quota({ user_id: user })
    await warm(engine, user)
    await bench.quota({ user_id: user, kind: 'cap', limit: 5 })
    expect(await engine.submit(reserve(user, 'm1', 500))).toMatchObject({ outcome: 'denied', reason: 'cap_reached' })
  })

  test('a lane that knows nothing but deleted quotas of a user does not miss the first new one', async () => {
    const engine = bench.engine()
    const user = someone()
    const old = await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'm1', 500))
    await removeQuota(db, old.id, bench.author(), () => true)
    for (let n = 1; engine.reports.at(-1)?.mode !== 'optimistic'; n++) {
      if (n > 150) break
      await engine.submit(settle('commit', user, 'm1', n))
    }
    const { id } = await bench.quota({ user_id: user })
    const booked = await engine.submit(draw('consume', user, 'm2', 5, { force: true }))
    expect(booked).toMatchObject({ outcome: 'granted', reservation: { draws: [{ quota_id: id }] } })
  })
})

test('what was passed over is guarded, too: a grant that another process has freed pays first', async () => {
  const [one, other] = [bench.engine(), bench.engine()]
  const user = someone()
  const first = await bench.quota({ user_id: user, limit: 10, priority: 1 })
  const second = await bench.quota({ user_id: user, priority: 2 })
  await one.submit(reserve(user, 'all', 10))
  await warm(one, user)
  await other.submit(settle('release', user, 'all'))
  const granted = await one.submit(reserve(user, 'm1', 5))
  expect(granted).toMatchObject({ reservation: { draws: [{ quota_id: first.id }] } })
  expect(await countersOf(db, second.id)).toEqual({ used: 0, reserved: 0 })
})

describe('forget on any doubt', () => {
  /** As after a failover to a standby that lacks the last writes: other content under the same number. */
  const rewrite = (quotaId: number, limit: number) =>
    db.query({ text: 'update quota set "limit" = $2 where id = $1', values: [quotaId, limit] })

  test('a connection that is lost between batches empties every lane’s memory', async () => {
    const engine = bench.engine()
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await warm(engine, user)
    expect(await endSessions(db, 'all')).toBeGreaterThan(0)
    await expect.poll(() => engine.warnings).toContain('an engine connection was lost')
    await rewrite(id, 3)
    expect(await engine.submit(reserve(user, 'm1', 5))).toMatchObject({ outcome: 'denied' })
  })

  test('so does one that is lost in another lane’s batch', async () => {
    const engine = bench.engine({ connections: 2 })
    const [user, other] = [someone(), someone()]
    expect(shardOf(user)).not.toBe(shardOf(other))
    const { id } = await bench.quota({ user_id: user })
    const held = await bench.quota({ user_id: other })
    await warm(engine, user)
    const stranger = await bench.stranger()
    await stranger.query('begin')
    await stranger.query('select 1 from quota where id = $1 for update', [held.id])
    const waiting = engine.submit(reserve(other, 'm1', 1))
    await untilWaiting(db, 1)
    expect(await endSessions(db, 'waiting')).toBe(1)
    await untilWaiting(db, 1)
    await stranger.query('rollback')
    expect(await waiting).toMatchObject({ outcome: 'granted' })
    await rewrite(id, 3)
    expect(await engine.submit(reserve(user, 'm1', 5))).toMatchObject({ outcome: 'denied' })
  })

  test('counters are moved, never set', async () => {
    const engine = bench.engine()
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await warm(engine, user)
    await db.query({ text: 'update quota set used = 3, reserved = 4 where id = $1', values: [id] })
    await engine.submit(reserve(user, 'm1', 5))
    expect(engine.reports.at(-1)?.mode).toBe('optimistic')
    expect(await countersOf(db, id)).toEqual({ used: 3, reserved: 9 })
    await db.query({ text: 'update quota set used = 0, reserved = 5 where id = $1', values: [id] })
  })
})

test('a lane that met another process is cautious for the next 50 batches', async () => {
  const [one, other] = [bench.engine(), bench.engine()]
  const user = someone()
  await bench.quota({ user_id: user })
  await warm(one, user)
  await other.submit(reserve(user, 'other', 1))
  one.reports.length = 0
  for (let n = 0; n < 52; n++) await one.submit(reserve(user, `m${n}`, 1))
  const modes = one.reports.map(({ mode }) => mode)
  expect(modes.slice(0, 51)).toEqual(Array(51).fill('locked'))
  expect(modes.at(51)).toBe('optimistic')
})

test('after all of that the counters equal the ledger', async () => {
  expect(await differences(db)).toEqual([])
})
