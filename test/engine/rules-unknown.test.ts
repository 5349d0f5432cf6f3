/** Commits of unknown outcome: the connection was lost after COMMIT was sent. */
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { Unavailable } from '../../src/engine/completion.ts'
import {
  countersOf,
  createBench,
  differences,
  draw,
  makeLocked,
  neighbours,
  openTransaction,
  reserve,
  settle,
  someone,
  type TestEngine,
  warm,
} from '../support/engine.ts'
import { endSessions, UNTIL_RELEASED, untilWaiting } from '../support/sessions.ts'
import { rawSql } from '../support/sql.ts'

const bench = await createBench()
const { db, clock } = bench
const network = await bench.network()

/** An engine behind the proxy, with the user's rows in memory. */
async function engineFor(user: number, options: { lockTimeoutMs?: number } = {}): Promise<TestEngine> {
  const engine = bench.engine({ through: network, ...options })
  await warm(engine, user)
  return engine
}

const reservations = (user: number) =>
  db.query({ text: sql`select id, units, committed from reservation where user_id = $1 order by id`, values: [user] })

/** Keeps the account locked, for which a repetition waits and no first attempt: its session is set up when its commit comes. */
async function holdRepetition(user: number) {
  const stranger = await bench.stranger()
  await stranger.query('begin')
  await stranger.query('select 1 from account where shard = $1 and user_id = $2 for update', [shardOf(user), user])
  return {
    async loseConfirmation() {
      await untilWaiting(db, 1)
      const { lost } = network.loseNextConfirmation()
      await stranger.query('rollback')
      await lost
    },
  }
}

describe('a commit that succeeded and whose confirmation was lost', () => {
  test('charges the reservation once and answers its caller', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    const engine = await engineFor(user)
    const { lost } = network.loseNextConfirmation()
    const asked = engine.submit(reserve(user, 'm1', 5))
    await lost
    // To its caller it is the first answer: senders may skip a message whose reservation is a repetition.
    expect(await asked).toMatchObject({ outcome: 'granted', replayed: false, reservation: { units: 5 } })
    expect(await engine.submit(reserve(user, 'm1', 5))).toMatchObject({ outcome: 'granted', replayed: true })
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 5 })
    expect(await reservations(user)).toEqual([{ id: 'm1', units: 5, committed: 0 }])
  })

  test('counts a value of a cap once', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    const cap = await bench.quota({ user_id: user, kind: 'cap', limit: 2, period: 'day', per: 'country', alert_at: [] })
    const engine = await engineFor(user)
    const { lost } = network.loseNextConfirmation()
    const asked = engine.submit(reserve(user, 'm1', 5, { country: 'DE' }))
    await lost
    expect(await asked).toMatchObject({ outcome: 'granted', replayed: false })
    const counted = () =>
      db.query({ text: sql`select used, reserved from value_counter where quota_id = $1`, values: [cap.id] })
    expect(await counted()).toEqual([{ used: 0, reserved: 1 }])
    const again = network.loseNextConfirmation()
    const settled = engine.submit(settle('commit', user, 'm1'))
    await again.lost
    expect(await settled).toMatchObject({ outcome: 'settled', replayed: false })
    expect(await counted()).toEqual([{ used: 1, reserved: 0 }])
  })

  test('keeps a repetition a repetition, and a settlement of the batch a first answer', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    const engine = await engineFor(user)
    await engine.submit(reserve(user, 'm1', 5))
    const { lost } = network.loseNextConfirmation()
    const asked = Promise.all([
      engine.submit(reserve(user, 'm1', 5)),
      engine.submit(settle('commit', user, 'm1', 3)),
      engine.submit(reserve(user, 'm2', 1)),
    ])
    await lost
    expect(await asked).toMatchObject([{ replayed: true }, { replayed: false }, { replayed: false }])
  })

  test('is settled without a user whose rows another transaction holds', async () => {
    const [held = 0, free = 0] = neighbours(2)
    for (const user of [held, free]) await bench.quota({ user_id: user })
    const engine = await engineFor(held, { lockTimeoutMs: 100 })
    await warm(engine, free)
    const stranger = await bench.stranger()
    await stranger.query('begin')
    await stranger.query('select 1 from account where shard = $1 and user_id = $2 for update', [shardOf(held), held])
    const { lost } = network.loseNextConfirmation()
    const [ofHeld, ofFree] = [engine.submit(reserve(held, 'm1', 5)), engine.submit(reserve(free, 'm1', 5))]
    const refused = expect(ofHeld).rejects.toThrow(Unavailable)
    await lost
    expect(await ofFree).toMatchObject({ outcome: 'granted', replayed: false })
    await refused
    await stranger.query('rollback')
    expect(await engine.submit(reserve(held, 'm1', 5))).toMatchObject({ outcome: 'granted', replayed: true })
  })

  test('stays a first answer if the confirmation of its repetition is lost, too', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    const engine = await engineFor(user)
    const repetition = await holdRepetition(user)
    const { lost } = network.loseNextConfirmation()
    const asked = engine.submit(reserve(user, 'm1', 5))
    await lost
    await repetition.loseConfirmation()
    expect(await asked).toMatchObject({ outcome: 'granted', replayed: false })
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 5 })
  })

  test('is answered from a transaction that itself writes', async () => {
    const user = someone()
    await bench.quota({ user_id: user })
    const engine = await engineFor(user)
    const version = () => db.query({ text: sql`select xmin::text from account where user_id = $1`, values: [user] })
    const before = await version()
    const { lost } = network.loseNextConfirmation()
    const asked = engine.submit(reserve(user, 'm1', 5))
    await lost
    await asked
    expect(await version()).not.toEqual(before)
  })

  test('is answered for a user without an account', async () => {
    const engine = bench.engine({ through: network })
    await warmWith(engine)
    const user = someone()
    const { lost } = network.loseNextConfirmation()
    const asked = engine.submit(draw('consume', user, 'm1', 5, { force: true }))
    await lost
    expect(await asked).toMatchObject({ outcome: 'granted' })
    expect(await reservations(user)).toEqual([{ id: 'm1', units: 5, committed: 5 }])
    expect(await db.query({ text: sql`select 1 from account where user_id = $1`, values: [user] })).toHaveLength(1)
  })
})

describe('a commit that was lost, and whose repetition fails for another reason', () => {
  /** The next update of the user's account fails: an attempt of unknown outcome is settled by one. */
  async function failOnce(user: number): Promise<void> {
    const place = bench.placeOf(shardOf(user))
    const node = openDatabase({ url: place.url, maxConnections: 1 })
    const [table = ''] = place.on(sql`from account`).split(' ').slice(1)
    await node.query({
      text: rawSql`create sequence updates_${user};
        create function fail_${user}() returns trigger language plpgsql as $$ begin
          if nextval('updates_${user}') = 1 then raise 'not now' using errcode = '42501'; end if;
          return new;
        end $$;
        create trigger fail_${user} before update on ${table}
          for each row when (new.user_id = ${user}) execute function fail_${user}()`,
    })
    await node.close()
  }

  test.each([1, 2])('is a first answer to the callers of %i users', async count => {
    const users = neighbours(count)
    const engine = bench.engine({ through: network })
    for (const user of users) {
      await bench.quota({ user_id: user })
      await warm(engine, user)
    }
    await failOnce(users.at(-1) ?? 0)
    const { lost } = network.loseNextConfirmation()
    const asked = users.flatMap(user => ['m1', 'm2'].map(id => engine.submit(reserve(user, id, 5))))
    await lost
    for (const answer of await Promise.all(asked)) {
      expect(answer).toMatchObject({ outcome: 'granted', replayed: false })
    }
    for (const user of users) expect(await reservations(user)).toHaveLength(2)
  })

  test('is fenced still: what arrives late is not executed', async () => {
    const user = someone()
    await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
    const engine = await engineFor(user)
    await failOnce(user)
    const stranding = network.strandNextCommit()
    const asked = engine.submit(reserve(user, 'm1', 5))
    const stray = await stranding
    clock.now += 1_000
    expect(await asked).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
    await stray.arrive()
    expect(await reservations(user)).toEqual([])
  })
})

describe('a commit that a cluster answers with an error', () => {
  test('is asked about until it is known, and charged once', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    const engine = bench.engine()
    await warm(engine, user)
    // Twice: the first attempt, and the first one in locked mode. On a cluster, in the tables where the engine writes.
    const place = bench.placeOf(shardOf(user))
    const node = openDatabase({ url: place.url, maxConnections: 1 })
    const [table = ''] = place.on(sql`from reservation`).split(' ').slice(1)
    await node.query({
      text: rawSql`create sequence commits;
        create function fail_twice() returns trigger language plpgsql as $$ begin
          if nextval('commits') <= 2 then raise 'could not commit transaction for shard' using errcode = 'XX000'; end if;
          return null;
        end $$;
        create constraint trigger fail_at_commit after insert on ${table} deferrable initially deferred
          for each row when (new.id = 'doomed') execute function fail_twice()`,
    })
    await node.close()
    expect(await engine.submit(reserve(user, 'doomed', 5))).toMatchObject({ outcome: 'granted', replayed: false })
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 5 })
    expect(await reservations(user)).toHaveLength(1)
  })
})

/** Opens the engine’s connections, so that the next commit is a batch’s. */
async function warmWith(engine: TestEngine): Promise<void> {
  const user = someone()
  await bench.quota({ user_id: user })
  await warm(engine, user)
}

describe('a commit that arrives late', () => {
  test('after its retry has reserved, finds another seq and fails', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    const engine = await engineFor(user)
    const stranding = network.strandNextCommit()
    const asked = engine.submit(reserve(user, 'm1', 5))
    const stray = await stranding
    expect(await asked).toMatchObject({ outcome: 'granted', replayed: false })
    await stray.arrive()
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 5 })
    expect(await reservations(user)).toHaveLength(1)
  })

  test('after its retry was denied because the grant expired, is not executed', async () => {
    const user = someone()
    await bench.quota({ user_id: user, expires_at: clock.now + 1_000 })
    const engine = await engineFor(user)
    const stranding = network.strandNextCommit()
    const asked = engine.submit(reserve(user, 'm1', 5))
    const stray = await stranding
    clock.now += 1_000
    expect(await asked).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
    await stray.arrive()
    expect(await reservations(user)).toEqual([])
  })

  test('does not hide that the confirmation of its repetition was lost: that is a first answer', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    const engine = await engineFor(user)
    const repetition = await holdRepetition(user)
    const stranding = network.strandNextCommit()
    const asked = engine.submit(reserve(user, 'm1', 5))
    await stranding
    // So that what the two attempts make differs.
    clock.now += 1
    await repetition.loseConfirmation()
    expect(await asked).toMatchObject({ outcome: 'granted', replayed: false })
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 5 })
  })

  test('does not make its own what another process has reserved with the same id meanwhile', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    const [engine, other] = [bench.engine({ through: network, giveUpMs: 60_000 }), bench.engine()]
    await warm(engine, user)
    const stranding = network.strandNextCommit()
    const asked = engine.submit(reserve(user, 'm1', 5))
    await stranding
    network.cut()
    clock.now += 1
    expect(await other.submit(reserve(user, 'm1', 5))).toMatchObject({ outcome: 'granted', replayed: false })
    network.restore()
    expect(await asked).toMatchObject({ outcome: 'granted', replayed: true })
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 5 })
  })

  test.each(['commit', 'release'] as const)('does not make a %s its own that ended otherwise meanwhile', async op => {
    const user = someone()
    await bench.quota({ user_id: user })
    const engine = await engineFor(user)
    await engine.submit(reserve(user, 'm1', 5, { ttl_ms: 1_000, on_expiry: op }))
    const stranding = network.strandNextCommit()
    const asked = engine.submit(settle(op, user, 'm1'))
    await stranding
    clock.now += 1_000
    expect(await asked).toMatchObject({ outcome: 'settled', replayed: true })
  })

  test('while its retry waits for the same lock, succeeds, and the retry finds it done', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    const engine = await engineFor(user, UNTIL_RELEASED)
    await engine.submit(reserve(user, 'm1', 10))
    const stranger = await bench.stranger()
    await stranger.query('begin')
    await stranger.query('select 1 from quota where id = $1 and shard = ($1 % 64)::smallint for update', [id])
    const watching = network.watchNextCommit()
    const asked = engine.submit(settle('commit', user, 'm1', 3))
    const sent = await watching
    await untilWaiting(db, 1)
    const stray = sent.disconnect()
    await untilWaiting(db, 2)
    await stranger.query('rollback')
    await stray.arrive()
    expect(await asked).toMatchObject({ outcome: 'settled', reservation: { committed: 3 } })
    expect(await countersOf(db, id)).toEqual({ used: 3, reserved: 7 })
    expect(await engine.submit(settle('commit', user, 'm1', 3))).toMatchObject({ replayed: true })
  })

  test('from locked mode, makes its retry wait for the account’s lock', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    const engine = bench.engine({ through: network, connections: 1 })
    await makeLocked(engine, bench)
    const stranding = network.strandNextCommit()
    // The proxy keeps back the second message of the batch, which has locked the account with the first.
    const asked = engine.submit(reserve(user, 'm1', 5))
    const stray = await stranding
    await untilWaiting(db, 1)
    await stray.arrive()
    expect(await asked).toMatchObject({ outcome: 'granted', replayed: false })
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 5 })
  })
})

test('a session that is lost during its setup is replaced: its batch has done nothing yet', async () => {
  const user = someone()
  await bench.quota({ user_id: user })
  const engine = bench.engine({ through: network })
  const { lost } = network.loseNextSession()
  const asked = engine.submit(reserve(user, 'm1', 5))
  await lost
  expect(await asked).toMatchObject({ outcome: 'granted', replayed: false })
})

test('a batch whose session the server ends during a lock wait is retried and charges once', async () => {
  const user = someone()
  const { id } = await bench.quota({ user_id: user })
  const engine = await engineFor(user)
  const held = await openTransaction(db, tx =>
    tx.query({ text: sql`select 1 from quota where id = $1 and shard = ($1 % 64)::smallint for update`, values: [id] }),
  )
  const asked = engine.submit(reserve(user, 'm1', 5))
  for (let round = 0; round < 3; round++) {
    await untilWaiting(db, 1)
    await endSessions(db, 'waiting')
  }
  await held.commit()
  expect(await asked).toMatchObject({ outcome: 'granted', reservation: { units: 5 } })
  expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 5 })
})

test('after all of these tests the counters equal the ledger', async () => {
  expect(await differences(db)).toEqual([])
})
