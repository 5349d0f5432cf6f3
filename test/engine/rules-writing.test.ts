/** How a batch is written. */
import { describe, expect, test } from 'vitest'
import { connectPipelined } from '../../src/db/connection/pipelined-connection.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { LEDGER_STATEMENTS } from '../../src/db/ledger/statements.ts'
import { STORED_COLUMNS } from '../../src/db/quotas/quotas.ts'
import { shardFrom, shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { EngineFailure, Unavailable } from '../../src/engine/completion.ts'
import {
  countersOf,
  createBench,
  differences,
  draw,
  makeLocked,
  neighbours,
  reserve,
  settle,
  someone,
  type TestEngine,
  usersOfTwoShards,
  warm,
} from '../support/engine.ts'
import { cancelSessions, countSessions, UNTIL_RELEASED, untilWaiting } from '../support/sessions.ts'
import { rawSql } from '../support/sql.ts'

const bench = await createBench()
const { db, url, clock } = bench

describe('begin … commit in one Sync', () => {
  test('when the begin fails, the statements behind it are not executed', async () => {
    const statements = {
      // It is prepared without an error and fails when executed, like a BEGIN that is cancelled.
      begin: sql`select 1 / 0`,
      mark: sql`insert into account (shard, user_id) values (1, $1)`,
    }
    const connection = await connectPipelined({ url, statements, settings: {} })
    const calls = ['begin', 'mark', 'commit'].map(name => ({ name, values: name === 'mark' ? ['1'] : [] }))
    await expect(connection.run(calls)).rejects.toMatchObject({ code: '22012' })
    expect(await db.query({ text: sql`select 1 from account where shard = 1 and user_id = 1` })).toEqual([])
    await connection.close()
  })

  test('batches that are cancelled again and again leave the counters equal to the ledger', async () => {
    const engine = bench.engine({ connections: 2 })
    const users = [someone(), someone()]
    const quotas = await Promise.all(users.map(user => bench.quota({ user_id: user, limit: null })))
    let cancelled = 0
    let isOver = false
    // Bounded, since on a slow machine every attempt could be cancelled, and nothing would ever be answered.
    const cancelAgainAndAgain = async () => {
      while (!isOver && cancelled < 300) {
        cancelled += await cancelSessions(db)
      }
    }
    const granted = [0, 0]
    const sendAll = async (user: number, index: number) => {
      // On a busy machine, few of 150 commands meet a cancellation.
      for (let n = 0; n < 150 || (cancelled <= 10 && n < 20_000); n++) {
        const answer = await engine.submit(reserve(user, `c${n}`, 1)).catch(error => error)
        if (answer instanceof EngineFailure) expect(answer).toBeInstanceOf(Unavailable)
        else granted[index] = (granted[index] ?? 0) + 1
      }
    }
    const cancelling = cancelAgainAndAgain()
    await Promise.all(users.map(sendAll)).finally(() => {
      isOver = true
      return cancelling
    })
    expect(cancelled).toBeGreaterThan(10)
    expect(await differences(db)).toEqual([])
    for (const [index, { id }] of quotas.entries()) {
      expect((await countersOf(db, id)).reserved).toBeGreaterThanOrEqual(granted[index] ?? 0)
    }
  })
})

describe('every update is guarded by count', () => {
  const shards = '{7,7}'
  const at = '2026-03-15T12:00:00.000Z'
  const [there, other] = [64_000_000_007, 64_000_000_071]
  const ids = `{${there},${other}}`
  // Each has a row that exists as it says, and one that is missing or has another `seq`.
  const cases: Record<string, (string | null)[]> = {
    'check-quotas': [shards, ids, '{0,9}', '2'],
    'check-reservations': [shards, '{1,1}', '{a,b}', '{0,9}', '2'],
    // This one expects that both are missing.
    'check-absent': [shards, '{1,1}', '{a,c}'],
    'increment-counters': [shards, ids, '{0,9}', '{1,1}', '{0,0}', '2'],
    'roll-quotas': [
      ...[shards, ids, '{0,9}', '{1,1}', '{0,0}', '{0,0}', '{1,1}'],
      ...[`{${at},${at}}`, '{null,null}', '2'],
    ],
    'mark-alerted': [shards, ids, '{0,9}', '{"{80}","{80}"}', '2'],
    'correct-windows': [shards, ids, '{0,0}', '{1,1}', '{0,0}', '2'],
    'write-counters': [shards, ids, '{3,3}', `{${at},${at}}`, `{${at},${at}}`, '{1,1}', '{0,0}', '{5,5}', '2'],
    'mark-retaken': [shards, '{1,1}', '{a,c}', '2'],
    'extend-reservations': [shards, '{1,1}', '{a,b}', '{0,9}', '{9,9}', '{"{}","{}"}', '{}', '2'],
    'settle-reservations': [
      shards,
      '{1,1}',
      '{a,b}',
      '{0,9}',
      '{1,1}',
      '{0,0}',
      '{0,0}',
      '{f,f}',
      '{f,f}',
      '{1,1}',
      at,
      '2',
    ],
  }

  test('every update has a guard, and the cases cover every guard', () => {
    const namesOf = (pattern: RegExp) =>
      Object.entries(LEDGER_STATEMENTS).flatMap(([name, text]) => (pattern.test(text) ? [name] : []))
    const guarded = namesOf(/\bselect 1 \/ \(/)
    expect(Object.keys(cases).sort()).toEqual(guarded.sort())
    const unguarded = namesOf(/\bupdate \w+ (\w+ )?set\b/).filter(name => !guarded.includes(name))
    // The fence applies to any `seq`, and a shard has one outbox head.
    expect(unguarded.sort()).toEqual(['advance-outbox', 'fence-quotas'])
  })

  test('one row that was changed meanwhile fails the whole batch', async () => {
    const text = rawSql`
      insert into account values (7, 1);
      insert into quota (shard, id, user_id, kind, time_zone, rollover_limit, overage_limit, priority, starts_at, alert_at,
        enabled, metadata, window_start, created_at, created_by, updated_at, updated_by)
      select 7, id, 1, 'grant', 'UTC', 0, 0, 1, '${at}', '{}', true, '{}', '${at}', '${at}', '', '${at}', ''
      from unnest('${ids}'::bigint[]) id;
      insert into quota_window values (7, ${there}, 0, '${at}', '${at}', 5, 0, 0, 0, 0, 0);
      insert into value_counter (shard, quota_id, value_key, window_start, window_end, used, reserved, seq)
      values (7, ${there}, 3, '${at}', '${at}', 0, 0, 4), (7, ${other}, 3, '${at}', '${at}', 0, 0, 9);
      insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released, refunded,
        on_expiry, expired, draws, created_at, expires_at, changed_at)
      select 7, 1, id, 'reserve', 1, false, false, 1, 0, 0, 0, 'release', false, '{}', '${at}', '${at}', '${at}'
      from unnest('{a,b}'::text[]) id`
    await db.query({ text })
    const state = sql`select (select json_agg(quota.* order by id) from quota where user_id = 1),
      (select json_agg(reservation.* order by id) from reservation where user_id = 1),
      (select json_agg(quota_window.*) from quota_window), (select json_agg(value_counter.* order by quota_id) from value_counter)`
    const before = await db.query({ text: state })
    const connection = await bench.placeOf(shardFrom(7)).connect({ statements: LEDGER_STATEMENTS, settings: {} })
    for (const [name, values] of Object.entries(cases)) {
      const run = connection.run([
        { name: 'begin', values: [] },
        { name, values },
        { name: 'commit', values: [] },
      ])
      await expect(run, name).rejects.toMatchObject({ code: '22012' })
      await connection.rollback()
    }
    expect(await db.query({ text: state })).toEqual(before)
    await connection.close()
    await db.query({ text: sql`delete from reservation where user_id = 1; delete from quota_window` })
  })

  test('an engine with current quotas and a stale reservation in memory', async () => {
    const [one, other] = [bench.engine(), bench.engine()]
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await warm(one, user)
    await one.submit(reserve(user, 'm1', 5))
    await other.submit(settle('release', user, 'm1'))
    await warm(one, user)
    expect(await one.submit(settle('commit', user, 'm1'))).toMatchObject({ outcome: 'reservation_closed' })
    expect(await countersOf(db, id)).toEqual({ used: 0, reserved: 0 })
  })

  test('an engine whose memory still has the last units', async () => {
    const [one, other] = [bench.engine(), bench.engine()]
    const user = someone()
    await bench.quota({ user_id: user, limit: 10 })
    await warm(one, user)
    await other.submit(reserve(user, 'm1', 10))
    expect(await one.submit(reserve(user, 'm2', 10))).toMatchObject({ outcome: 'denied', reason: 'quota_exhausted' })
  })
})

test('a connection belongs to one batch: no batch waits behind another one’s lock', async () => {
  const engine = bench.engine({ connections: 2 })
  const [held, free] = usersOfTwoShards()
  const { id } = await bench.quota({ user_id: held })
  await bench.quota({ user_id: free })
  const stranger = await bench.stranger()
  await stranger.query('begin')
  await stranger.query('select 1 from quota where id = $1 and shard = ($1 % 64)::smallint for update', [id])
  const answered: string[] = []
  const waiting = engine.submit(reserve(held, 'm1', 1)).finally(() => answered.push('held'))
  await untilWaiting(db, 1)
  for (let n = 0; n < 20; n++) await engine.submit(reserve(free, `m${n}`, 1)).then(() => answered.push('free'))
  await stranger.query('rollback')
  expect(await waiting).toMatchObject({ outcome: 'granted' })
  expect(answered).toEqual([...Array(20).fill('free'), 'held'])
})

/** With many strangers in the shard, rows are looked up one by one in the order of the arrays, as in the product. */
async function fillShard(user: number): Promise<void> {
  const copied = STORED_COLUMNS.replace('"id"', `nextval('quota_number') * 64 + shard`).replace(
    '"user_id"',
    '1000000 + n',
  )
  await db.query({
    text: sql`insert into account (shard, user_id) select $1, 1000000 + n from generate_series(1, 5000) n`,
    values: [shardOf(user)],
  })
  await db.query({
    text: rawSql`insert into quota (shard, ${STORED_COLUMNS}) select shard, ${copied} from quota, generate_series(1, 5000) n
      where user_id = $1`,
    values: [user],
  })
  await db.query({ text: sql`analyze` })
}

/** The server’s deadlock detection must run before the lock times out. It holds for sessions that begin later. */
async function detectDeadlocksEarly(): Promise<void> {
  await db.query({
    text: sql`do $$ begin execute format('alter database %I set deadlock_timeout = ''100ms''', current_database()); end $$`,
  })
}

/** Ends the engines, since sessions report their statistics at the latest when they end, and expects no deadlock. */
async function expectNoDeadlock(sessionsBefore: number, engines: readonly TestEngine[]): Promise<void> {
  await Promise.all(engines.map(engine => engine.close()))
  await expect.poll(() => countSessions(db)).toBe(sessionsBefore)
  const deadlocks = sql`select deadlocks from pg_stat_database where datname = current_database()`
  expect(await db.query({ text: deadlocks })).toEqual([{ deadlocks: 0 }])
}

test('arrays are sorted: batches that cross each other never deadlock', async () => {
  await detectDeadlocksEarly()
  const users = neighbours(3)
  for (const user of users) await bench.quota({ user_id: user })
  await fillShard(users[0] ?? 0)
  const before = await countSessions(db)
  const [one, other] = [bench.engine(UNTIL_RELEASED), bench.engine(UNTIL_RELEASED)]
  for (const user of users) await warm(one, user)
  for (const user of users) await warm(other, user)
  const stranger = await bench.stranger()
  await stranger.query('begin')
  await stranger.query('select 1 from quota where shard = $1 and user_id = $2 for update', [
    shardOf(users[1] ?? 0),
    users[1],
  ])
  // Both have all users in memory and receive commands in opposite orders.
  const asked = [
    ...users.map(user => one.submit(reserve(user, 'one', 1))),
    ...users.toReversed().map(user => other.submit(reserve(user, 'other', 1))),
  ]
  await untilWaiting(db, 2)
  await stranger.query('rollback')
  const answers = await Promise.allSettled(asked)
  expect(answers).toMatchObject(Array(6).fill({ status: 'fulfilled', value: { outcome: 'granted' } }))
  await expectNoDeadlock(before, [one, other])
})

test('accounts are sorted, too, whether a batch locks or writes them', async () => {
  await detectDeadlocksEarly()
  const users = neighbours(3)
  for (const user of users) await bench.quota({ user_id: user })
  const before = await countSessions(db)
  const [locking, writing] = [bench.engine(UNTIL_RELEASED), bench.engine(UNTIL_RELEASED)]
  await makeLocked(locking, bench)
  for (const user of users) await writing.submit(reserve(user, 'm1', 1))
  const stranger = await bench.stranger()
  await stranger.query('begin')
  const [, second = 0] = users
  await stranger.query('select 1 from account where shard = $1 and user_id = $2 for update', [shardOf(second), second])
  // Repetitions write the accounts and nothing else.
  const asked = [locking, writing].flatMap(engine => users.map(user => engine.submit(reserve(user, 'm1', 1))))
  await untilWaiting(db, 2)
  await stranger.query('rollback')
  const answers = await Promise.allSettled(asked)
  expect(answers).toMatchObject(Array(6).fill({ status: 'fulfilled', value: { outcome: 'granted', replayed: true } }))
  await expectNoDeadlock(before, [locking, writing])
})

test('the heads of outboxes are locked in the order of shards, not in that of the users', async () => {
  await detectDeadlocksEarly()
  const shards = [...new Set(Array.from({ length: 200 }, () => shardOf(someone())))].sort((a, b) => a - b).slice(0, 3)
  const before = await countSessions(db)
  const [one, other] = [bench.engine(UNTIL_RELEASED), bench.engine(UNTIL_RELEASED)]
  const batches = [shards, shards.toReversed()].map(order => order.map(shard => someone(shard)))
  for (const user of batches.flat()) await bench.quota({ user_id: user, limit: 10, alert_at: [50] })
  const stranger = await bench.stranger()
  await stranger.query('begin')
  await stranger.query('select 1 from shard_head where shard = $1 for update', [shards[1]])
  const asked = [one, other].flatMap((engine, n) =>
    (batches[n] ?? []).map(user => engine.submit(draw('consume', user, 'm1', 5))),
  )
  await untilWaiting(db, 2)
  await stranger.query('rollback')
  const answers = await Promise.allSettled(asked)
  expect(answers).toMatchObject(Array(6).fill({ status: 'fulfilled', value: { outcome: 'granted' } }))
  await expectNoDeadlock(before, [one, other])
})

test('reservations are sorted, too: those of a user without a quota have no other lock before them', async () => {
  await detectDeadlocksEarly()
  const user = someone()
  const ids = ['a', 'b', 'c']
  const before = await countSessions(db)
  const [one, other] = [bench.engine(UNTIL_RELEASED), bench.engine(UNTIL_RELEASED)]
  for (const id of ids) await one.submit(draw('consume', user, id, 2, { force: true }))
  const stranger = await bench.stranger()
  await stranger.query('begin')
  const held = `select 1 from reservation where shard = $1 and user_id = $2 and id = 'b' for update`
  await stranger.query(held, [shardOf(user), user])
  const asked = [
    ...ids.map(id => one.submit(settle('refund', user, id, 1))),
    ...ids.toReversed().map(id => other.submit(settle('refund', user, id, 2))),
  ]
  await untilWaiting(db, 2)
  await stranger.query('rollback')
  const answers = await Promise.allSettled(asked)
  expect(answers).toMatchObject(Array(6).fill({ status: 'fulfilled', value: { outcome: 'settled' } }))
  await expectNoDeadlock(before, [one, other])
})

test('a batch that rolls some quotas and increments others locks all of them in one order', async () => {
  await detectDeadlocksEarly()
  const [first = 0, second = 0] = neighbours(2)
  const { id } = await bench.quota({ user_id: first })
  await bench.quota({ user_id: second, period: 'day' })
  await fillShard(first)
  const before = await countSessions(db)
  const rolling = bench.engine(UNTIL_RELEASED)
  const incrementing = bench.engine({ ...UNTIL_RELEASED, now: () => clock.now - DAY_MS })
  for (const user of [first, second]) await warm(rolling, user)
  clock.now += DAY_MS
  const stranger = await bench.stranger()
  await stranger.query('begin')
  await stranger.query('select 1 from quota where id = $1 and shard = ($1 % 64)::smallint for update', [id])
  // Its clock is behind, so it only increments, in the order of users, and is first to get the quota that both wait for.
  const asked = [first, second].map(user => incrementing.submit(reserve(user, 'incrementing', 1)))
  await untilWaiting(db, 1)
  asked.push(...[first, second].map(user => rolling.submit(reserve(user, 'rolling', 1))))
  await untilWaiting(db, 2)
  await stranger.query('rollback')
  const answers = await Promise.allSettled(asked)
  expect(answers).toMatchObject(Array(4).fill({ status: 'fulfilled', value: { outcome: 'granted' } }))
  await expectNoDeadlock(before, [rolling, incrementing])
})

test('after all of these tests the counters equal the ledger', async () => {
  expect(await differences(db)).toEqual([])
})
