import { describe, expect, test } from 'vitest'
import { lockAccounts } from '../../src/db/quotas/quotas.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { openTransaction } from '../support/engine.ts'
import { untilWaiting } from '../support/sessions.ts'
import { type Line, PLANS, startPlans } from './plans-fixture.ts'

const { call, clock, db, senderToken, newUser, createPlan, change, rollOut } = await startPlans()
const QUOTA = '/api/sms/admin/quota'
const MONTHLY = { slot: 'monthly', limit: 1000, period: 'month' }
const DAILY = { slot: 'daily', kind: 'cap', limit: 200, period: 'day' }
const TRIAL = { slot: 'trial', limit: 50, lasts_days: 30 }

const newUsers = (count: number) => Array.from({ length: count }, newUser)
const endOf = (lines: Line[]) => lines.at(-1)
const NONE = { changed: 0, unchanged: 0, left_out: 0, failed: 0 }
const planOf = async (user: number) => (await call('GET', `/api/sms/admin/users/${user}/plan`)).body
const monthlyOf = async (user: number): Promise<number> =>
  (await planOf(user)).slots.find(({ slot }: { slot: string }) => slot === 'monthly').quota_id

describe('a roll-out', () => {
  test('gives the current version to named users, and says what became of their quotas', async () => {
    const plan = await createPlan(MONTHLY, DAILY)
    const users = newUsers(5)
    const lines = await rollOut(plan, { users })
    expect(lines).toEqual([
      { record: 'begin', bulk_id: expect.stringMatching(/^bulk-/) },
      {
        record: 'end',
        users: { ...NONE, changed: 5 },
        quotas: { made: 10, changed: 0, ended: 0, stay: 0, kept: 0 },
        carried: 0,
        again: 0,
        exhausted: 0,
      },
    ])
    expect((await call('GET', `${PLANS}/${plan}`)).body.users).toEqual([{ version: 1, users: 5 }])
    const audit = (await call('GET', `/api/sms/admin/audit?request_id=${lines[0].bulk_id}`)).body.items
    expect(audit).toHaveLength(10)
  })

  test('in a dry run tells who would change, keep and be exhausted, and changes nothing', async () => {
    const plan = await createPlan(MONTHLY, DAILY)
    const users = newUsers(4)
    await rollOut(plan, { users })
    const [negotiated = 0, heavy = 0, , own = 0] = users
    await call('PUT', `${QUOTA}/${await monthlyOf(negotiated)}`, { body: { limit: 5000 } })
    const send = { user_id: heavy, id: 'm1', units: 150 }
    await call('POST', '/api/sms/sender/quota/consume', { token: senderToken, body: send })
    await call('DELETE', `/api/sms/admin/users/${own}/plan`)
    clock.now += 1_000
    await change(plan, { ...MONTHLY, limit: 100 }, TRIAL)
    const before = await call('GET', `${QUOTA}/list?page_size=200`)
    const preview = await rollOut(plan, { from_version: 1, dry_run: true })
    expect(preview.filter(({ record }) => record === 'exhausted')).toEqual([
      { record: 'exhausted', user_id: heavy, slots: ['monthly'] },
    ])
    const samples = preview.filter(({ record }) => record === 'sample')
    expect(samples).toHaveLength(3)
    expect(samples.find(({ user_id }) => user_id === negotiated)).toEqual({
      record: 'sample',
      user_id: negotiated,
      slots: [
        { slot: 'monthly', outcome: 'stays', kept: { limit: 5000 }, changes: {} },
        { slot: 'trial', outcome: 'made', kept: {}, changes: {} },
      ],
      ended: 1,
    })
    expect(samples.find(({ user_id }) => user_id === heavy)).toMatchObject({
      slots: [{ slot: 'monthly', outcome: 'changed', changes: { limit: [1000, 100] } }, { slot: 'trial' }],
    })
    const end = {
      record: 'end',
      users: { ...NONE, changed: 3 },
      quotas: { made: 3, changed: 2, ended: 3, stay: 1, kept: 1 },
      carried: 0,
      again: 0,
      exhausted: 1,
    }
    expect(endOf(preview)).toEqual(end)
    expect((await call('GET', `${QUOTA}/list?page_size=200`)).body).toEqual(before.body)

    const done = await rollOut(plan, { from_version: 1, reason: 'Spring offer' }, 'real')
    expect(endOf(done)).toEqual(end)
    const audit = (await call('GET', `/api/sms/admin/audit?request_id=${done[0].bulk_id}`)).body.items
    expect(audit).toHaveLength(9)
    expect(new Set(audit.map(({ reason }: { reason: string }) => reason))).toEqual(new Set(['Spring offer']))
    expect(await planOf(own)).toMatchObject({ plan: null })
    // The same call again, and another one: there is nothing left to do.
    const again = await rollOut(plan, { from_version: 1, reason: 'Spring offer' }, 'real')
    expect(endOf(again)).toMatchObject({ users: NONE })
    expect(endOf(await rollOut(plan, { users: users.slice(0, 3) }))).toMatchObject({
      users: { ...NONE, unchanged: 3 },
      quotas: { made: 0, changed: 0, ended: 0, stay: 6, kept: 1 },
    })
  })

  test('to all who have another version, or another plan', async () => {
    const plan = await createPlan(MONTHLY)
    const other = await createPlan(MONTHLY, DAILY)
    const [first, second, third] = [newUsers(3), newUsers(3), newUsers(2)]
    await rollOut(plan, { users: first })
    await change(plan, { ...MONTHLY, limit: 2000 })
    await rollOut(plan, { users: second })
    await rollOut(other, { users: third })
    await change(plan, { ...MONTHLY, limit: 3000 })
    expect(endOf(await rollOut(plan, {}))).toMatchObject({ users: { ...NONE, changed: 6 } })
    expect(endOf(await rollOut(plan, { from_plan: other }))).toMatchObject({
      users: { ...NONE, changed: 2 },
      quotas: { changed: 2, ended: 2 },
    })
    expect((await call('GET', `${PLANS}/${plan}`)).body.users).toEqual([{ version: 3, users: 8 }])
    expect((await call('GET', `${PLANS}/${other}`)).body.users).toEqual([])
  })

  test('walks any number of users, each once', async () => {
    const plan = await createPlan(MONTHLY, DAILY)
    const users = newUsers(1_250)
    expect(endOf(await rollOut(plan, { users }))).toMatchObject({ users: { ...NONE, changed: 1_250 } })
    await change(plan, { ...MONTHLY, limit: 7 }, DAILY)
    expect(endOf(await rollOut(plan, { from_version: 1 }))).toMatchObject({
      users: { ...NONE, changed: 1_250 },
      quotas: { changed: 1_250, stay: 1_250, made: 0, ended: 0 },
    })
    expect((await call('GET', `${PLANS}/${plan}`)).body.users).toEqual([{ version: 2, users: 1_250 }])
  })

  test('leaves out who has got a later version since it began', async () => {
    const plan = await createPlan(MONTHLY)
    const [first = 0, second = 0] = newUsers(2)
    await rollOut(plan, { users: [first, second] })
    const lock = await openTransaction(db, tx => lockAccounts(tx, [first]))
    const begun = rollOut(plan, { users: [first, second] })
    await untilWaiting(db, 1)
    await change(plan, { ...MONTHLY, limit: 2000 })
    await call('PUT', `/api/sms/admin/users/${second}/plan`, { body: { plan_id: plan } })
    await lock.commit()
    expect(endOf(await begun)).toMatchObject({ users: { ...NONE, unchanged: 1, left_out: 1 } })
    expect((await planOf(second)).plan.version).toBe(2)
  })

  test('lists the users who could not get it, and goes on', async () => {
    const plan = await createPlan(MONTHLY)
    const [erased = 0, user = 0] = newUsers(2)
    await rollOut(plan, { users: [erased] })
    await call('DELETE', `/api/sms/admin/users/${erased}/data`)
    const lines = await rollOut(plan, { users: [erased, user] })
    expect(lines[1]).toMatchObject({ record: 'failed', user_id: erased, code: 'being_erased' })
    expect(endOf(lines)).toMatchObject({ users: { ...NONE, changed: 1, failed: 1 } })
  })

  test('gives the version of `If-Match`, or none: what a dry run showed is what is given', async () => {
    const plan = await createPlan(MONTHLY)
    const users = newUsers(1)
    const read = await call('GET', `${PLANS}/${plan}`)
    const headers = { 'idempotency-key': 'matched', 'if-match': String(read.headers.etag) }
    const post = (body: object) => call('POST', `${PLANS}/${plan}/roll-out`, { body, headers })
    expect(await post({ users, dry_run: true })).toMatchObject({ status: 200 })
    await change(plan, { ...MONTHLY, limit: 2000 })
    for (const dry_run of [true, false])
      expect(await post({ users, dry_run })).toMatchObject({
        status: 412,
        headers: { etag: '"2"' },
        body: { code: 'version_mismatch', detail: 'The plan now has version 2.' },
      })
    expect(await planOf(users[0] ?? 0)).toMatchObject({ plan: null })
    headers['if-match'] = '"2"'
    expect(await post({ users })).toMatchObject({ status: 200 })
    expect(await planOf(users[0] ?? 0)).toMatchObject({ plan: { version: 2 } })
  })

  test('is refused without a key, with several selections, for a plan that is archived or gone', async () => {
    const plan = await createPlan(MONTHLY)
    const post = (id: number, body: object, headers = {}) => call('POST', `${PLANS}/${id}/roll-out`, { body, headers })
    const key = { 'idempotency-key': 'refused' }
    expect(await post(plan, {})).toMatchObject({ status: 400 })
    expect(await post(plan, { users: [1], from_version: 1 }, key)).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/users', message: 'cannot be combined with from_version' }] },
    })
    expect(await post(999_999, {}, key)).toMatchObject({ status: 404 })
    const users = newUsers(1)
    await rollOut(plan, { users }, 'versions')
    await change(plan, DAILY)
    expect(await post(plan, { users }, { 'idempotency-key': 'versions' })).toMatchObject({
      status: 409,
      body: { code: 'idempotency_mismatch', errors: [{ path: '/version' }] },
    })
    await call('DELETE', `${PLANS}/${plan}`)
    expect(await post(plan, {}, key)).toMatchObject({ status: 409, body: { code: 'plan_archived' } })
  })
})

test('after all of this, verify finds no difference', async () => {
  expect((await verify(db)).differences).toEqual([])
})
