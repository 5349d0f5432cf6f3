/** Rows of a newer version among those that a job or a sender comes to: they are left, and the others are done. */
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { UnknownValue } from '../../src/domain/basics/unknown-value.ts'
import { createExpiryNotifier } from '../../src/jobs/expiry-notifier.ts'
import { PartsFailed } from '../../src/jobs/isolation.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { createBench, draw, neighbours, reserve, settle, usersOfTwoShards } from '../support/engine.ts'
import { createSweeping, MINUTE_MS } from './sweeper-fixture.ts'

const bench = await createBench(databaseOfOnePostgres())
const { db, clock } = bench
await db.query({ text: sql`alter domain quota_period drop constraint quota_period_check` })
const log = { info() {}, warn() {}, error() {} }

/** What a newer version may write into a reservation. Draws: six numbers each, the second one is the kind. */
const OF_RESERVATION = {
  op: sql`op = 'lend'`,
  on_expiry: sql`on_expiry = 'keep'`,
  would_deny: sql`would_deny = 'paused'`,
  draws: sql`draws[2] = 9`,
}

test.each(Object.entries(OF_RESERVATION))(
  'a reservation with an unknown %s is not settled, and others are',
  async (_, set) => {
    const [newer, other] = neighbours(2)
    for (const user of [newer, other]) {
      await bench.quota({ user_id: Number(user) })
      await bench.engine().submit(reserve(Number(user), 'm1', 5))
    }
    await db.query({ text: sql`update reservation set ${set} where user_id = $1`, values: [Number(newer)] })
    // Without what the engine before remembers.
    const engine = bench.engine()
    const answers = await Promise.allSettled(
      [newer, other].map(user => engine.submit(settle('commit', Number(user), 'm1'))),
    )
    expect(answers).toMatchObject([
      { status: 'rejected', reason: expect.any(UnknownValue) },
      { status: 'fulfilled', value: { outcome: 'settled' } },
    ])
    const sweeping = createSweeping(bench, engine)
    await engine.submit(reserve(Number(other), 'm2', 5))
    const { closed } = await sweeping.sweepAll(sweeping.sweeperOf(), sweeping.later(11 * MINUTE_MS))
    expect(closed).toBe(1)
    expect(await sweeping.found(Number(newer), 'm1')).toEqual({
      committed: 0,
      released: 0,
      refunded: 0,
      expired: false,
    })
  },
)

test('the end of a quota with an unknown period is not passed over, and other shards go on', async () => {
  const [newer, other] = usersOfTwoShards()
  const expires_at = clock.now + 1_000
  await bench.quota({ user_id: newer, expires_at: expires_at - 1 })
  const unknown = await bench.quota({ user_id: newer, expires_at })
  await bench.quota({ user_id: other, expires_at })
  await db.query({ text: sql`update quota set period = 'second' where id = $1`, values: [unknown.id] })
  clock.now += 1_000
  const notifier = createExpiryNotifier({ db, now: () => clock.now })
  const expired = async (user: number) =>
    (await db.query({ text: sql`select 1 from event where type = 'quota.expired' and user_id = $1`, values: [user] }))
      .length
  expect(await notifier.notifyOnce(clock.now)).toMatchObject({ emitted: 2 })
  await expect(notifier.notifyOnce(clock.now)).rejects.toThrow(PartsFailed)
  expect([await expired(newer), await expired(other)]).toEqual([1, 1])
  // The version that knows it goes on from there.
  await db.query({ text: sql`update quota set period = null where id = $1`, values: [unknown.id] })
  expect(await notifier.notifyOnce(clock.now)).toMatchObject({ emitted: 1 })
  expect(await expired(newer)).toBe(2)
})

test('usage of an unknown kind stays until a newer version adds it up', async () => {
  const [newer, other] = usersOfTwoShards()
  const engine = bench.engine()
  const rollup = createUsageRollup({ db, log })
  const rollUpAll = async () => {
    while ((await rollup.rollUpOnce()).isBehind);
  }
  // What the tests before have left in the same shard.
  await rollUpAll()
  for (const user of [newer, other]) {
    await bench.quota({ user_id: user })
    await engine.submit(draw('consume', user, 'u1', 3))
  }
  await db.query({ text: sql`update usage_pending set kinds = '{99}' where $1 = any(users)`, values: [newer] })
  await rollUpAll()
  const sums = (user: number) =>
    db.query({ text: sql`select committed, denied from usage where user_id = $1`, values: [user] })
  expect(await sums(other)).toEqual([{ committed: 3, denied: 0 }])
  expect(await sums(newer)).toEqual([])
  expect(await db.query({ text: sql`select kinds from usage_pending where $1 = any(users)`, values: [newer] })).toEqual(
    [{ kinds: [99] }],
  )
})

test('a user with one unknown quota is refused by name, and no batch of others fails', async () => {
  const [newer, other] = neighbours(2)
  const unknown = await bench.quota({ user_id: Number(newer) })
  await bench.quota({ user_id: Number(other) })
  await db.query({ text: sql`update quota set period = 'second' where id = $1`, values: [unknown.id] })
  const engine = bench.engine()
  const asked = [newer, other].map(user => engine.submit(reserve(Number(user), 'm1', 1)))
  await expect(asked[0]).rejects.toThrow(
    'the period of a quota is "second", which this version of the service does not know',
  )
  expect(await asked[1]).toMatchObject({ outcome: 'granted' })
})
