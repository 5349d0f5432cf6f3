/** The events of quotas that have expired, on a real database. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { nodesOf, planOf, type Statement } from '../../bench/explain.ts'
import { updateQuota } from '../../src/admin/quotas/change-quota.ts'
import { deleteQuota } from '../../src/admin/quotas/delete-quota.ts'
import type { Database, Queryable, Transaction } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { BY_KEYS_IN_ORDER } from '../../src/db/connection/transaction-settings.ts'
import { findShardsWithExpired, readExpired } from '../../src/db/quotas/expired.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { quotaIdOf, SHARDS, shardFrom, shardOf } from '../../src/domain/basics/shard.ts'
import { createExpiryNotifier } from '../../src/jobs/expiry-notifier.ts'
import { PartsFailed } from '../../src/jobs/isolation.ts'
import { createJobRunner } from '../../src/jobs/runner.ts'
import { databaseOfOnePostgres, emptyDatabase, impatientDatabase } from '../support/database.ts'
import { createBench, draw, neighbours, someone } from '../support/engine.ts'
import { untilWaiting } from '../support/sessions.ts'

const bench = await createBench()
const { db, clock } = bench
const log = { info() {}, warn() {}, error() {} }
const notifier = createExpiryNotifier({ db, now: () => clock.now })
const always = () => true
const MIGRATIONS = new URL('../../migrations/', import.meta.url)

const typesOf = async (user: number) =>
  (
    await db.query<{ type: string }>({
      text: sql`select type from event where user_id = $1 order by number`,
      values: [user],
    })
  ).map(({ type }) => type.replace('quota.', ''))

test('the expiry of a quota is emitted at its time, not before, and once', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, expires_at: clock.now + 1_000, name: 'trial' })
  clock.now += 999
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 0, isBehind: false })
  clock.now += 1
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 1, isBehind: false })
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 0, isBehind: false })
  expect(await typesOf(user)).toEqual(['created', 'expired'])
  const [event] = await db.query<object>({
    text: sql`select data, sequence from event where user_id = $1 and type = 'quota.expired'`,
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
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 0, isBehind: false })
  expect(await typesOf(user)).toEqual(['created', 'deleted'])
})

test('several processes emit more than a page beside senders: each expiry once, sequences without a gap', async () => {
  // Those of one shard have 260, and a page is 250.
  const users = [...neighbours(13), ...Array.from({ length: 5 }, () => someone())]
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
    for (let n = 0; n < 200; n++) if (!(await one.notifyOnce(clock.now)).isBehind) return
    throw new Error('some expiries are never emitted')
  }
  await Promise.all(others.map(emitAll))
  await sending
  for (const user of users) {
    expect((await typesOf(user)).filter(type => type === 'expired')).toHaveLength(20)
  }
  const gaps = await db.query({
    text: sql`select shard from event group by shard having max(number) <> count(*) union all
      select shard from event group by shard, user_id having max(sequence) <> count(*)`,
  })
  expect(gaps).toEqual([])
})

test('a quota that expired is emitted before it is deleted or extended, though the notifier comes too late', async () => {
  const user = someone()
  const [first, second] = [
    await bench.quota({ user_id: user, expires_at: clock.now + 1_000 }),
    await bench.quota({ user_id: user, expires_at: clock.now + 1_000 }),
  ]
  clock.now += 1_000
  await deleteQuota(db, first.id, bench.author(), always)
  await updateQuota(db, second.id, { expires_at: clock.now + 1_000 }, bench.author(), always)
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 0, isBehind: false })
  expect(await typesOf(user)).toEqual(['created', 'created', 'expired', 'deleted', 'expired', 'updated'])
  clock.now += 1_000
  await notifier.notifyOnce(clock.now)
  expect((await typesOf(user)).slice(6)).toEqual(['expired'])
})

test('a deleted quota that was emitted is not emitted again', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  clock.now += 1_000
  await notifier.notifyOnce(clock.now)
  await deleteQuota(db, id, bench.author(), always)
  expect(await typesOf(user)).toEqual(['created', 'expired', 'deleted'])
})

test('an end set behind the notifier’s position, by a process whose clock is behind, is emitted with the change', async () => {
  const [user = 0, other = 0] = neighbours(2)
  await bench.quota({ user_id: other, expires_at: clock.now + 1_000 })
  const { id } = await bench.quota({ user_id: user })
  await notifier.notifyOnce(clock.now + 1_000)
  await updateQuota(db, id, { expires_at: clock.now + 400 }, bench.author(), always)
  clock.now += 1_000
  await notifier.notifyOnce(clock.now)
  expect(await typesOf(user)).toEqual(['created', 'updated', 'expired'])
})

test('a change that waits for the notifier does not emit the expiry again, and neither the other way round', async () => {
  const [user = 0, other = 0] = neighbours(2)
  const expires_at = clock.now + 1_000
  const { id } = await bench.quota({ user_id: user, expires_at })
  await bench.quota({ user_id: other, expires_at })
  clock.now += 1_000
  const stranger = await bench.stranger()
  const shard = shardOf(user)
  await stranger.query(`begin; select 1 from shard_head where shard = ${shard} for update`)
  const both = Promise.all([
    deleteQuota(db, id, bench.author(), always),
    notifier.notifyOnce(clock.now),
    createExpiryNotifier({ db, now: () => clock.now }).notifyOnce(clock.now),
  ])
  await untilWaiting(db, 3)
  await stranger.query('rollback')
  await both
  expect((await typesOf(user)).toSorted()).toEqual(['created', 'deleted', 'expired'])
  expect(await typesOf(other)).toEqual(['created', 'expired'])
})

describe('after a clock that was ahead for once', () => {
  const HOUR = 3_600_000

  test('each end is emitted when it comes, also one that was emitted early, and is not emitted before', async () => {
    const [user = 0, changed = 0, created = 0] = neighbours(3)
    const { id } = await bench.quota({ user_id: user, expires_at: clock.now + HOUR })
    const other = await bench.quota({ user_id: changed, expires_at: clock.now + HOUR })
    clock.now += 24 * HOUR
    // The end of one is emitted by a change, of the other by the notifier.
    await updateQuota(db, other.id, { name: 'late' }, bench.author(), always)
    await notifier.notifyOnce(clock.now)
    clock.now -= 24 * HOUR

    // Before the notifier has found out: changes do not believe the position.
    await bench.quota({ user_id: created, expires_at: clock.now + 2 * HOUR })
    await updateQuota(db, id, { name: 'x' }, bench.author(), always)
    expect(await typesOf(created)).toEqual(['created'])
    expect(await typesOf(user)).toEqual(['created', 'expired', 'updated'])

    expect(await notifier.notifyOnce(clock.now)).toMatchObject({ emitted: 0 })
    clock.now += HOUR - 1
    expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 0, isBehind: false })
    clock.now += 1
    expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 2, isBehind: false })
    expect(await typesOf(user)).toEqual(['created', 'expired', 'updated', 'expired'])
    expect(await typesOf(changed)).toEqual(['created', 'expired', 'updated', 'expired'])
    clock.now += HOUR
    expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 1, isBehind: false })
    expect(await typesOf(created)).toEqual(['created', 'expired'])
    expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 0, isBehind: false })
  })

  test('a second process whose clock is a little behind takes nothing back', async () => {
    const user = someone()
    await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
    await notifier.notifyOnce(clock.now + 1_000)
    expect(await createExpiryNotifier({ db, now: () => clock.now }).notifyOnce(clock.now)).toMatchObject({ emitted: 0 })
    clock.now += 1_000
    expect(await notifier.notifyOnce(clock.now)).toMatchObject({ emitted: 0 })
    expect(await typesOf(user)).toEqual(['created', 'expired'])
  })

  test('a shard that is locked keeps no end of others back', async () => {
    const [ahead = 0, due = 0] = SHARDS.slice(0, 2).map(shard => someone(shard))
    await bench.quota({ user_id: ahead, expires_at: clock.now + HOUR })
    await notifier.notifyOnce(clock.now + HOUR)
    await bench.quota({ user_id: due, expires_at: clock.now + 1_000 })
    clock.now += 1_000
    const stranger = await bench.stranger()
    await stranger.query(`begin; select 1 from shard_head where shard = ${shardOf(ahead)} for update`)
    const hasty = createExpiryNotifier({ db: impatientDatabase(bench.url), now: () => clock.now })
    await expect(hasty.notifyOnce(clock.now)).rejects.toBeInstanceOf(PartsFailed)
    await stranger.query('rollback')
    expect(await typesOf(due)).toEqual(['created', 'expired'])
    expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 0, isBehind: true })
  })
})

test('quotas and accounts that others have locked keep no expiry back', async () => {
  const [locked = 0, free = 0] = neighbours(2)
  for (const user of [locked, free]) await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  clock.now += 1_000
  const stranger = await bench.stranger()
  await stranger.query(
    `begin; select 1 from account where shard = ${shardOf(locked)} and user_id = ${locked} for update`,
  )
  await stranger.query(`select 1 from quota where shard = ${shardOf(locked)} and user_id = ${locked} for update`)
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 2, isBehind: false })
  for (const user of [locked, free]) expect(await typesOf(user)).toEqual(['created', 'expired'])
})

test('a shard whose outbox is locked keeps no other shard back', async () => {
  const users = SHARDS.slice(0, 3).map(shard => someone(shard))
  const [first = 0, ...others] = users
  for (const user of users) await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  clock.now += 1_000
  const stranger = await bench.stranger()
  await stranger.query(`begin; select 1 from shard_head where shard = ${shardOf(first)} for update`)
  const hasty = createExpiryNotifier({ db: impatientDatabase(bench.url), now: () => clock.now })
  await expect(hasty.notifyOnce(clock.now)).rejects.toBeInstanceOf(PartsFailed)
  for (const user of others) expect(await typesOf(user)).toEqual(['created', 'expired'])
  await stranger.query('rollback')
  expect(await notifier.notifyOnce(clock.now)).toEqual({ emitted: 1, isBehind: false })
})

test('the notifier writes no quota', async () => {
  const user = someone()
  await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
  clock.now += 1_000
  const row = () => db.query({ text: sql`select ctid::text, xmax::text from quota where user_id = $1`, values: [user] })
  const before = await row()
  await notifier.notifyOnce(clock.now)
  expect(await typesOf(user)).toEqual(['created', 'expired'])
  expect(await row()).toEqual(before)
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

describe('it reads only quotas behind the position', async () => {
  const bench = await createBench(databaseOfOnePostgres())
  const { db, clock } = bench
  const notifier = createExpiryNotifier({ db, now: () => clock.now })
  const empty = await databaseOfOnePostgres()

  /** The scans of a statement of the notifier, in a transaction with the notifier's planner settings. */
  async function scansOf(on: Database, work: (db: Database) => Promise<unknown>): Promise<string[]> {
    const sent: Statement[] = []
    const recording = (tx: Queryable): Transaction => ({
      isCluster: false,
      query(statement) {
        sent.push(statement)
        return tx.query(statement)
      },
    })
    await work({ ...on, transaction: inside => on.transaction(tx => inside(recording(tx))) })
    const statement = sent.at(-1)
    if (statement === undefined) throw new Error('nothing was sent')
    const nodes = await on.transaction(async tx => {
      await tx.query({ text: BY_KEYS_IN_ORDER })
      return nodesOf(await planOf(tx, { text: statement.text, values: statement.values ?? [] }))
    })
    return nodes
      .filter(node => node['Relation Name'] === 'quota')
      .map(node => `${node['Index Name']}: ${node['Actual Rows']}`)
  }

  const find = (on: Database) => findShardsWithExpired(on, clock.now)
  const read = (on: Database) => on.transaction(tx => readExpired(tx, shardFrom(0), clock.now, 250))

  test('however many quotas have expired', async () => {
    const user = someone(0)
    for (let n = 0; n < 20; n++) await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
    clock.now += 1_000
    await notifier.notifyOnce(clock.now)
    for (const analyze of [false, true]) {
      if (analyze) await db.query({ text: sql`analyze quota` })
      expect(await scansOf(db, find)).toEqual(['quota_by_end: 0'])
      expect(await scansOf(db, read)).toEqual(['quota_by_end: 0'])
    }
  })

  test('on a table that was analyzed while it was empty', async () => {
    await empty.db.query({ text: sql`analyze quota` })
    expect(await scansOf(empty.db, find)).toEqual(['quota_by_end: 0'])
    expect(await scansOf(empty.db, read)).toEqual(['quota_by_end: 0'])
  })
})

test('the migration keeps what was emitted: neither a second event nor a lost one', async () => {
  const { url, db: old } = await emptyDatabase()
  const files = await readdir(MIGRATIONS)
  const earlier = await mkdtemp(join(tmpdir(), 'migrations-'))
  for (const file of files.filter(name => name < '0005' && name.endsWith('.sql'))) {
    await cp(new URL(file, MIGRATIONS), join(earlier, file))
  }
  await migrate({ url, directory: earlier })
  const from = Date.now() - 10_000
  // Of one shard: emitted, not emitted, emitted in the same millisecond and later, and one to come. Of another: emitted.
  const quotas: [user: number, end: number, emitted: boolean][] = [
    [someone(3), from, true],
    [someone(3), from + 1, false],
    [someone(3), from + 1, true],
    [someone(3), from + 2, true],
    [someone(3), from + 3, false],
    [someone(3), from + 3_600_000, false],
    [someone(4), from, true],
    [someone(5), from + 3_600_000, false],
  ]
  for (const [index, [user, end, emitted]] of quotas.entries()) {
    const key = [shardOf(user), user]
    await old.query({ text: sql`insert into account (shard, user_id) values ($1, $2)`, values: key })
    await old.query({
      text: sql`insert into quota (shard, user_id, id, kind, "limit", time_zone, rollover_limit, overage_limit, priority,
               starts_at, expires_at, alert_at, enabled, metadata, window_start, created_at, created_by, updated_at,
               updated_by, expiry_emitted)
             select $1, $2, $3, 'grant', 10, 'UTC', 0, 0, 100, t, $4, '{}', true, '{}', t, t, 'ada', t, 'ada', $5
             from (select $4::timestamptz - interval '1 day' as t) t`,
      values: [...key, quotaIdOf(index + 1, shardOf(user)), new Date(end).toISOString(), emitted],
    })
  }
  await migrate({ url })
  const emittedBy = async (now: number) => {
    await createExpiryNotifier({ db: old, now: () => now }).notifyOnce(now)
    const rows = await old.query<{ user_id: number }>({
      text: sql`select user_id from event where type = 'quota.expired' order by shard, number`,
    })
    return rows.map(({ user_id }) => quotas.findIndex(([user]) => user === user_id))
  }
  expect(await emittedBy(Date.now())).toEqual([1, 4])
  expect(await emittedBy(from + 3_600_000)).toEqual([1, 4, 5, 7])
  await rm(earlier, { recursive: true })
})
