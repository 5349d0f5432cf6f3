import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { lockAccounts } from '../../src/db/quotas/quotas.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { untilWaiting } from '../support/sessions.ts'
import { PLANS, startPlans } from './plans-fixture.ts'

const { call, clock, db, senderToken, userToken, newUser, planOf, createPlan, change, give } = await startPlans()
const QUOTA = '/api/sms/admin/quota'

const MONTHLY = { slot: 'monthly', limit: 1000, period: 'month' }
const DAILY = { slot: 'daily', kind: 'cap', limit: 200, period: 'day' }
const TRIAL = { slot: 'trial', limit: 50, lasts_days: 30 }

interface Shown {
  id: number
  status: string
  version: number
  plan: { slot: string } | null
  [field: string]: unknown
}
async function quotasOf(user: number): Promise<Shown[]> {
  return (await call('GET', `${QUOTA}/list?user_id=${user}&page_size=200&sort=id`)).body.items
}
async function consume(user: number, units: number) {
  const body = { user_id: user, id: `m-${user}-${clock.now}-${units}`, units }
  return (await call('POST', '/api/sms/sender/quota/consume', { token: senderToken, body })).body
}

describe('a user', () => {
  test('gets the quotas of a plan, which show it, to the user as well', async () => {
    const plan = await createPlan(MONTHLY, DAILY, TRIAL)
    const user = newUser()
    const given = await give(user, plan)
    expect(given).toEqual({
      user_id: user,
      plan: { id: plan, name: 'Basic', version: 1 },
      slots: [MONTHLY, DAILY, TRIAL].map(({ slot }) => ({
        slot,
        quota_id: expect.any(Number),
        outcome: 'made',
        kept: [],
        carried: 0,
      })),
      ended: [],
    })
    const quotas = await quotasOf(user)
    expect(quotas).toMatchObject([
      { plan: { id: plan, name: 'Basic', version: 1, slot: 'monthly' }, limit: 1000, version: 1, created_by: '1' },
      { plan: { slot: 'daily' }, kind: 'cap' },
      { plan: { slot: 'trial' }, expires_at: new Date(clock.now + 30 * DAY_MS).toISOString() },
    ])
    const theirs = await call('GET', '/api/sms/quota/list?sort=id', { token: await userToken(user) })
    expect(theirs.body.items.map(({ plan: shown }: Shown) => shown)).toEqual(quotas.map(({ plan: shown }) => shown))
    const read = await call('GET', planOf(user))
    expect(read.body).toEqual({ ...given, slots: given.slots.map((slot: object) => ({ ...slot, outcome: 'stays' })) })
    expect((await call('GET', `${PLANS}/${plan}`)).body.users).toEqual([{ version: 1, users: 1 }])
    expect(await consume(user, 150)).toMatchObject({ granted: true })
    expect(await consume(user, 60)).toMatchObject({ granted: false, reason: 'cap_reached' })
  })

  test('who gets it again, in a row or at once, has it once', async () => {
    const plan = await createPlan(MONTHLY, DAILY)
    const user = newUser()
    await Promise.all(Array.from({ length: 8 }, () => give(user, plan)))
    const before = await quotasOf(user)
    expect(before).toHaveLength(2)
    const again = await give(user, plan)
    expect(again.slots).toMatchObject([{ outcome: 'stays' }, { outcome: 'stays' }])
    expect(await quotasOf(user)).toEqual(before)
    expect(before.map(({ version }) => version)).toEqual([1, 1])
  })

  test('gets a new version only when it is given: in place, with the counters', async () => {
    const plan = await createPlan(MONTHLY, DAILY)
    const user = newUser()
    await give(user, plan)
    await consume(user, 150)
    await change(plan, { ...MONTHLY, limit: 100 }, TRIAL)
    const [before, cap] = await quotasOf(user)
    expect(before).toMatchObject({ limit: 1000, plan: { version: 1 } })
    const given = await give(user, plan)
    expect(given).toMatchObject({
      plan: { version: 2 },
      slots: [
        { slot: 'monthly', quota_id: before?.id, outcome: 'changed' },
        { slot: 'trial', outcome: 'made' },
      ],
      ended: [cap?.id],
    })
    const [monthly, ended, trial] = await quotasOf(user)
    expect(monthly).toMatchObject({ limit: 100, used: 150, status: 'exhausted', plan: { version: 2 }, version: 2 })
    expect(ended).toMatchObject({ id: cap?.id, expires_at: new Date(clock.now + 1).toISOString(), plan: null })
    expect(trial).toMatchObject({ plan: { slot: 'trial', version: 2 } })
    expect((await call('GET', `${PLANS}/${plan}`)).body.users).toEqual([{ version: 2, users: 1 }])
    clock.now += 1_000
    expect(await consume(user, 50)).toMatchObject({ granted: true })
  })

  test('who got a later version while a call waited keeps it, and the call gives that', async () => {
    const [plan, user] = [await createPlan(MONTHLY), newUser()]
    await give(user, plan)
    const waiting = await db.transaction(async tx => {
      await lockAccounts(tx, [user])
      const waiting = give(user, plan, { reset: true })
      await untilWaiting(db, 1)
      await change(plan, { ...MONTHLY, limit: 2000 })
      await tx.query({ text: sql`update account set plan_version = 2 where user_id = $1`, values: [user] })
      return { answer: waiting }
    })
    expect((await waiting.answer).plan.version).toBe(2)
    expect(await quotasOf(user)).toMatchObject([{ limit: 2000, plan: { version: 2 } }])
  })

  test('whose quota differs in what cannot change gets another one', async () => {
    const plan = await createPlan(MONTHLY)
    const user = newUser()
    const first = (await give(user, plan)).slots[0].quota_id
    clock.now += 1_000
    await change(plan, { ...MONTHLY, period: 'week' })
    const given = await give(user, plan)
    expect(given).toMatchObject({ slots: [{ slot: 'monthly', outcome: 'replaced' }], ended: [first] })
    expect(await quotasOf(user)).toMatchObject([
      { id: first, status: 'expired', plan: null },
      { id: given.slots[0].quota_id, status: 'active', period: 'week' },
    ])
  })

  test('keeps what was changed by hand, until it is given up', async () => {
    const plan = await createPlan(MONTHLY)
    const user = newUser()
    const [{ quota_id: id }] = (await give(user, plan)).slots
    await call('POST', `${QUOTA}/${id}/adjust`, { body: { delta: 500, reason: 'Goodwill' } })
    await call('PUT', `${QUOTA}/${id}`, { body: { name: 'Anna' } })
    await change(plan, { ...MONTHLY, limit: 2000, name: 'Monthly', priority: 7 })
    const given = await give(user, plan)
    expect(given.slots).toMatchObject([{ slot: 'monthly', quota_id: id, outcome: 'changed', kept: ['name', 'limit'] }])
    expect((await quotasOf(user))[0]).toMatchObject({ limit: 1500, name: 'Anna', priority: 7, plan: { version: 2 } })
    expect((await call('GET', planOf(user))).body.slots).toMatchObject([{ kept: ['name', 'limit'] }])
    expect((await give(user, plan, { reset: true })).slots).toMatchObject([{ outcome: 'changed', kept: [] }])
    expect((await quotasOf(user))[0]).toMatchObject({ limit: 2000, name: 'Monthly' })
  })

  test('gets another plan instead, and quotas of the user’s own stay', async () => {
    const [first, second] = [await createPlan(MONTHLY, DAILY), await createPlan({ ...MONTHLY, limit: 5000 }, TRIAL)]
    const user = newUser()
    const own = (await call('POST', QUOTA, { body: { user_id: user, limit: 7, external_ref: 'K-1' } })).body
    await give(user, first)
    clock.now += 1_000
    const given = await give(user, second)
    expect(given).toMatchObject({ plan: { id: second }, slots: [{ outcome: 'changed' }, { outcome: 'made' }] })
    expect(given.ended).toHaveLength(1)
    expect((await quotasOf(user))[0]).toEqual(own)
    expect((await call('DELETE', planOf(user))).status).toBe(204)
    expect((await call('DELETE', planOf(user))).status).toBe(204)
    const left = await quotasOf(user)
    expect(left[0]).toEqual(own)
    expect(left.slice(1).map(({ plan }) => plan)).toEqual([null, null, null])
    clock.now += 1_000
    expect((await quotasOf(user)).slice(1).map(({ status }) => status)).toEqual(['expired', 'expired', 'expired'])
    expect((await call('GET', planOf(user))).body).toEqual({ user_id: user, plan: null, slots: [], ended: [] })
  })

  test('has the changes in history and audit, and events of each', async () => {
    const plan = await createPlan(MONTHLY)
    const user = newUser()
    const headers = { 'x-request-id': `give-${user}` }
    await call('PUT', planOf(user), { body: { plan_id: plan }, headers })
    await change(plan, { ...MONTHLY, limit: 2000 })
    await give(user, plan)
    await call('DELETE', planOf(user))
    const [quota] = await quotasOf(user)
    const { items } = (await call('GET', `${QUOTA}/${quota?.id}/history`)).body
    expect(items).toMatchObject([
      { action: 'updated', before: { plan: { version: 2 } }, after: { plan: null } },
      { action: 'updated', before: { plan: { version: 1 } }, after: { limit: 2000, plan: { version: 2 } } },
      { action: 'created', request_id: `give-${user}`, after: { plan: { slot: 'monthly' } } },
    ])
    const audit = (await call('GET', `/api/sms/admin/audit?request_id=give-${user}`)).body.items
    expect(audit).toMatchObject([{ resource: 'quota', user_id: user, action: 'created' }])
    const events = await db.query<{ type: string }>({
      text: sql`select type from event where user_id = $1 order by sequence`,
      values: [user],
    })
    expect(events.map(({ type }) => type)).toEqual(['quota.created', 'quota.updated', 'quota.updated'])
  })

  test('without an account has no plan, and none is made to take it away', async () => {
    const user = newUser()
    expect((await call('GET', planOf(user))).body).toMatchObject({ plan: null, slots: [] })
    expect((await call('DELETE', planOf(user))).status).toBe(204)
    expect((await call('GET', `/api/sms/admin/users/${user}`)).status).toBe(404)
  })

  test('is refused as a whole what the bound of quotas does not leave room for', async () => {
    const plan = await createPlan(MONTHLY, DAILY)
    const user = newUser()
    const rows = Array.from({ length: 199 }, (_, n) =>
      JSON.stringify({ user_id: user, limit: 1, external_ref: `r${n}` }),
    )
    const type = { 'content-type': 'application/x-ndjson' }
    await call('POST', `${QUOTA}/import`, { body: rows.join('\n'), headers: type })
    const answer = await call('PUT', planOf(user), { body: { plan_id: plan } })
    expect(answer).toMatchObject({ status: 422, body: { code: 'too_many_quotas' } })
    expect((await quotasOf(user)).filter(({ plan: of }) => of !== null)).toEqual([])
    expect((await call('GET', planOf(user))).body.plan).toBeNull()
  })

  test('is not given what is archived, unknown, or to a user who is being erased', async () => {
    const plan = await createPlan(MONTHLY)
    const [user, erased] = [newUser(), newUser()]
    await give(user, plan)
    await give(erased, plan)
    await call('DELETE', `/api/sms/admin/users/${erased}/data`)
    const refused = (who: number, plan_id: number) => call('PUT', planOf(who), { body: { plan_id } })
    expect(await refused(erased, plan)).toMatchObject({ status: 409, body: { code: 'being_erased' } })
    await call('DELETE', `${PLANS}/${plan}`)
    expect(await refused(user, plan)).toMatchObject({ status: 409, body: { code: 'plan_archived' } })
    expect(await refused(user, 999_999)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    // Those who have an archived plan keep it.
    expect((await call('GET', planOf(user))).body).toMatchObject({ plan: { id: plan }, slots: [{ slot: 'monthly' }] })
  })

  test('sends while versions are given and taken away: no unit is lost', async () => {
    const plan = await createPlan(MONTHLY, DAILY)
    const user = newUser()
    await give(user, plan)
    await change(plan, { ...MONTHLY, limit: 900 }, TRIAL)
    const sends = Array.from({ length: 30 }, async (_, n) => {
      const body = { user_id: user, id: `s${n}`, units: 1 }
      return (await call('POST', '/api/sms/sender/quota/consume', { token: senderToken, body })).body
    })
    const [results] = await Promise.all([
      Promise.all(sends),
      give(user, plan).then(() => give(user, plan, { reset: true })),
    ])
    expect(results.every(({ granted }) => granted)).toBe(true)
    const used = (await quotasOf(user)).filter(({ kind }) => kind === 'grant').map(quota => Number(quota.used))
    expect(used.reduce((sum, units) => sum + units, 0)).toBe(30)
  })
})

test('after all of this, verify finds no difference', async () => {
  expect((await verify(db)).differences).toEqual([])
})

test('verify finds what is not as the plan says', async () => {
  const plan = await createPlan(MONTHLY)
  const user = newUser()
  const [{ quota_id: id }] = (await give(user, plan)).slots
  await db.query({ text: sql`update quota set priority = 7 where id = $1`, values: [id] })
  const { differences, proofs } = await verify(db, { userId: user })
  expect(proofs.get('plans')).toEqual({ checked: 1, notProvable: 0 })
  expect(differences).toMatchObject([
    { proof: 'plans', user_id: user, quota_id: id, message: expect.stringContaining('priority') },
  ])
})

test('lists select the quotas of a plan, and of a version; so do users', async () => {
  const plan = await createPlan(MONTHLY, DAILY)
  const [first, second] = [newUser(), newUser()]
  await give(first, plan)
  await change(plan, { ...MONTHLY, limit: 5 }, DAILY)
  await give(second, plan)
  await call('POST', QUOTA, { body: { user_id: first, limit: 1 } })
  const usersOf = async (query: string) =>
    (await call('GET', `${QUOTA}/list?sort=id&${query}`)).body.items.map((quota: { user_id: number }) => quota.user_id)
  expect(await usersOf(`plan_id=${plan}`)).toEqual([first, first, second, second])
  expect(await usersOf(`plan_id=${plan}&plan_version=1`)).toEqual([first, first])
  expect(await usersOf(`plan_id=${plan}&kind=cap&plan_version=2`)).toEqual([second])
  expect(await usersOf('plan_id=999999')).toEqual([])
  const theirs = await call('GET', `/api/sms/quota/list?plan_id=${plan}`, { token: await userToken(first) })
  expect(theirs.body.items).toHaveLength(2)
})
