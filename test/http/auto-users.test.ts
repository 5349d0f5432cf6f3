/** AUTO_USERS: the first message of a user that no one knows makes the user. */
import { describe, expect, test } from 'vitest'
import { makeUser } from '../../src/admin/users/make-user.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { freshDatabase } from '../support/database.ts'
import { SENDER, startSender } from './sender-fixture.ts'

const FIRST_ID = 2 ** 40
const ADMIN = '/api/sms/admin'
const database = freshDatabase()
const env = { AUTO_USERS: 'true', AUTH_SENDER_USERS_CLAIM: 'users' }
const one = await startSender({ database, env })
const other = await startSender({ database, env })
const { call, db } = one
const claims = { sub: 'gateway', roles: ['sms-quota:sender'], users: '*' }
const token = await one.token(claims)
const ask = (op: string, body: unknown, by = token, service = one) =>
  service.call('POST', `${SENDER}/${op}`, { token: by, body })
const usersOf = async (ref: string) =>
  (
    await db.query<{ user_id: number }>({ text: sql`select user_id from user_profile where ref = $1`, values: [ref] })
  ).map(({ user_id }) => user_id)

describe('the first reserve or consume of an unknown reference', () => {
  test.each(['reserve', 'consume'])('makes the user: %s', async op => {
    const ref = `new-${op}`
    const first = await ask(op, { user_ref: ref, id: 'm', units: 1 })
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({ granted: false, reason: 'no_quota', user_ref: ref })
    expect(first.body.user_id).toBeGreaterThanOrEqual(FIRST_ID)
    expect(await usersOf(ref)).toEqual([first.body.user_id])
    const { body } = await call('GET', `${ADMIN}/users/ref:${ref}/profile`)
    expect(body).toMatchObject({ user_id: first.body.user_id, ref, name: null, version: 1, updated_by: 'gateway' })
    const audit = await call('GET', `${ADMIN}/audit?resource=profile&user_ref=${ref}`)
    expect(audit.body.items).toMatchObject([{ action: 'created', actor: 'gateway', before: null }])
    await call('POST', `${ADMIN}/quota`, { body: { user_ref: ref, limit: 5 } })
    const second = await ask(op, { user_ref: ref, id: 'm', units: 1 })
    expect(second.body).toMatchObject({ granted: true, user_id: first.body.user_id, remaining: 4 })
  })

  test('makes one user, of twenty at once over two services, in calls and in batches', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const body = { user_ref: 'wanted', id: `m-${n}`, units: 1 }
        const service = n % 2 === 0 ? one : other
        return n % 4 < 2
          ? ask('consume', body, token, service).then(({ body: answer }) => answer)
          : ask('batch', { operations: [{ op: 'consume', ...body }] }, token, service).then(
              ({ body: { results } }) => results[0].body,
            )
      }),
    )
    const users = await usersOf('wanted')
    expect(users).toHaveLength(1)
    for (const answer of answers) expect(answer).toMatchObject({ user_id: users[0], reason: 'no_quota' })
    const accounts = await db.query({
      text: sql`select user_id from account where shard = $1 and user_id = $2`,
      values: [shardOf(users[0] ?? 0), users[0] ?? 0],
    })
    expect(accounts).toHaveLength(1)
  })

  test('makes no user twice when its answer was lost, and leaves none of a transaction that failed', async () => {
    const author = { now: one.clock.now, actor: 'gateway', requestId: 'r' }
    const made = await makeUser(db, 'lost', author)
    expect(await makeUser(db, 'lost', author)).toBe(made)
    const failing = {
      ...db,
      transaction: <T>(work: Parameters<typeof db.transaction<T>>[0]) =>
        db.transaction<T>(async tx => {
          await work(tx)
          throw new Error('killed')
        }),
    }
    await expect(makeUser(failing, 'killed', author)).rejects.toThrow('killed')
    expect(await usersOf('killed')).toEqual([])
    expect(await makeUser(db, 'killed', author)).toBeGreaterThan(made ?? 0)
  })

  test('takes no id that another system has given', async () => {
    const taken = FIRST_ID + 1_000
    await call('POST', `${ADMIN}/quota`, { body: { user_id: taken, limit: 5 } })
    const ids = [taken, taken + 1].values()
    const author = { now: one.clock.now, actor: 'gateway', requestId: 'r' }
    expect(await makeUser(db, 'behind', author, () => ids.next().value ?? 0)).toBe(taken + 1)
  })

  test('gives no id again that a restored backup does not have', async () => {
    const author = { now: one.clock.now, actor: 'gateway', requestId: 'r' }
    const answered = await makeUser(db, 'after the backup', author)
    // The database of before, with all that it counts.
    const values = [answered ?? 0]
    for (const table of [sql`user_ref`, sql`profile_change`, sql`user_profile`, sql`account`])
      await db.query({ text: sql`delete from ${table} where user_id = $1`, values })
    await db.query({ text: sql`alter sequence user_number restart` })
    for (let n = 0; n < 20; n++) expect(await makeUser(db, `after the restore ${n}`, author)).not.toBe(answered)
  })
})

describe('a check of an unknown reference', () => {
  const checked = async (ref: string, service: typeof one) => {
    const body = { user_ref: ref, units: 2 }
    const operations = [
      { op: 'check', ...body },
      { op: 'commit', user_ref: ref, id: 'm' },
    ]
    const single = await ask('check', body, token, service)
    const batch = await ask('batch', { operations }, token, service)
    const ofAdmin = await service.call('POST', `${ADMIN}/quota/check`, { body })
    expect(batch.body.results).toMatchObject([{ status: 200 }, { status: 404, body: { code: 'unknown_user' } }])
    const answers = [single.body, batch.body.results[0].body, ofAdmin.body]
    for (const answer of answers) {
      expect(answer).toMatchObject({ user_ref: ref })
      expect(answer).not.toHaveProperty('user_id')
    }
    return answers
  }

  test('is denied without a default plan, and makes no user', async () => {
    const denied = { granted: false, reason: 'no_quota', remaining: 0 }
    expect(await checked('not-by-check', one)).toMatchObject([denied, denied, denied])
    expect(await usersOf('not-by-check')).toEqual([])
  })

  test('answers as the reserve that comes next, which makes the user', async () => {
    const service = await startSender({ env })
    const body = { name: 'Basic', is_default: true, slots: [{ slot: 'monthly', limit: 100, period: 'month' }] }
    expect((await service.call('POST', `${ADMIN}/plans`, { body })).status).toBe(201)
    const granted = { granted: true, units: 2, remaining: 100, draws: [{ quota_id: 0, units: 2 }] }
    expect(await checked('next', service)).toMatchObject([granted, granted, granted])
    expect((await service.call('GET', `${ADMIN}/users/ref:next/profile`)).status).toBe(404)
    const operations = [
      { op: 'reserve', user_ref: 'next', id: 'm', units: 2 },
      { op: 'check', user_ref: 'next', units: 2 },
    ]
    const { results } = (await ask('batch', { operations }, token, service)).body
    expect(results).toMatchObject([{ body: { remaining: 98 } }, { body: { granted: true, remaining: 98 } }])
    expect(results[1].body.user_id).toBe(results[0].body.user_id)
  })
})

describe('no user is made', () => {
  test.each<[string, string, object]>([
    ['by a commit', 'commit', { id: 'm' }],
    ['by a release', 'release', { id: 'm' }],
    ['by a call with force of a token that may not force', 'consume', { id: 'm', units: 1, force: true }],
  ])('%s', async (_name, op, body) => {
    const ref = `not-by-${op}`
    const single = await ask(op, { user_ref: ref, ...body })
    const { body: batch } = await ask('batch', { operations: [{ op, user_ref: ref, ...body }] })
    expect([single.status, single.body.code]).toEqual([404, 'unknown_user'])
    expect(batch.results).toMatchObject([{ status: 404, body: { code: 'unknown_user' } }])
    expect(await usersOf(ref)).toEqual([])
  })

  test('by a call that is refused', async () => {
    const body = { user_ref: 'refused', id: 'm', units: -1 }
    expect((await ask('consume', body)).status).toBe(400)
    const { body: batch } = await ask('batch', { operations: [{ op: 'consume', ...body }] })
    expect(batch.results[0].status).not.toBe(200)
    expect(await usersOf('refused')).toEqual([])
  })

  test('by a token for some users', async () => {
    const bounded = await one.token({ ...claims, users: [7] })
    expect((await ask('consume', { user_ref: 'foreign', id: 'm', units: 1 }, bounded)).status).toBe(403)
    expect(await usersOf('foreign')).toEqual([])
  })

  test('of a reference that an erasure has freed', async () => {
    const { body } = await ask('consume', { user_ref: 'gone', id: 'm', units: 1 })
    await db.query({
      text: sql`update user_ref set user_id = null, freed_at = now() where ref = 'gone' and user_id = $1`,
      values: [body.user_id],
    })
    const again = await ask('consume', { user_ref: 'gone', id: 'm', units: 1 })
    expect([again.status, again.body.code]).toEqual([404, 'unknown_user'])
  })

  test('beyond the bound of a minute: such a call is denied, and others go on', async () => {
    const bounded = await startSender({ env: { AUTO_USERS: 'true', DEFAULT_PLAN_USERS_PER_MINUTE: '2' } })
    const refs = ['a', 'b', 'c', 'd']
    const answers = []
    for (const ref of refs) answers.push((await bounded.ask('consume', { user_ref: ref, id: 'm', units: 1 })).body)
    expect(answers).toMatchObject(refs.map(user_ref => ({ granted: false, reason: 'no_quota', user_ref })))
    expect(answers.map(({ user_id }) => user_id !== undefined)).toEqual([true, true, false, false])
    const { body } = await bounded.ask('batch', {
      operations: ['d', 'a'].map(user_ref => ({ op: 'consume', user_ref, id: 'n', units: 1 })),
    })
    expect(body.results).toMatchObject([
      { status: 200, body: { granted: false, reason: 'no_quota', user_ref: 'd' } },
      { status: 200, body: { user_ref: 'a', user_id: answers[0].user_id } },
    ])
  })
})
