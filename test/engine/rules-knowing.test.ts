/** When memory may be used for decisions, and when it is stale. */
import { describe, expect, test } from 'vitest'
import { createQuota } from '../../src/admin/quotas/create-quota.ts'
import { deleteQuota } from '../../src/admin/quotas/delete-quota.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { STORED_COLUMNS } from '../../src/db/quotas/quotas.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
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
  usersOfTwoShards,
  warm,
} from '../support/engine.ts'
import { endSessions, UNTIL_RELEASED, untilWaiting } from '../support/sessions.ts'
import { rawSql } from '../support/sql.ts'

const bench = await createBench()
const { db } = bench

describe('administrators and locked batches lock the account', () => {
  test('a cap that is created while a batch in locked mode loads the user is applied, then and later', async () => {
    const engine = bench.engine()
    const user = someone()
    await bench.quota({ user_id: user })
    await makeLocked(engine, bench)
    const administrator = await openTransaction(db, tx =>
      createQuota(tx, { user_id: user, kind: 'cap', limit: 5 }, bench.author()),
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

  test('also by a batch that has read the user without a lock', async () => {
    const engine = bench.engine()
    const users = neighbours(12)
    const [capped = 0, ...others] = users
    for (const user of users) await bench.quota({ user_id: user })
    const administrator = await openTransaction(db, tx =>
      createQuota(tx, { user_id: capped, kind: 'cap', limit: 5 }, bench.author()),
    )
    const asked = users.map(user => engine.submit(reserve(user, 'm1', 500)))
    // It waits for the grant, which got another `seq` with the cap.
    await untilWaiting(db, 1)
    await administrator.commit()
    const answers = await Promise.all(asked)
    expect(answers).toMatchObject([{ reason: 'cap_reached' }, ...others.map(() => ({ outcome: 'granted' }))])
    expect(engine.reports.at(-1)).toMatchObject({ mode: 'optimistic', retries: 1 })
  })

  test('several administrators at once: each sees what the earlier ones created', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    // One fewer than the limit of quotas per user.
    const copied = STORED_COLUMNS.replace('"id"', `nextval('quota_number') * 64 + shard`)
    await db.query({
      text: rawSql`insert into quota (shard, ${STORED_COLUMNS}) select shard, ${copied} from quota, generate_series(1, 198)
        where id = $1`,
      values: [id],
    })
    const make = () => db.transaction(tx => createQuota(tx, { user_id: user, limit: 1 }, bench.author()))
    const made = await Promise.all(Array.from({ length: 5 }, make))
    expect(made.map(({ outcome }) => outcome).toSorted()).toEqual(['created', ...Array(4).fill('too_many_quotas')])
    const [account] = await db.query({ text: sql`select live from account where user_id = $1`, values: [user] })
    expect(account).toEqual({ live: 200 })
  })

  test('an administrator’s change invalidates an engine’s memory of all the user’s quotas', async () => {
    const engine = bench.engine()
    const user = someone()
    await bench.quota({ user_id: user })
    await warm(engine, user)
    await bench.quota({ user_id: user, kind: 'cap', limit: 5 })
    expect(await engine.submit(reserve(user, 'm1', 500))).toMatchObject({ outcome: 'denied', reason: 'cap_reached' })
  })

  test('an engine that remembers only deleted quotas of a user does not miss a new one', async () => {
    const engine = bench.engine()
    const user = someone()
    const old = await bench.quota({ user_id: user })
    await engine.submit(reserve(user, 'm1', 500))
    await deleteQuota(db, old.id, bench.author(), () => true)
    await engine.submit(settle('commit', user, 'm1', 5))
    const { id } = await bench.quota({ user_id: user })
    const booked = await engine.submit(draw('consume', user, 'm2', 5, { force: true }))
    expect(booked).toMatchObject({ outcome: 'granted', reservation: { draws: [{ quota_id: id }] } })
  })
})

test('unchanged quotas are guarded too: a grant that another process has freed pays first', async () => {
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

test('also one that is freed while the batch waits for a lock: the guards see what came until then', async () => {
  const [one, other] = [bench.engine(UNTIL_RELEASED), bench.engine()]
  const user = someone()
  const first = await bench.quota({ user_id: user, limit: 10, priority: 1 })
  const second = await bench.quota({ user_id: user, priority: 2 })
  await one.submit(reserve(user, 'all', 10))
  const stranger = await bench.stranger()
  await stranger.query('begin')
  await stranger.query('select 1 from quota where id = $1 and shard = ($1 % 64)::smallint for update', [second.id])
  const asked = one.submit(reserve(user, 'm1', 5))
  await untilWaiting(db, 1)
  await other.submit(settle('release', user, 'all'))
  await stranger.query('rollback')
  expect(await asked).toMatchObject({ reservation: { draws: [{ quota_id: first.id }] } })
  expect(await countersOf(db, second.id)).toEqual({ used: 0, reserved: 0 })
})

describe('memory is emptied when a connection is lost', () => {
  /** As after a failover to a standby that lacks the last writes: other content with the same `seq`. */
  const rewrite = (quotaId: number, limit: number) =>
    db.query({ text: sql`update quota set "limit" = $2 where id = $1`, values: [quotaId, limit] })

  test('a connection that is lost between batches empties all of the memory', async () => {
    const engine = bench.engine()
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await warm(engine, user)
    expect(await endSessions(db, 'all')).toBeGreaterThan(0)
    await expect.poll(() => engine.warnings).toContain('engine: connection lost')
    await rewrite(id, 3)
    expect(await engine.submit(reserve(user, 'm1', 5))).toMatchObject({ outcome: 'denied' })
  })

  test('so does a connection that is lost in another batch', async () => {
    const engine = bench.engine({ connections: 2 })
    const [user, other] = usersOfTwoShards()
    const { id } = await bench.quota({ user_id: user })
    const held = await bench.quota({ user_id: other })
    await warm(engine, user)
    const stranger = await bench.stranger()
    await stranger.query('begin')
    await stranger.query('select 1 from quota where id = $1 and shard = ($1 % 64)::smallint for update', [held.id])
    const waiting = engine.submit(reserve(other, 'm1', 1))
    await untilWaiting(db, 1)
    expect(await endSessions(db, 'waiting')).toBe(1)
    await untilWaiting(db, 1)
    await stranger.query('rollback')
    expect(await waiting).toMatchObject({ outcome: 'granted' })
    await rewrite(id, 3)
    expect(await engine.submit(reserve(user, 'm1', 5))).toMatchObject({ outcome: 'denied' })
  })

  test('counters are incremented, never set', async () => {
    const engine = bench.engine()
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await warm(engine, user)
    await db.query({ text: sql`update quota set used = 3, reserved = 4 where id = $1`, values: [id] })
    await engine.submit(reserve(user, 'm1', 5))
    expect(engine.reports.at(-1)?.mode).toBe('optimistic')
    expect(await countersOf(db, id)).toEqual({ used: 3, reserved: 9 })
    await db.query({ text: sql`update quota set used = 0, reserved = 5 where id = $1`, values: [id] })
  })
})

describe('after conflicts with another process', () => {
  /** Asks the engine. Strangers change the row, each after the one before, between a read and a write, until it answers. */
  async function askWhileChanged<Answer>(id: number, ask: () => Promise<Answer>): Promise<Answer> {
    const change = `begin; update quota set seq = seq + 1 where id = ${id}`
    let holder = await bench.stranger()
    await holder.query(change)
    const answer = ask()
    let isAnswered = false
    const answered = answer.then(() => {
      isAnswered = true
    })
    while (!isAnswered) {
      const next = await bench.stranger()
      await Promise.race([answered, untilWaiting(db, 1)])
      const changed = next.query(change)
      if (!isAnswered) await untilWaiting(db, 2, '')
      await holder.query('commit')
      await changed
      holder = next
      await Promise.race([answered, untilWaiting(db, 1)])
    }
    await holder.query('rollback')
    return answer
  }

  test('over one user, the batch reads again and answers', async () => {
    const [one, other] = [bench.engine(), bench.engine()]
    const user = someone()
    await bench.quota({ user_id: user })
    await warm(one, user)
    await other.submit(reserve(user, 'other', 1))
    await one.submit(reserve(user, 'm1', 1))
    await one.submit(reserve(user, 'm2', 1))
    expect(one.reports.slice(-2)).toMatchObject([
      { mode: 'optimistic', retries: 1 },
      { mode: 'optimistic', retries: 0 },
    ])
  })

  test('over one user again and again, that user’s next 50 batches run isolated in locked mode, and the others’ do not', async () => {
    const engine = bench.engine(UNTIL_RELEASED)
    const [user, quiet] = [someone(), someone()]
    const { id } = await bench.quota({ user_id: user })
    await bench.quota({ user_id: quiet })
    await warm(engine, user)
    // The engine may get the row between two strangers, as PostgreSQL wakes those who wait: then it is asked again.
    for (let round = 0; !engine.reports.some(({ mode }) => mode === 'locked'); round++) {
      const ask = () => Promise.all([user, quiet].map(one => engine.submit(reserve(one, `round-${round}`, 1))))
      const outcomes = await askWhileChanged(id, ask)
      expect(outcomes).toMatchObject([{ outcome: 'granted' }, { outcome: 'granted' }])
    }
    engine.reports.length = 0
    for (let n = 1; n <= 50; n++) {
      await Promise.all([user, quiet].map(user => engine.submit(reserve(user, `m${n}`, 1))))
    }
    const modes = engine.reports.map(({ mode }) => mode)
    expect(modes.filter(mode => mode === 'locked')).toHaveLength(49)
    expect(modes.slice(-1)).toEqual(['optimistic'])
  })

  test.each([
    ['40001', 1, 'optimistic'],
    ['40P01', 1, 'optimistic'],
    ['40001', 5, 'locked'],
  ] as const)(
    'that PostgreSQL reports as %s, %i times, the batch goes again as a whole, in %s mode',
    async (code, times, mode) => {
      const engine = bench.engine()
      const users = neighbours(2)
      for (const user of users) await bench.quota({ user_id: user })
      for (const user of users) await warm(engine, user)
      const [user = 0] = users
      const place = bench.placeOf(shardOf(user))
      const node = openDatabase({ url: place.url, maxConnections: 1 })
      const [table = ''] = place.on(sql`from quota`).split(' ').slice(1)
      await node.query({
        text: rawSql`create sequence updates_${user};
        create function fail_${user}() returns trigger language plpgsql as $$ begin
          if nextval('updates_${user}') <= ${times} then raise 'not now' using errcode = '${code}'; end if;
          return new;
        end $$;
        create trigger fail_${user} before update on ${table}
          for each row when (new.user_id = ${user}) execute function fail_${user}()`,
      })
      await node.close()
      engine.reports.length = 0
      await Promise.all(users.map(user => engine.submit(reserve(user, 'm1', 1))))
      expect(engine.reports).toMatchObject([{ mode, commands: 2 }])
    },
  )

  test('over few users of a large batch, the next batches do not run in locked mode', async () => {
    const engine = bench.engine()
    const users = neighbours(65)
    for (const user of users) await bench.quota({ user_id: user })
    await Promise.all(users.map(user => warm(engine, user)))
    await db.query({ text: sql`update quota set seq = seq + 1 where user_id = any($1)`, values: [users.slice(0, 4)] })
    await Promise.all(users.map(user => warm(engine, user)))
    expect(engine.reports.at(-1)).toMatchObject({ mode: 'optimistic', commands: 65, retries: 1 })
  })

  test('over many users at once, the next 50 batches run in locked mode', async () => {
    const engine = bench.engine()
    const user = someone()
    await bench.quota({ user_id: user })
    await makeLocked(engine, bench)
    engine.reports.length = 0
    for (let n = 0; n < 50; n++) await engine.submit(reserve(user, `m${n}`, 1))
    expect(engine.reports.map(({ mode }) => mode)).toEqual([...Array(49).fill('locked'), 'optimistic'])
  })
})

test('after all of these tests the counters equal the ledger', async () => {
  expect(await differences(db)).toEqual([])
})
