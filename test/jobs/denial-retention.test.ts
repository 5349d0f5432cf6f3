import { expect, test } from 'vitest'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardFrom, shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createDenialRetention } from '../../src/jobs/denial-retention.ts'
import { PartsFailed } from '../../src/jobs/isolation.ts'
import { distributeBeside } from '../support/citus.ts'
import { createBench, reserve, someone } from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const KEPT = 7 * DAY_MS

const retentionOf = (on: Database = db) => createDenialRetention({ db: on, now: () => clock.now })

/** Removes until there is nothing more to do at this time. */
async function removeAll(retention: ReturnType<typeof createDenialRetention>, now = clock.now): Promise<number> {
  let removed = 0
  for (;;) {
    const step = await retention.removeOnce(now)
    removed += step.removed
    if (!step.isBehind) return removed
  }
}

async function countOf(user: number): Promise<number> {
  return (await db.query({ text: sql`select 1 from denial where user_id = $1`, values: [user] })).length
}

/** Denials of users, one a millisecond from now on. */
async function fill(users: readonly number[], each: number): Promise<void> {
  await db.query({
    text: sql`insert into denial (shard, user_id, at, number, id, op, units, allow_partial, reason, explanation)
           select shard, user_id, $3::timestamptz + n * interval '1 ms', nextval('denial_number'), 'm', 'reserve', 1, false,
             'no_quota', '[]'
           from unnest($1::smallint[], $2::bigint[]) u (shard, user_id), generate_series(0, $4::int - 1) n`,
    values: [users.map(shardOf), [...users], new Date(clock.now).toISOString(), each],
  })
}

test('a denial is removed when the retention time is over, and no sooner', async () => {
  const user = someone()
  await bench.engine().submit(reserve(user, 'm', 1))
  const retention = retentionOf()
  expect(await removeAll(retention, clock.now + KEPT - 1)).toBe(0)
  expect(await countOf(user)).toBe(1)
  expect(await removeAll(retention, clock.now + KEPT)).toBe(1)
  expect(await countOf(user)).toBe(0)
})

test('another time can be configured', async () => {
  const user = someone()
  await fill([user], 1)
  const retention = createDenialRetention({ db, now: () => clock.now, retentionMs: 1_000 })
  expect(await removeAll(retention, clock.now + 999)).toBe(0)
  expect(await removeAll(retention, clock.now + 1_000)).toBe(1)
})

test('all of several pages are removed, also by two processes at once', async () => {
  const users = Array.from({ length: 5 }, () => someone())
  await fill(users, 1_000)
  const removed = await Promise.all([retentionOf(), retentionOf()].map(one => removeAll(one, clock.now + KEPT + 1_000)))
  expect(removed.reduce((sum, count) => sum + count, 0)).toBe(5_000)
  for (const user of users) expect(await countOf(user)).toBe(0)
})

test('a step ends early when the job is stopped, and the rest is removed by later ones', async () => {
  const users = [someone(shardFrom(3)), someone(shardFrom(4))]
  await fill(users, 10)
  const retention = retentionOf()
  expect(await retention.removeOnce(clock.now + KEPT + 1_000, AbortSignal.abort())).toMatchObject({ removed: 0 })
  expect(await removeAll(retention, clock.now + KEPT + 1_000)).toBe(20)
})

test('a shard that fails holds up no other, and is tried again', async () => {
  const [bad, good] = [someone(shardFrom(5)), someone(shardFrom(6))]
  // More than a page of them, and older than the others.
  await fill([bad], 2_500)
  clock.now += 2_500
  await fill([good], 10)
  clock.now += KEPT + 1_000
  await db.query({
    text: sql`create table holder (shard smallint, user_id bigint, at timestamptz, number bigint,
             foreign key (shard, user_id, at, number) references denial (shard, user_id, at, number))`,
  })
  await distributeBeside(db, 'holder')
  await db.query({
    text: sql`insert into holder select shard, user_id, at, number from denial where user_id = $1`,
    values: [bad],
  })
  const retention = retentionOf()
  const failures: unknown[] = []
  for (let step = 0; step < 3; step++) await retention.removeOnce(clock.now).catch(error => failures.push(error))
  expect(failures.length).toBeGreaterThanOrEqual(2)
  for (const failure of failures) expect(failure).toBeInstanceOf(PartsFailed)
  expect([await countOf(good), await countOf(bad)]).toEqual([0, 2_500])
  await db.query({ text: sql`drop table holder` })
  await removeAll(retention)
  await removeAll(retention)
  expect(await countOf(bad)).toBe(0)
})

test('a page that takes too long is halved', async () => {
  const user = someone()
  await fill([user], 100)
  const rows: unknown[] = []
  let slow = 2
  const slowly: Database = {
    ...db,
    transaction: (work, mode) =>
      db.transaction(async tx => {
        if (mode !== 'snapshot') return work(tx)
        return work({
          isCluster: false,
          async query(statement) {
            if (statement.name !== 'find-old-denials') return tx.query(statement)
            rows.push(statement.values?.[2])
            if (slow-- > 0) await tx.query({ text: sql`set local statement_timeout = 1; select pg_sleep(1)` })
            return tx.query(statement)
          },
        })
      }, mode),
  }
  const retention = retentionOf(slowly)
  for (let step = 0; step < 2; step++)
    await expect(retention.removeOnce(clock.now)).rejects.toMatchObject({ code: '57014' })
  expect(await removeAll(retention, clock.now + KEPT + 1_000)).toBe(100)
  expect(rows.slice(0, 3)).toEqual([2_000, 1_000, 500])
})
