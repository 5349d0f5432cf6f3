import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import type { Command } from '../../src/domain/units/command.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import { createBench, draw, reserve, START, settle, someone, type TestEngine } from '../support/engine.ts'
import { endSessions } from '../support/sessions.ts'

const bench = await createBench()
const { db, clock } = bench

/** A command that a principal asks for. */
const by = (principal: string, command: Command, requestId = 'r'): Command => ({
  ...command,
  origin: { principal, requestId },
})

/** What a sender is shown of the reservation's authors. */
async function authorshipOf(engine: TestEngine, user_id: number, id: string) {
  const found = await engine.submit({ op: 'find', user_id, id })
  if (found.outcome !== 'found') throw new Error(`there is no ${id}`)
  return found.authorship
}

async function aUser(): Promise<number> {
  const user = someone()
  await bench.quota({ user_id: user })
  return user
}

describe('a reservation names', () => {
  test('who made it and who settled it last, at any process and in the same batch', async () => {
    const [one, other] = [bench.engine(), bench.engine()]
    const user = await aUser()
    await one.submit(by('campaigns', reserve(user, 'm', 5)))
    expect(await authorshipOf(other, user, 'm')).toEqual({ made_by: 'campaigns', settled_by: null, actions: [] })
    await other.submit(by('gateway', settle('commit', user, 'm', 2)))
    expect(await authorshipOf(one, user, 'm')).toMatchObject({ made_by: 'campaigns', settled_by: 'gateway' })
    await one.submit(by('campaigns', settle('release', user, 'm')))
    expect(await authorshipOf(one, user, 'm')).toMatchObject({ made_by: 'campaigns', settled_by: 'campaigns' })

    await Promise.all([
      one.submit(by('campaigns', reserve(user, 'n', 5))),
      one.submit(by('gateway', settle('commit', user, 'n', 2))),
    ])
    expect(await authorshipOf(one, user, 'n')).toMatchObject({ made_by: 'campaigns', settled_by: 'gateway' })
    await one.submit(by('gateway', draw('consume', user, 'o', 1)))
    expect(await authorshipOf(one, user, 'o')).toEqual({ made_by: 'gateway', settled_by: 'gateway', actions: [] })
  })

  test('no one who only repeats, fails, reads, or meets its expiry', async () => {
    const engine = bench.engine()
    const user = await aUser()
    await engine.submit(by('first', draw('consume', user, 'm', 5)))
    await engine.submit(by('first', reserve(user, 'n', 5, { ttl_ms: 1_000 })))
    await engine.submit(by('first', settle('commit', user, 'n', 2)))
    for (const command of [
      draw('consume', user, 'm', 5),
      draw('consume', user, 'm', 6),
      settle('commit', user, 'm', 5),
      settle('refund', user, 'm', 9),
      { ...settle('commit', user, 'm', 5), verified: true },
      { op: 'feedback' as const, user_id: user, id: 'n' },
    ]) {
      await engine.submit(by('second', command))
    }
    clock.now += 2_000
    expect(await engine.submit(by('second', settle('commit', user, 'n', 5)))).toMatchObject({
      outcome: 'reservation_closed',
    })
    for (const id of ['m', 'n']) {
      expect(await authorshipOf(engine, user, id)).toEqual({ made_by: 'first', settled_by: 'first', actions: [] })
    }
    clock.now = START
  })

  test('null, if the service itself or an older version wrote it', async () => {
    const engine = bench.engine()
    const user = await aUser()
    await engine.submit(reserve(user, 'm', 5))
    await engine.submit(settle('commit', user, 'm', 5))
    expect(await authorshipOf(engine, user, 'm')).toEqual({ made_by: null, settled_by: null, actions: [] })
  })

  test('principals of any characters', async () => {
    const engine = bench.engine()
    const user = await aUser()
    const subjects = ['"},{', '\\', "it's", 'ö😀', 'null', ' ', 'x'.repeat(255)]
    await Promise.all(subjects.map((subject, n) => engine.submit(by(subject, reserve(user, `m${n}`, 1)))))
    const authors = await Promise.all(subjects.map((_, n) => authorshipOf(engine, user, `m${n}`)))
    expect(authors.map(authorship => authorship?.made_by)).toEqual(subjects)
  })
})

describe('forced bookings and refunds', () => {
  test('are recorded with principal, total, time and request, if they had an effect', async () => {
    const engine = bench.engine()
    const user = await aUser()
    const at = clock.now
    await engine.submit(by('gateway', draw('consume', user, 'm', 5_000, { force: true }), 'r1'))
    clock.now += 1_000
    await Promise.all([
      engine.submit(by('desk', settle('refund', user, 'm', 1_000), 'r2')),
      engine.submit(by('desk', settle('refund', user, 'm', 3_000), 'r3')),
      engine.submit(by('desk', settle('refund', user, 'm', 3_000), 'repeated')),
      engine.submit(by('desk', settle('refund', user, 'm', 6_000), 'refused')),
    ])
    expect(await authorshipOf(engine, user, 'm')).toEqual({
      made_by: 'gateway',
      settled_by: 'desk',
      actions: [
        { action: 'force', total_units: 5_000, at, by: 'gateway', request_id: 'r1' },
        { action: 'refund', total_units: 1_000, at: at + 1_000, by: 'desk', request_id: 'r2' },
        { action: 'refund', total_units: 3_000, at: at + 1_000, by: 'desk', request_id: 'r3' },
      ],
    })
    clock.now = START
  })

  test('a forced commit of released units is one', async () => {
    const engine = bench.engine()
    const user = await aUser()
    await engine.submit(by('gateway', reserve(user, 'm', 5)))
    await engine.submit(by('gateway', settle('release', user, 'm')))
    await engine.submit(by('gateway', { ...settle('commit', user, 'm', 4), force: true }, 'late'))
    expect((await authorshipOf(engine, user, 'm'))?.actions).toEqual([
      { action: 'force', total_units: 4, at: clock.now, by: 'gateway', request_id: 'late' },
    ])
  })

  test('a forced commit of refunded units is one, with what is used after it', async () => {
    const engine = bench.engine()
    const user = await aUser()
    const at = clock.now
    await engine.submit(by('gateway', draw('consume', user, 'm', 5), 'sent'))
    await engine.submit(by('gateway', settle('refund', user, 'm'), 'failed'))
    clock.now += 1_000
    for (const requestId of ['arrived', 'again'])
      await engine.submit(by('gateway', { ...settle('commit', user, 'm', 3), force: true }, requestId))
    expect((await authorshipOf(engine, user, 'm'))?.actions).toEqual([
      { action: 'refund', total_units: 5, at, by: 'gateway', request_id: 'failed' },
      { action: 'force', total_units: 3, at: at + 1_000, by: 'gateway', request_id: 'arrived' },
    ])
    clock.now = START
  })

  test('go with their reservation, and those that an older version left are replaced', async () => {
    const engine = bench.engine()
    const user = await aUser()
    const forced = (requestId: string) => by('gateway', draw('consume', user, 'm', 1, { force: true }), requestId)
    const actions = () =>
      db.query({ text: sql`select request_id from reservation_action where user_id = $1`, values: [user] })
    await engine.submit(forced('r1'))
    clock.now += 2
    await createRetention({ db, now: () => clock.now, retentionMs: 1 }).removeOnce(clock.now)
    expect(await actions()).toEqual([])

    await engine.submit(forced('r2'))
    await db.query({
      text: sql`delete from reservation where shard = $1 and user_id = $2`,
      values: [shardOf(user), user],
    })
    const restarted = bench.engine()
    expect(await restarted.submit(forced('r3'))).toMatchObject({ outcome: 'granted' })
    expect(await actions()).toEqual([{ request_id: 'r3' }])
    clock.now = START
  })
})

describe('usage names', () => {
  /** What is counted of a user: kind, units, messages and sender. */
  async function usageOf(user_id: number) {
    const rows = await db.query<{ kind: number; units: number; messages: number; subject: string | null }>({
      text: sql`select kind, e.units, e.messages, subject
        from usage_pending, unnest(users, kinds, units, messages, senders) e (user_id, kind, units, messages, sender)
          left join principal on id = sender
        where e.user_id = $1 order by number, kind, subject`,
      values: [user_id],
    })
    return rows.map(({ kind, units, messages, subject }) => [kind, units, messages, subject])
  }
  const [COMMITTED, REFUNDED, NO_QUOTA, QUOTA_EXHAUSTED] = [0, 1, 3, 5]

  test('the sender who committed or refunded, and not the one who reserved', async () => {
    const engine = bench.engine()
    const user = await aUser()
    await engine.submit(by('campaigns', reserve(user, 'm', 5)))
    await engine.submit(by('gateway', settle('commit', user, 'm', 2)))
    await engine.submit(by('campaigns', settle('commit', user, 'm', 5)))
    await engine.submit(by('desk', settle('refund', user, 'm', 1)))
    await engine.submit(by('gateway', { ...draw('consume', user, 'n', 5_000), force: true }))
    expect(await usageOf(user)).toEqual([
      [COMMITTED, 2, 1, 'gateway'],
      [COMMITTED, 3, 0, 'campaigns'],
      [REFUNDED, 1, 1, 'desk'],
      [COMMITTED, 5_000, 1, 'gateway'],
    ])
  })

  test('each sender of a batch by itself, and the sender who was denied', async () => {
    const engine = bench.engine()
    const [user, stranger] = [await aUser(), someone()]
    await Promise.all([
      engine.submit(by('one', draw('consume', user, 'a', 2))),
      engine.submit(by('other', draw('consume', user, 'b', 3))),
      engine.submit(by('one', draw('consume', user, 'c', 4))),
      engine.submit(by('other', draw('consume', user, 'd', 5_000))),
      engine.submit(by('one', reserve(stranger, 'e', 1))),
    ])
    expect(await usageOf(user)).toEqual([
      [COMMITTED, 6, 2, 'one'],
      [COMMITTED, 3, 1, 'other'],
      [QUOTA_EXHAUSTED, 5_000, 1, 'other'],
    ])
    expect(await usageOf(stranger)).toEqual([[NO_QUOTA, 1, 1, 'one']])
  })

  test('no sender for what an expiry commits, also if a sender meets it first', async () => {
    const engine = bench.engine()
    const user = await aUser()
    const onExpiry = { ttl_ms: 1_000, on_expiry: 'commit' } as const
    for (const id of ['met', 'swept']) await engine.submit(by('campaigns', reserve(user, id, 5, onExpiry)))
    clock.now += 2_000
    await engine.submit(by('gateway', settle('commit', user, 'met', 5)))
    await engine.submit({ op: 'expire', user_id: user, id: 'swept' })
    expect(await usageOf(user)).toEqual([
      [COMMITTED, 5, 1, null],
      [COMMITTED, 5, 1, null],
    ])
    clock.now = START
  })
})

describe('the dictionary of principals', () => {
  const idOf = async (subject: string) =>
    (await db.query<{ id: number }>({ text: sql`select id from principal where subject = $1`, values: [subject] }))[0]
      ?.id

  test('has each once, however many processes meet it at the same time', async () => {
    const engines = Array.from({ length: 4 }, () => bench.engine())
    const users = await Promise.all(engines.map(aUser))
    await Promise.all(
      engines.flatMap((engine, n) =>
        ['one', 'two', 'three'].map(name => engine.submit(by(name, reserve(users[n] ?? 0, name, 1)))),
      ),
    )
    for (const [n, engine] of engines.entries()) {
      expect((await authorshipOf(engine, users[n] ?? 0, 'two'))?.made_by).toBe('two')
    }
  })

  test('is read again after a lost connection: another server may have other ids', async () => {
    const engine = bench.engine()
    const user = await aUser()
    await engine.submit(by('lost', reserve(user, 'm', 1)))
    const before = await idOf('lost')
    await db.query({ text: sql`delete from principal where subject = 'lost'` })
    await endSessions(db, 'all')
    await expect.poll(async () => (await engine.submit(by('lost', reserve(user, 'n', 1)))).outcome).toBe('granted')
    expect((await authorshipOf(engine, user, 'n'))?.made_by).toBe('lost')
    expect(await idOf('lost')).not.toBe(before)
  })

  test('is bounded: a principal for which it has no room is not named, and its actions are', async () => {
    const engine = bench.engine()
    const user = await aUser()
    await db.query({
      text: sql`insert into principal (id, subject) overriding system value values (100000, 'the last')`,
    })
    await engine.submit(by('one too many', draw('consume', user, 'm', 1, { force: true }), 'r1'))
    expect(await authorshipOf(engine, user, 'm')).toEqual({
      made_by: null,
      settled_by: null,
      actions: [{ action: 'force', total_units: 1, at: clock.now, by: null, request_id: 'r1' }],
    })
    const [usage] = await db.query({
      text: sql`select senders from usage_pending where $1 = any(users)`,
      values: [user],
    })
    expect(usage).toEqual({ senders: [null] })
    await engine.submit(by('the last', draw('consume', user, 'n', 1)))
    expect((await authorshipOf(engine, user, 'n'))?.made_by).toBe('the last')
    await db.query({ text: sql`delete from principal where id = 100000` })
  })
})
