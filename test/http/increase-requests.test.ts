import { describe, expect, test } from 'vitest'
import { lockAccounts } from '../../src/db/quotas/quotas.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { createAuditRetention } from '../../src/jobs/audit-retention.ts'
import { openTransaction } from '../support/engine.ts'
import { createQuickEraser } from '../support/erasure.ts'
import { untilWaiting } from '../support/sessions.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender({ env: { SUPPORT_ADJUST_LIMIT: '50', REQUEST_AUTO_APPROVE_PERCENT: '10' } })
const { call, clock, db, engine, allow, someone, userToken } = service
const MINE = '/api/sms/quota/requests'
const REQUESTS = '/api/sms/admin/requests'
const support = await service.token({ sub: 'ann', roles: ['sms-quota:support'] })
const inMs = (ms: number) => new Date(clock.now + ms).toISOString()

/** A request that no percentage covers. */
const LARGE = { units: 60, reason: 'Sale' }

async function askAs(user_id: number, body: object = {}, headers: Record<string, string> = {}) {
  return call('POST', MINE, { token: await userToken(user_id), body: { ...LARGE, ...body }, headers })
}

async function ask(user_id: number, body: object = {}) {
  const answer = await askAs(user_id, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

/** A user with a grant of 100 units a month. */
async function aUser(draft: object = {}): Promise<[user: number, quota: number]> {
  const user_id = someone()
  return [user_id, await allow({ user_id, limit: 100, period: 'month', name: 'Package', ...draft })]
}

const decide = (id: number, decision: 'approve' | 'decline', body: object = {}, token = service.adminToken) =>
  call('POST', `${REQUESTS}/${id}/${decision}`, { body, token })
const withdraw = async (user: number, id: number) => call('DELETE', `${MINE}/${id}`, { token: await userToken(user) })
const quotasOf = async (user_id: number) =>
  (await call('GET', `/api/sms/admin/quota/list?user_id=${user_id}&sort=id`)).body.items
const quotaOf = async (id: number) => (await call('GET', `/api/sms/admin/quota/${id}`)).body
const codeOf = ({ status, body }: Awaited<ReturnType<typeof call>>) => [status, body?.code]
const requestOf = async (id: number) =>
  (await call('GET', `${REQUESTS}?page_size=200`)).body.items.find((one: { id: number }) => one.id === id)

describe('a request', () => {
  test('is made with the token of a user, for the grant that pays first, and listed for its user and administrators', async () => {
    const [user_id, quota_id] = await aUser()
    const until = inMs(HOUR_MS)
    const made = await ask(user_id, { until })
    expect(made).toEqual({
      id: expect.any(Number),
      user_id,
      quota_id,
      ...LARGE,
      until,
      status: 'open',
      created_at: inMs(0),
      decided_at: null,
      decided_by: null,
      note: null,
      granted: null,
    })
    expect((await call('GET', MINE, { token: await userToken(user_id) })).body.items).toEqual([made])
    expect((await call('GET', `${REQUESTS}?user_id=${user_id}`)).body.items).toEqual([made])
    expect((await call('GET', MINE, { token: await userToken(someone()) })).body.items).toEqual([])
  })

  test('is refused without a live grant, for a quota of another user, in the past, and while three are open', async () => {
    const [user, quota] = await aUser()
    const [, foreign] = await aUser()
    const cap = await allow({ user_id: user, kind: 'cap', limit: 5 })
    expect(codeOf(await askAs(someone()))).toEqual([422, 'no_grant'])
    for (const quota_id of [foreign, cap, 64_000_000])
      expect(codeOf(await askAs(user, { quota_id }))).toEqual([422, 'no_grant'])
    for (const body of [{ until: inMs(0) }, { units: 0 }, { reason: '' }, { reason: 'x'.repeat(501) }])
      expect(codeOf(await askAs(user, body))).toEqual([400, 'invalid_request'])
    const made = [await ask(user), await ask(user), await ask(user, { quota_id: quota })]
    expect(codeOf(await askAs(user))).toEqual([422, 'too_many_requests'])
    expect((await withdraw(user, made[0].id)).status).toBe(204)
    await ask(user)
    await call('PUT', `/api/sms/admin/quota/${quota}`, { body: { enabled: false } })
    expect(codeOf(await askAs(user))).toEqual([422, 'no_grant'])
  })

  test('is one of at most ten in 24 hours, however many are taken back', async () => {
    const [user] = await aUser()
    for (let n = 0; n < 10; n++) expect((await withdraw(user, (await ask(user)).id)).status).toBe(204)
    expect(codeOf(await askAs(user))).toEqual([422, 'too_many_requests'])
    clock.now += DAY_MS
    await ask(user)
  })

  test('is one of at most three, also if all are made at once', async () => {
    const [user] = await aUser()
    const answers = await Promise.all([1, 2, 3, 4].map(() => askAs(user)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422])
  })

  test('is taken back by its user only, and only while it is open', async () => {
    const [user] = await aUser()
    const { id } = await ask(user)
    expect((await withdraw(someone(), id)).status).toBe(404)
    expect((await withdraw(user, id)).status).toBe(204)
    const { decided_at } = await requestOf(id)
    clock.now += 1_000
    expect((await withdraw(user, id)).status).toBe(204)
    expect(await requestOf(id)).toMatchObject({ status: 'withdrawn', decided_at, decided_by: String(user) })
    expect(codeOf(await decide(id, 'approve'))).toEqual([409, 'request_closed'])
    const other = await ask(user)
    await decide(other.id, 'decline')
    expect(codeOf(await withdraw(user, other.id))).toEqual([409, 'request_closed'])
  })
})

describe('an approval', () => {
  test('until a time makes an extra grant; its answer is the same when it is repeated', async () => {
    const [user, quota_id] = await aUser({ countries: ['FR'] })
    const until = inMs(HOUR_MS)
    const { id } = await ask(user, { until })
    const approved = await decide(id, 'approve', { units: 30, note: 'For the start.' })
    const extra = (await quotasOf(user))[1]
    expect(approved.body).toMatchObject({
      status: 'approved',
      decided_at: inMs(0),
      decided_by: '1',
      note: 'For the start.',
      units: 60,
      granted: { quota_id: extra.id, units: 30, until },
    })
    expect(extra).toMatchObject({ name: 'Extra units for Package', limit: 30, expires_at: until, countries: ['FR'] })
    expect(extra.metadata).toEqual({ extends_quota: String(quota_id), reason: 'Sale' })
    clock.now += 1_000
    for (const body of [{ units: 30, note: 'For the start.' }, {}])
      expect(await decide(id, 'approve', body)).toMatchObject({ status: 200, body: approved.body })
    expect(codeOf(await decide(id, 'approve', { units: 31 }))).toEqual([409, 'request_closed'])
    expect(codeOf(await decide(id, 'decline'))).toEqual([409, 'request_closed'])
    expect(await quotasOf(user)).toHaveLength(2)
    const own = (await call('GET', MINE, { token: await userToken(user) })).body.items[0]
    expect(own).toEqual({ ...approved.body, decided_by: null })
    expect((await verify(db, { userId: user })).differences).toEqual([])
  })

  test('for good raises the limit of the grant, with the reason in its history', async () => {
    const [user, quota] = await aUser()
    const { id } = await ask(user)
    expect((await decide(id, 'approve')).body.granted).toEqual({ quota_id: quota, units: 60, until: null })
    expect(await quotaOf(quota)).toMatchObject({ limit: 160, version: 2 })
    const { body } = await call('GET', `/api/sms/admin/quota/${quota}/history`)
    expect(body.items[0]).toMatchObject({ action: 'updated', actor: '1', reason: 'Sale' })
    const { id: ending } = await ask(user)
    expect((await decide(ending, 'approve', { until: inMs(HOUR_MS) })).body.granted.until).toBe(inMs(HOUR_MS))
  })

  test('gives the units once, however many administrators approve at once', async () => {
    const [user, quota] = await aUser()
    const { id } = await ask(user)
    const held = await openTransaction(db, tx => lockAccounts(tx, [user]))
    const answers = Promise.all([1, 2, 3].map(() => decide(id, 'approve')))
    await untilWaiting(db, 3)
    await held.commit()
    const bodies = (await answers).map(({ body }) => body)
    expect(new Set(bodies.map(body => JSON.stringify(body))).size).toBe(1)
    expect((await quotaOf(quota)).limit).toBe(160)
  })

  test('is refused, and leaves the request open, if the units cannot be given', async () => {
    const [user, quota] = await aUser()
    const until = inMs(1_000)
    const { id } = await ask(user, { until })
    clock.now += 1_000
    expect(codeOf(await decide(id, 'approve'))).toEqual([400, 'invalid_request'])
    const tooMany = await decide(id, 'approve', { units: 1_000_000_000_000, until: null })
    expect(tooMany).toMatchObject({ status: 400, body: { errors: [{ path: '/units' }] } })
    await call('DELETE', `/api/sms/admin/quota/${quota}`)
    expect(codeOf(await decide(id, 'approve', { until: null }))).toEqual([422, 'no_grant'])
    expect(codeOf(await decide(64_000_000, 'approve'))).toEqual([404, 'not_found'])
    expect((await requestOf(id)).status).toBe('open')
    const declined = await decide(id, 'decline', { note: 'Order a package.' })
    expect(declined.body).toMatchObject({ status: 'declined', note: 'Order a package.', granted: null })
    expect(await decide(id, 'decline')).toMatchObject({ status: 200, body: declined.body })
  })

  test('by support staff gives what they may adjust, and they decline no more than that', async () => {
    const [user, quota] = await aUser()
    const { id } = await ask(user)
    const refused = await decide(id, 'approve', {}, support)
    expect(codeOf(refused)).toEqual([403, 'forbidden'])
    expect(refused.body.detail).toContain('at most 50 units a day; this call asks for 60.')
    expect(codeOf(await decide(id, 'decline', {}, support))).toEqual([403, 'forbidden'])
    expect((await decide(id, 'approve', { units: 50 }, support)).body).toMatchObject({ decided_by: 'ann' })
    expect((await quotaOf(quota)).limit).toBe(150)
    const small = await ask(user, { units: 20 })
    expect((await decide(small.id, 'decline', {}, support)).body.status).toBe('declined')
  })
})

test('support staff ask for a user, and never themselves approve it by a small amount', async () => {
  const [user, quota] = await aUser()
  const body = { user_id: user, units: 10, until: (await quotaOf(quota)).window_end, reason: 'Customer called' }
  const made = await call('POST', '/api/sms/admin/requests', { token: support, body })
  expect(made).toMatchObject({ status: 201, body: { user_id: user, status: 'open', quota_id: quota } })
  expect(await requestOf(made.body.id)).toMatchObject({ reason: 'Customer called' })
})

test('a small request is approved at once, once in each window, and for that window only', async () => {
  const [user, quota] = await aUser()
  const { window_end } = await quotaOf(quota)
  const small = { units: 10, until: window_end }
  expect(await ask(user, { ...small, until: null })).toMatchObject({ status: 'open' })
  const made = await ask(user, small)
  expect(made).toMatchObject({ status: 'approved', decided_by: null, granted: { units: 10, until: window_end } })
  expect(await ask(user, small)).toMatchObject({ status: 'open', granted: null })
  expect(await requestOf(made.id)).toMatchObject({ decided_by: 'sms-quota' })
  expect((await quotasOf(user))[1]).toMatchObject({ id: made.granted.quota_id, created_by: 'sms-quota', limit: 10 })
  // Its row is what knows of the window, so it outlasts a shorter retention.
  const retention = createAuditRetention({ db, now: () => clock.now, retentionMs: 0 })
  await retention.removeOnce(clock.now)
  const { id, status } = await ask(user, small)
  expect(status).toBe('open')
  await withdraw(user, id)
  clock.now = Date.parse(window_end)
  await retention.removeOnce(clock.now)
  expect(await ask(user, { ...small, until: inMs(DAY_MS) })).toMatchObject({ status: 'approved' })
})

test('the audit and the feed tell who made and decided a request', async () => {
  const [user] = await aUser()
  const made = await ask(user)
  const approved = (await decide(made.id, 'approve')).body
  const taken = await ask(user)
  await withdraw(user, taken.id)
  const { body } = await call('GET', `/api/sms/admin/audit?resource=increase_request&thing_id=${made.id}`)
  const entry = { resource: 'increase_request', thing_id: made.id, user_id: user }
  expect(body.items).toMatchObject([
    { ...entry, version: 2, action: 'approved', actor: '1', before: made, after: approved },
    { ...entry, version: 1, action: 'created', actor: String(user), before: null, after: made },
  ])
  const ofUser = (await call('GET', `/api/sms/admin/audit?user_id=${user}`)).body.items
  expect(ofUser.map(({ action }: { action: string }) => action).sort()).toEqual(
    ['approved', 'created', 'created', 'created', 'updated', 'withdrawn'].sort(),
  )
  const events = (await call('GET', `/api/sms/admin/events?user_id=${user}&last=200`)).body.items
  expect(
    events
      .filter(({ type }: { type: string }) => type.startsWith('request.'))
      .map(({ type, data }: { type: string; data: { request: object } }) => [type, data.request]),
  ).toEqual([
    ['request.made', made],
    ['request.decided', approved],
    ['request.made', taken],
    ['request.decided', { ...taken, status: 'withdrawn', decided_at: inMs(0), decided_by: String(user) }],
  ])
})

test('decided requests go with the retention of the audit, open ones stay', async () => {
  const [user] = await aUser()
  const [decided, open] = [await ask(user), await ask(user)]
  await decide(decided.id, 'decline')
  const at = clock.now
  const retention = createAuditRetention({ db, now: () => clock.now, retentionMs: DAY_MS })
  const left = async () =>
    (await call('GET', `${REQUESTS}?user_id=${user}`)).body.items.map(({ id }: { id: number }) => id)
  await retention.removeOnce(at + DAY_MS - 1)
  expect(await left()).toEqual([open.id, decided.id])
  await retention.removeOnce(at + DAY_MS)
  expect(await left()).toEqual([open.id])
})

test('requests are exported and erased with their user, who asks nothing meanwhile', async () => {
  const [user] = await aUser()
  const made = await ask(user)
  const { body } = await call('GET', `/api/sms/admin/users/${user}/data`)
  const lines = String(body)
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(lines.filter(({ record }) => record === 'increase_request')).toEqual([{ record: 'increase_request', ...made }])
  await call('DELETE', `/api/sms/admin/users/${user}/data`)
  expect(codeOf(await askAs(user))).toEqual([409, 'being_erased'])
  expect(codeOf(await decide(made.id, 'approve'))).toEqual([409, 'being_erased'])
  expect(codeOf(await withdraw(user, made.id))).toEqual([409, 'being_erased'])
  await createQuickEraser({ db, engine, now: () => clock.now, watched: async () => [] }).eraseOnce()
  expect(codeOf(await decide(made.id, 'decline'))).toEqual([404, 'not_found'])
  expect(codeOf(await askAs(user))).toEqual([422, 'no_grant'])
})
