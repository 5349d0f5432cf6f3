/**
 * Every kind of command is answered in optimistic mode: on what the engine remembers, or has read without a lock. In each
 * test another process has changed meanwhile what the answer depends on.
 */
import { describe, expect, test } from 'vitest'
import { deleteQuota } from '../../src/admin/quotas/delete-quota.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import type { Command, DrawCommand } from '../../src/domain/units/command.ts'
import {
  countersOf,
  createBench,
  differences,
  draw,
  neighbours,
  reserve,
  settle,
  someone,
  type TestEngine,
  warm,
} from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const [one, other] = [bench.engine(), bench.engine()]

/** Submits a command to the first engine and returns the outcome, which must not come from locked mode. */
async function ask(command: Command, engine: TestEngine = one) {
  const outcome = await engine.submit(command)
  expect(engine.reports.at(-1)?.mode).toBe('optimistic')
  return outcome
}

const find = (user: number, id: string): Command => ({ op: 'find', user_id: user, id })
const expire = (user: number, id: string): Command => ({ op: 'expire', user_id: user, id })

async function aUser(limit: number | null = 10): Promise<{ user: number; quota: number }> {
  const user = someone()
  const { id } = await bench.quota({ user_id: user, limit })
  return { user, quota: id }
}

/** What a user's rows were last written by: another value after each write. */
const writersOf = (user: number) =>
  db.query({ text: sql`select xmin::text from account where user_id = $1`, values: [user] })

describe('a denial', () => {
  test('does not miss units that another process has freed', async () => {
    const { user } = await aUser()
    await one.submit(reserve(user, 'all', 10))
    await other.submit(settle('release', user, 'all'))
    expect(await ask(reserve(user, 'm1', 1))).toMatchObject({ outcome: 'granted' })
  })

  test('is no answer to a message that was granted: nor to its repetition, if the grant took the last units', async () => {
    const { user } = await aUser()
    await other.submit(reserve(user, 'm1', 10))
    // It knows the quota as it is, and not the reservation.
    await warm(one, user)
    expect(await ask(reserve(user, 'm1', 10))).toMatchObject({ outcome: 'granted', replayed: true })
  })

  test('is the answer to the second of two messages with one id that ask for different things', async () => {
    const { user } = await aUser()
    await other.submit(reserve(user, 'm1', 10))
    await warm(one, user)
    expect(await ask(reserve(user, 'm1', 5))).toMatchObject({ outcome: 'idempotency_mismatch', fields: ['units'] })
  })

  test('can be followed by a grant of the same id in the same batch', async () => {
    const { user, quota } = await aUser()
    await one.submit(reserve(user, 'all', 10))
    const answers = await Promise.all([
      ask(reserve(user, 'm1', 1)),
      ask(settle('release', user, 'all')),
      ask(reserve(user, 'm1', 1)),
    ])
    expect(answers).toMatchObject([{ outcome: 'denied' }, { outcome: 'settled' }, { outcome: 'granted' }])
    expect(one.reports.at(-1)).toMatchObject({ commands: 3, retries: 0 })
    expect(await countersOf(db, quota)).toEqual({ used: 0, reserved: 1 })
  })

  test('writes nothing but usage, and waits for no transaction that only reads', async () => {
    const { user, quota } = await aUser(0)
    await ask(reserve(user, 'm1', 1))
    const seq = () => db.query({ text: sql`select seq from quota where id = $1`, values: [quota] })
    const before = await seq()
    await ask(reserve(user, 'm2', 1))
    expect(await seq()).toEqual(before)
  })
})

describe('a user without a live quota', () => {
  test('is read each time: a first quota counts from its answer on', async () => {
    const user = someone()
    expect(await ask(reserve(user, 'm1', 1))).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
    await bench.quota({ user_id: user })
    expect(await ask(reserve(user, 'm1', 1))).toMatchObject({ outcome: 'granted', replayed: false })
  })

  test('and whose deleted quota is remembered, too', async () => {
    const { user, quota } = await aUser()
    await one.submit(reserve(user, 'm1', 2))
    await deleteQuota(db, quota, bench.author(), () => true)
    expect(await ask(settle('commit', user, 'm1', 1))).toMatchObject({ outcome: 'settled' })
    expect(await ask(reserve(user, 'm2', 1))).toMatchObject({ outcome: 'denied', reason: 'no_quota' })
    await bench.quota({ user_id: user, kind: 'cap', limit: 5 })
    await bench.quota({ user_id: user })
    const granted = await ask(reserve(user, 'm2', 1))
    expect(granted).toMatchObject({ reservation: { draws: [{ kind: 'grant' }, { kind: 'cap' }] } })
    expect(await ask(settle('commit', user, 'm1', 2))).toMatchObject({ outcome: 'settled' })
    expect(await countersOf(db, quota)).toEqual({ used: 2, reserved: 0 })
  })
})

describe('a repetition', () => {
  test('of a message that another process has reserved, in a batch of others', async () => {
    const users = neighbours(3)
    for (const user of users) await bench.quota({ user_id: user })
    const [twice = 0] = users
    await other.submit(reserve(twice, 'm1', 5))
    await Promise.all(users.map(user => warm(one, user)))
    const answers = await Promise.all(users.map(user => ask(reserve(user, 'm1', 5))))
    expect(answers.map(answer => 'replayed' in answer && answer.replayed)).toEqual([true, false, false])
    // Ids are read ahead for a while then: the next one costs no attempt.
    await other.submit(reserve(users[1] ?? 0, 'm2', 1))
    await Promise.all(users.map(user => warm(one, user)))
    expect(await ask(reserve(users[1] ?? 0, 'm2', 1))).toMatchObject({ replayed: true })
    expect(one.reports.at(-1)?.retries).toBe(0)
  })

  test('shows what another process has made of the reservation', async () => {
    const { user } = await aUser()
    await one.submit(reserve(user, 'm1', 5))
    await other.submit(settle('commit', user, 'm1', 3))
    await warm(one, user)
    expect(await ask(reserve(user, 'm1', 5))).toMatchObject({ replayed: true, reservation: { committed: 3 } })
    await other.submit(settle('release', user, 'm1', 2))
    await warm(one, user)
    expect(await ask(settle('commit', user, 'm1', 3))).toMatchObject({
      outcome: 'settled',
      replayed: true,
      reservation: { released: 2 },
    })
  })

  test('of a reservation that retention has removed is a new one', async () => {
    const { user } = await aUser(null)
    await one.submit(draw('consume', user, 'm1', 5))
    await db.query({ text: sql`delete from reservation where user_id = $1`, values: [user] })
    expect(await ask(draw('consume', user, 'm1', 5))).toMatchObject({ outcome: 'granted', replayed: false })
    await db.query({ text: sql`update quota set used = 5 where user_id = $1`, values: [user] })
  })

  test('is answered by a transaction that writes', async () => {
    const { user } = await aUser()
    await one.submit(reserve(user, 'm1', 5))
    for (const command of [reserve(user, 'm1', 5), find(user, 'm1'), reserve(user, 'm1', 6)]) {
      const before = await writersOf(user)
      await ask(command)
      expect(await writersOf(user)).not.toEqual(before)
    }
    const before = await writersOf(user)
    await ask(find(user, 'missing'))
    await warm(one, user)
    expect(await writersOf(user)).toEqual(before)
  })
})

describe('a reservation that is looked up', () => {
  test('is shown as another process has left it', async () => {
    const { user } = await aUser()
    await one.submit(reserve(user, 'm1', 5))
    await other.submit(settle('commit', user, 'm1', 3))
    await warm(one, user)
    expect(await ask(find(user, 'm1'))).toMatchObject({ outcome: 'found', reservation: { committed: 3 } })
  })

  test('is found as soon as another process has made it', async () => {
    const { user } = await aUser()
    expect(await ask(find(user, 'm1'))).toEqual({ outcome: 'not_found' })
    await other.submit(reserve(user, 'm1', 5))
    expect(await ask(find(user, 'm1'))).toMatchObject({ outcome: 'found', reservation: { units: 5 } })
  })
})

describe('a settlement', () => {
  test('of what another process has reserved and partly settled', async () => {
    const { user, quota } = await aUser()
    await other.submit(reserve(user, 'm1', 5))
    await other.submit(settle('commit', user, 'm1', 2))
    expect(await ask(settle('commit', user, 'm1'))).toMatchObject({ outcome: 'settled', reservation: { committed: 5 } })
    expect(await ask(settle('refund', user, 'm1', 1))).toMatchObject({ outcome: 'settled' })
    expect(await countersOf(db, quota)).toEqual({ used: 4, reserved: 0 })
  })

  test('needs one attempt each time: memory has the rows as the last one left them', async () => {
    const { user } = await aUser()
    await one.submit(reserve(user, 'm1', 5))
    for (const total of [1, 2]) {
      await ask(settle('commit', user, 'm1', total))
      expect(one.reports.at(-1)?.retries).toBe(0)
    }
  })

  test('that is refused tells of the reservation as another process has left it', async () => {
    const { user } = await aUser()
    await one.submit(reserve(user, 'm1', 5))
    await other.submit(settle('release', user, 'm1'))
    await warm(one, user)
    const refused = await ask(settle('commit', user, 'm1'))
    expect(refused).toMatchObject({ outcome: 'reservation_closed', reservation: { released: 5 } })
    expect(await ask(settle('commit', user, 'm1', 6))).toMatchObject({ outcome: 'exceeds_reservation' })
  })

  test('draws back from a quota that is over', async () => {
    const { user } = await aUser()
    const { id } = await bench.quota({ user_id: user, priority: 1, expires_at: clock.now + HOUR_MS })
    await other.submit(reserve(user, 'm1', 5, { ttl_ms: 3 * HOUR_MS }))
    clock.now += 2 * HOUR_MS
    expect(await ask(settle('commit', user, 'm1', 4))).toMatchObject({ outcome: 'settled' })
    expect(await ask(settle('release', user, 'm1'), other)).toMatchObject({ outcome: 'settled', replayed: false })
    expect(await ask(settle('release', user, 'm1', 1))).toMatchObject({ outcome: 'settled', replayed: true })
    expect(await countersOf(db, id)).toEqual({ used: 4, reserved: 0 })
  })
})

describe('under a cap that counts each country by itself', () => {
  /** A user with units, and a cap of 2 messages to a country; both engines know the quotas. */
  async function capped(): Promise<{ user: number; to: (country: string) => Partial<DrawCommand> }> {
    const { user } = await aUser(1_000)
    await bench.quota({ user_id: user, kind: 'cap', limit: 2, period: 'day', per: 'country', alert_at: [] })
    for (const engine of [one, other]) await warm(engine, user)
    return { user, to: country => ({ country }) }
  }

  test('a grant counts what another process has counted, if that began at nothing too', async () => {
    const { user, to } = await capped()
    const ids = ['a', 'b', 'c', 'd']
    const outcomes = await Promise.all(
      ids.map((id, n) => (n % 2 === 0 ? one : other).submit(reserve(user, id, 5, to('DE')))),
    )
    expect(outcomes.filter(({ outcome }) => outcome === 'granted')).toHaveLength(2)
    expect(await ask(reserve(user, 'e', 1, to('AT')))).toMatchObject({ outcome: 'granted' })
  })

  test('a denial does not miss what another process has given back', async () => {
    const { user, to } = await capped()
    for (const id of ['a', 'b']) await one.submit(reserve(user, id, 1, to('DE')))
    expect(await ask(reserve(user, 'c', 1, to('DE')))).toMatchObject({ outcome: 'denied', reason: 'cap_reached' })
    await other.submit(settle('release', user, 'a'))
    expect(await ask(reserve(user, 'c', 1, to('DE')))).toMatchObject({ outcome: 'granted' })
  })

  test('a message that was granted is a repetition, if it took the last room', async () => {
    const { user, to } = await capped()
    for (const id of ['a', 'b']) await other.submit(reserve(user, id, 1, to('DE')))
    await warm(one, user)
    expect(await ask(reserve(user, 'b', 1, to('DE')))).toMatchObject({ outcome: 'granted', replayed: true })
  })

  test('what one batch takes and gives back is counted in its order', async () => {
    const { user, to } = await capped()
    const answers = await Promise.all([
      ask(reserve(user, 'a', 1, to('DE'))),
      ask(reserve(user, 'b', 1, to('DE'))),
      ask(reserve(user, 'c', 1, to('DE'))),
      ask(settle('release', user, 'a')),
      ask(reserve(user, 'c', 1, to('DE'))),
    ])
    expect(answers.map(({ outcome }) => outcome)).toEqual(['granted', 'granted', 'denied', 'settled', 'granted'])
  })
})

test('an expiry closes what is outstanding, once, whichever process comes first', async () => {
  const { user, quota } = await aUser()
  await other.submit(reserve(user, 'm1', 5, { ttl_ms: HOUR_MS, on_expiry: 'commit' }))
  clock.now += HOUR_MS
  const answers = await Promise.all([one, other].map(engine => engine.submit(expire(user, 'm1'))))
  for (const answer of answers) expect(answer).toMatchObject({ reservation: { committed: 5, expired: true } })
  expect(await countersOf(db, quota)).toEqual({ used: 5, reserved: 0 })
})

test('all kinds of commands share a batch, and each is answered by its own rule', async () => {
  const users = neighbours(8)
  for (const user of users.slice(0, 7)) await bench.quota({ user_id: user, limit: 10 })
  const [granted = 0, denied = 0, repeated = 0, settled = 0, found = 0, expired = 0, checked = 0, unknown = 0] = users
  await other.submit(reserve(denied, 'all', 10))
  for (const user of [repeated, settled, found]) await other.submit(reserve(user, 'm1', 5))
  await other.submit(reserve(expired, 'm1', 5, { ttl_ms: HOUR_MS }))
  clock.now += HOUR_MS / 2
  for (const user of users) await warm(one, user)
  clock.now += HOUR_MS / 2
  one.reports.length = 0
  const answers = await Promise.all([
    one.submit(reserve(granted, 'm1', 5)),
    one.submit(reserve(denied, 'm1', 1)),
    one.submit(reserve(repeated, 'm1', 5)),
    one.submit(settle('commit', settled, 'm1', 2)),
    one.submit(find(found, 'm1')),
    one.submit(expire(expired, 'm1')),
    one.submit(draw('check', checked, '', 1)),
    one.submit(draw('consume', unknown, 'm1', 1, { force: true })),
    one.submit(settle('release', unknown, 'missing')),
  ])
  expect(answers).toMatchObject([
    { outcome: 'granted', replayed: false },
    { outcome: 'denied' },
    { outcome: 'reservation_closed' },
    { outcome: 'reservation_closed' },
    { outcome: 'found' },
    { outcome: 'found', reservation: { expired: true } },
    { outcome: 'granted' },
    { outcome: 'granted', reservation: { draws: [] } },
    { outcome: 'not_found' },
  ])
  expect(one.reports.map(({ mode, commands }) => [mode, commands])).toEqual([['optimistic', 9]])
})

test('after all of these tests the counters equal the ledger', async () => {
  expect(await differences(db)).toEqual([])
})
