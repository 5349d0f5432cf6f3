/** The events of quotas that have expired, on a real database. */
import { describe, expect, test } from 'vitest'
import { nodesOf, planOf, type Statement } from '../../bench/explain.ts'
import { updateQuota } from '../../src/admin/change-quota.ts'
import { deleteQuota } from '../../src/admin/delete-quota.ts'
import type { Database, Queryable } from '../../src/db/database.ts'
import { findExpired } from '../../src/db/expired-quotas.ts'
import { createExpiryNotifier } from '../../src/jobs/expiry-notifier.ts'
import { createJobRunner } from '../../src/jobs/runner.ts'
import { freshDatabase } from '../support/database.ts'
import { createBench, draw, neighbours, someone } from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const log = { info() {}, warn() {}, error() {} }
const notifier = createExpiryNotifier({ db, now: () => clock.now })
const always = () => true

const typesOf = async (user: number) =>
  (
    await db.query<{ type: string }>({
      text: 'select type from event where user_id = $1 order by number',
      values: [user],
    })
  ).map(({ type }) => type.replace('quota.', ''))

test('the expiry of a quota is emitted at its time, not before, and once', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, expires_at: clock.now + 1_000, name: 'trial' })
  clock.now += 999
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 0, left: null })
  clock.now += 1
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 1, left: null })
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 0, left: null })
  expect(await typesOf(user)).toEqual(['created', 'expired'])
  const [event] = await db.query<object>({
    text: `select data, sequence from event where user_id = $1 and type = 'quota.expired'`,
    values: [user],
  })
  expect(event).toMatchObject({ sequence: 2, data: { quota: { id, name: 'trial', status: 'expired' } } })
})

test('a quota that is extended after it expired emits its next expiry', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  clock.now += 1_000
  await notifier.notifyOnce(clock.now)
  await updateQuota(db, id, { expires_at: clock.now + 1_000 }, bench.author(), always)
  await notifier.notifyOnce(clock.now)
  expect(await typesOf(user)).toEqual(['created', 'expired', 'updated'])
  clock.now += 1_000
  await notifier.notifyOnce(clock.now)
  expect(await typesOf(user)).toEqual(['created', 'expired', 'updated', 'expired'])
})

test('a change by which a quota expires emits the expiry itself, and only once', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user })
  clock.now += 1_000
  await updateQuota(db, id, { expires_at: clock.now }, bench.author(), always)
  await updateQuota(db, id, { name: 'x' }, bench.author(), always)
  await notifier.notifyOnce(clock.now)
  expect(await typesOf(user)).toEqual(['created', 'updated', 'expired', 'updated'])
})

test('a deleted quota emits nothing', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  await deleteQuota(db, id, bench.author(), always)
  clock.now += 1_000
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 0, left: null })
  expect(await typesOf(user)).toEqual(['created', 'deleted'])
})

test('several processes emit more than a page beside senders: each expiry once, sequences without a gap', async () => {
  const users = Array.from({ length: 30 }, () => someone())
  const engine = bench.engine()
  const ending = clock.now + 1_000
  await Promise.all(users.map(user => bench.quota({ user_id: user })))
  for (let n = 0; n < 20; n++) {
    await Promise.all(users.map(user => bench.quota({ user_id: user, limit: 5, expires_at: ending })))
  }
  clock.now += 1_000
  const others = Array.from({ length: 3 }, () => createExpiryNotifier({ db, now: () => clock.now }))
  const sending = Promise.all(
    users.flatMap(user => [1, 2, 3].map(n => engine.submit(draw('consume', user, `m${n}`, 1)))),
  )
  const emitAll = async (one: typeof notifier) => {
    for (let n = 0; n < 200; n++) if ((await one.notifyOnce(clock.now)).left === null) return
    throw new Error('some expiries are never emitted')
  }
  await Promise.all(others.map(emitAll))
  await sending
  for (const user of users) {
    expect((await typesOf(user)).filter(type => type === 'expired')).toHaveLength(20)
  }
  const gaps = await db.query({
    text: `select shard from event group by shard having max(number) <> count(*) union all
      select shard from event group by shard, user_id having max(sequence) <> count(*)`,
  })
  expect(gaps).toEqual([])
}, 20_000)

test('the expiry of a locked user is emitted later, and delays no other', async () => {
  const [locked = 0, free = 0] = neighbours(2)
  for (const user of [locked, free]) await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  clock.now += 1_000
  const stranger = await bench.stranger()
  await stranger.query(`begin; select 1 from account where user_id = ${locked} for update`)
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 1, left: 'locked' })
  expect(await typesOf(free)).toEqual(['created', 'expired'])
  await stranger.query('rollback')
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 1, left: null })
})

test('as a job it emits until the runner stops', async () => {
  const user = someone()
  await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  clock.now += 1_000
  const jobs = createJobRunner([createExpiryNotifier({ db, now: () => clock.now })], { log })
  jobs.start()
  await expect.poll(() => typesOf(user)).toEqual(['created', 'expired'])
  await jobs.stop()
})

describe('with nothing to emit it reads only the index of quotas that are not emitted', async () => {
  const empty = await freshDatabase()

  /** The scans of the statement that finds expired quotas, in a transaction with the notifier's planner settings. */
  async function scansOf(on: Database): Promise<{ index: string | undefined; rows: number }[]> {
    const sent: Statement[] = []
    const recording = (tx: Queryable): Queryable => ({
      query(statement) {
        sent.push(statement)
        return tx.query(statement)
      },
    })
    await findExpired({ ...on, transaction: work => on.transaction(tx => work(recording(tx))) }, clock.now)
    const [statement, ...settings] = sent.toReversed()
    if (statement === undefined) throw new Error('nothing was sent')
    const nodes = await on.transaction(async tx => {
      for (const setting of settings) await tx.query(setting)
      return nodesOf(await planOf(tx, { text: statement.text, values: statement.values ?? [] }))
    })
    return nodes
      .filter(node => node['Index Name'] !== undefined || node['Relation Name'] !== undefined)
      .map(node => ({ index: node['Index Name'], rows: node['Actual Rows'] }))
  }

  const nothing = [{ index: 'quota_expiry_not_emitted', rows: 0 }]

  test('however many quotas have expired', async () => {
    const user = someone()
    for (let n = 0; n < 20; n++) await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
    clock.now += 1_000
    await notifier.notifyOnce(clock.now)
    expect(await scansOf(db)).toEqual(nothing)
    await db.query({ text: 'analyze quota' })
    expect(await scansOf(db)).toEqual(nothing)
  })

  test('on a table that was analyzed while it was empty', async () => {
    await empty.db.query({ text: 'analyze quota' })
    expect(await scansOf(empty.db)).toEqual(nothing)
  })
})
