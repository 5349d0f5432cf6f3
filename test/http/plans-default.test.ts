/** Users who never had a quota get the default plan with their first reservation: exactly once, in one answer. */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { freshDatabase } from '../support/database.ts'
import { type Service, startService } from '../support/service.ts'

const database = freshDatabase()
const first = await startService({ database, env: { DEFAULT_PLAN_USERS_PER_MINUTE: '100000' } })
const second = await startService({ database, env: { DEFAULT_PLAN_USERS_PER_MINUTE: '100000' } })
const { call, db } = first
const PLANS = '/api/sms/admin/plans'
const SENDER = '/api/sms/sender/quota'

const MONTHLY = { slot: 'monthly', limit: 100, period: 'month' }
const DAILY = { slot: 'daily', kind: 'cap', limit: 50, period: 'day' }

let lastUser = 1_000
const newUser = () => ++lastUser
const plan = (await call('POST', PLANS, { body: { name: 'Basic', slots: [MONTHLY, DAILY], is_default: true } })).body

async function send(service: Service, op: string, user_id: number, more: object = {}) {
  const body = { user_id, ...(op === 'check' ? {} : { id: 'm1' }), units: 1, ...more }
  const answer = await service.call('POST', `${SENDER}/${op}`, { token: service.senderToken, body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}
interface Shown {
  used: number
  kind: string
  plan: { slot: string } | null
}
const quotasOf = async (user: number): Promise<Shown[]> =>
  (await call('GET', `/api/sms/admin/quota/list?user_id=${user}&sort=id`)).body.items
const NO_QUOTA = { granted: false, reason: 'no_quota' }

describe('a user who never had a quota', () => {
  test.each([
    ['reserve', {}],
    ['consume', {}],
    ['consume', { force: true }],
  ])('gets the default plan with the first %s %o, which is decided on it', async (op, more) => {
    const user = newUser()
    const summaryOf = async () => (await call('GET', `/api/sms/admin/quota/summary?user_id=${user}`)).body
    expect((await summaryOf()).default_plan).toEqual({ id: plan.id, name: 'Basic', version: 1 })
    expect(await send(first, op, user, { units: 3, ...more })).toMatchObject({
      granted: true,
      replayed: false,
      unfunded: 0,
      draws: [
        { kind: 'grant', units: 3 },
        { kind: 'cap', units: 3 },
      ],
      remaining: 47,
    })
    expect(await quotasOf(user)).toMatchObject([
      { plan: { id: plan.id, version: 1, slot: 'monthly' }, created_by: 'sms-quota' },
      { plan: { id: plan.id, version: 1, slot: 'daily' } },
    ])
    expect((await call('GET', `/api/sms/admin/users/${user}/plan`)).body).toMatchObject({ plan: { id: plan.id } })
    expect(await summaryOf()).toMatchObject({ denial: null, default_plan: null })
    const audit = (await call('GET', `/api/sms/admin/audit?user_id=${user}`)).body.items
    expect(audit).toMatchObject([{ actor: 'sms-quota', request_id: 'default-plan' }, { action: 'created' }])
    // Nothing was denied on the way.
    expect(await db.query({ text: sql`select from denial where user_id = $1`, values: [user] })).toEqual([])
    expect(await send(first, op, user, { units: 3, ...more })).toMatchObject({ granted: true, replayed: true })
  })

  test('is denied by the plan if that is too small, and has it from then on', async () => {
    const user = newUser()
    expect(await send(first, 'reserve', user, { units: 51 })).toMatchObject({ granted: false, reason: 'cap_reached' })
    expect(await quotasOf(user)).toHaveLength(2)
  })

  test('checks as if, and nothing is made', async () => {
    const user = newUser()
    for (const service of [first, second, first]) {
      expect(await send(service, 'check', user, { units: 2, explain: true })).toMatchObject({
        granted: true,
        remaining: 50,
        draws: [
          { quota_id: 0, units: 2 },
          { quota_id: 0, units: 2 },
        ],
      })
    }
    expect(await send(first, 'check', user, { units: 51 })).toMatchObject({
      reason: 'cap_reached',
      limiting_quota_id: 0,
    })
    const admin = await call('POST', '/api/sms/admin/quota/check', { body: { user_id: user, units: 1 } })
    expect(admin.body).toMatchObject({ granted: true })
    expect((await call('GET', `/api/sms/admin/users/${user}`)).status).toBe(404)
    expect(await send(first, 'reserve', user)).toMatchObject({ granted: true })
  })

  test('gets it once, by forty calls at once over two services, and is charged once for each message', async () => {
    const users = Array.from({ length: 5 }, newUser)
    const calls = users.flatMap(user =>
      Array.from({ length: 40 }, (_, n) =>
        // Each message is asked for twice: once over each service.
        send(n % 2 === 0 ? first : second, 'consume', user, { id: `m${Math.floor(n / 2)}` }),
      ),
    )
    const answers = await Promise.all(calls)
    expect(answers.filter(({ granted }) => !granted)).toEqual([])
    for (const user of users) {
      const quotas = await quotasOf(user)
      expect(quotas.map(({ plan: of }) => of?.slot)).toEqual(['monthly', 'daily'])
      expect(quotas.map(({ used }) => used)).toEqual([20, 20])
    }
  })

  test('has the commands of a batch in their order', async () => {
    const [user, other] = [newUser(), newUser()]
    const operations = [
      { op: 'check', user_id: user, units: 1 },
      { op: 'commit', user_id: user, id: 'm1' },
      { op: 'reserve', user_id: user, id: 'm1', units: 5 },
      { op: 'commit', user_id: user, id: 'm1', total_units: 3 },
      { op: 'check', user_id: other, units: 1 },
      { op: 'release', user_id: user, id: 'm1' },
      { op: 'consume', user_id: user, id: 'm2', units: 40 },
      { op: 'consume', user_id: user, id: 'm3', units: 40 },
    ]
    const { body } = await call('POST', `${SENDER}/batch`, { token: first.senderToken, body: { operations } })
    expect(body.results).toMatchObject([
      { status: 200, body: { granted: true } },
      { status: 404 },
      { status: 200, body: { granted: true, units: 5 } },
      { status: 200, body: { committed: 3 } },
      { status: 200, body: { granted: true } },
      { status: 200, body: { released: 2 } },
      { status: 200, body: { granted: true } },
      { status: 200, body: { granted: false, reason: 'cap_reached' } },
    ])
    expect(await quotasOf(other)).toEqual([])
  })
})

describe('has no claim', () => {
  test('a user whose plan was taken away, also when another process asks', async () => {
    const user = newUser()
    await send(first, 'reserve', user)
    await call('DELETE', `/api/sms/admin/users/${user}/plan`)
    first.clock.now += 1_000
    second.clock.now += 1_000
    for (const [n, service] of [first, second].entries())
      expect(await send(service, 'reserve', user, { id: `n${n}` })).toMatchObject(NO_QUOTA)
    expect((await quotasOf(user)).map(({ plan: of }) => of)).toEqual([null, null])
  })

  test('a user who had a quota, although it was deleted', async () => {
    const user = newUser()
    const { id } = (await call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 5 } })).body
    await call('DELETE', `/api/sms/admin/quota/${id}`)
    expect(await send(second, 'reserve', user)).toMatchObject(NO_QUOTA)
    expect(await send(second, 'check', user)).toMatchObject(NO_QUOTA)
  })

  test('a user who is being erased', async () => {
    const user = newUser()
    await send(first, 'consume', user)
    await call('DELETE', `/api/sms/admin/users/${user}/data`)
    expect(await send(second, 'reserve', user, { id: 'after' })).toMatchObject(NO_QUOTA)
  })
})

test('an account that the engine has made takes no claim away', async () => {
  const user = newUser()
  await db.query({ text: sql`insert into account (shard, user_id) values ($1, $2)`, values: [shardOf(user), user] })
  expect(await send(first, 'reserve', user)).toMatchObject({ granted: true })
})

test('what strangers can make is bounded: beyond it they are denied, and known users are not', async () => {
  const bounded = await startService({ database, env: { DEFAULT_PLAN_USERS_PER_MINUTE: '3' } })
  const users = Array.from({ length: 10 }, newUser)
  const answers = await Promise.all(users.map(user => send(bounded, 'reserve', user)))
  expect(answers.filter(({ granted }) => granted)).toHaveLength(3)
  expect(answers.filter(({ reason }) => reason === 'no_quota')).toHaveLength(7)
  const known = users[answers.findIndex(({ granted }) => granted)] ?? 0
  expect(await send(bounded, 'reserve', known, { id: 'm2' })).toMatchObject({ granted: true })
})

test('in observe mode a stranger gets the plan as well', async () => {
  const observing = await startService({ database, observe: true })
  const user = newUser()
  const granted = await send(observing, 'consume', user)
  expect(granted).toMatchObject({ granted: true, unfunded: 0 })
  expect(granted).not.toHaveProperty('would_deny')
  expect(await send(observing, 'consume', user, { id: 'm2', units: 70 })).toMatchObject({ would_deny: 'cap_reached' })
})

test('without a default plan, a stranger has no quota', async () => {
  const own = await startService()
  expect(await send(own, 'reserve', 1)).toMatchObject(NO_QUOTA)
})

test('after all of this, verify finds no difference', async () => {
  expect((await verify(db)).differences).toEqual([])
})
