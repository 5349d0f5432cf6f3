/** What the roles of auditors, support and forcing senders may do within a route. */
import { describe, expect, test } from 'vitest'
import { readDocument } from '../support/fuzz/document.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender({ env: { SUPPORT_ADJUST_LIMIT: '50' } })
const { call, allow, someone, ask, counters } = service
const tokenOf = (...roles: string[]) => service.token({ sub: 'ann', roles: roles.map(role => `sms-quota:${role}`) })
const [auditor, support, both, sender] = await Promise.all([
  tokenOf('auditor'),
  tokenOf('support'),
  tokenOf('support', 'admin'),
  tokenOf('sender'),
])

describe('support', () => {
  const adjust = (id: number, delta: number, token: string, of = service) =>
    of.call('POST', `/api/sms/admin/quota/${id}/adjust`, { token, body: { delta, reason: 'Goodwill' } })

  test.each([50, -50, 1])('adjusts by %d', async delta => {
    const id = await allow({ user_id: someone(), limit: 100 })
    expect(await adjust(id, delta, support)).toMatchObject({ status: 200, body: { limit: 100 + delta } })
    const { body } = await call('GET', `/api/sms/admin/quota/${id}/history`, { token: auditor })
    expect(body.items[0]).toMatchObject({ actor: 'ann', reason: 'Goodwill' })
  })

  test.each([51, -51, 1_000_000])('does not adjust by %d', async delta => {
    const id = await allow({ user_id: someone(), limit: 100 })
    const asked = Math.abs(delta)
    const detail = `The support role may move the limits of a user by at most 50 units a day; this call asks for ${asked}.`
    expect(await adjust(id, delta, support)).toMatchObject({ status: 403, body: { code: 'forbidden', detail } })
    expect((await call('GET', `/api/sms/admin/quota/${id}`, { token: support })).body.limit).toBe(100)
  })

  test('gives and takes no more of a user in 24 hours, by all calls, quotas and colleagues together', async () => {
    const user = someone()
    const [one, other] = [
      await allow({ user_id: user, limit: 100, period: 'month' }),
      await allow({ user_id: user, limit: 100 }),
    ]
    const bob = await service.token({ sub: 'bob', roles: ['sms-quota:support'] })
    const give = (id: number, delta: number, more = {}) =>
      call('POST', `/api/sms/admin/quota/${id}/adjust`, { token: bob, body: { delta, reason: 'Goodwill', ...more } })
    expect((await adjust(one, 20, support)).status).toBe(200)
    expect((await adjust(other, -10, support)).status).toBe(200)
    expect((await give(one, 21)).body.detail).toBe(
      'The support role may move the limits of a user by at most 50 units a day; 30 were moved in the last 24 hours, and this call asks for 21.',
    )
    const extra = await give(one, 15, { until: 'window_end', name: 'Plus' })
    expect(extra).toMatchObject({ status: 200, body: { limit: 15, metadata: { extends_quota: String(one) } } })
    expect((await give(one, 6)).status).toBe(403)
    // Administrators have no bound, and what they give is not counted.
    expect((await adjust(one, 1_000, both)).status).toBe(200)
    expect((await give(one, 5)).status).toBe(200)
    service.clock.now += 24 * 3_600_000
    expect((await give(one, 50)).status).toBe(200)
  })

  test('gets the answer of its change again, not that the bound is reached', async () => {
    const id = await allow({ user_id: someone(), limit: 100 })
    const give = () =>
      call('POST', `/api/sms/admin/quota/${id}/adjust`, {
        token: support,
        body: { delta: 50, reason: 'Goodwill' },
        headers: { 'idempotency-key': `support-${id}` },
      })
    const answers = await Promise.all([give(), give(), give()])
    expect(answers.map(({ status, body }) => [status, body.limit])).toEqual(Array(3).fill([200, 150]))
  })

  test.each<[string, object, object, string]>([
    ['a grant without a period', { limit: 100 }, { delta: 1 }, '/until'],
    ['a cap', { kind: 'cap', limit: 100, period: 'day' }, { delta: 1 }, '/until'],
    ['units that are taken', { limit: 100, period: 'month' }, { delta: -1 }, '/delta'],
  ])('gives nothing for the window of %s', async (_, quota, body, path) => {
    const id = await allow({ user_id: someone(), ...quota })
    const answer = await call('POST', `/api/sms/admin/quota/${id}/adjust`, {
      token: support,
      body: { ...body, reason: 'Goodwill', until: 'window_end' },
    })
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  test('with the role of administrators, too, has no bound', async () => {
    const id = await allow({ user_id: someone(), limit: 100 })
    expect((await adjust(id, 1_000_000, both)).status).toBe(200)
  })

  test('adjusts nothing if the bound is 0', async () => {
    const strict = await startSender({ env: { SUPPORT_ADJUST_LIMIT: '0' } })
    const id = await strict.allow({ user_id: 7, limit: 100 })
    const { status, body } = await adjust(id, 1, support, strict)
    expect({ status, detail: body.detail }).toEqual({
      status: 403,
      detail: 'The support role may move the limits of a user by no units; this call asks for 1.',
    })
  })
})

describe('the check of people who help users', () => {
  const CHECK = '/api/sms/admin/quota/check'

  test('answers as the check of senders, with its explanation, and takes nothing', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 10 })
    for (const units of [3, 30]) {
      const message = { user_id: user, units, country: 'DE', message_type: 'otp' }
      const expected = await ask('check', { ...message, explain: true })
      expect(expected.body.explain).toHaveLength(1)
      for (const token of [auditor, support, service.adminToken]) {
        expect(await call('POST', CHECK, { token, body: message })).toMatchObject({ status: 200, body: expected.body })
      }
      const { body } = await call('POST', CHECK, { body: { ...message, explain: false } })
      expect(body).not.toHaveProperty('explain')
    }
    expect(await counters(id)).toEqual([0, 0])
  })

  test('refuses what the check of senders refuses', async () => {
    const answer = await call('POST', CHECK, { token: auditor, body: { user_id: 7, id: 'm', units: 1 } })
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: '/id' }] } })
    expect((await call('POST', CHECK, { token: auditor, body: { user_id: 7 } })).status).toBe(400)
  })
})

describe('force', () => {
  const detail = 'Booking units past any limit (force) needs a token with the role "sms-quota:force".'

  test.each([
    ['consume', { id: 'sent', units: 5 }],
    ['commit', { id: 'sent' }],
  ])('%s without its role is refused, and takes nothing', async (op, body) => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 1 })
    const url = `/api/sms/sender/quota/${op}`
    const refused = await call('POST', url, { token: sender, body: { user_id: user, ...body, force: true } })
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden', detail } })
    expect(await counters(id)).toEqual([0, 0])
    const unforced = await call('POST', url, { token: sender, body: { user_id: user, ...body, force: false } })
    expect([200, 404]).toContain(unforced.status)
  })

  test('in a batch, only the operations with force are refused', async () => {
    const user = someone()
    const id = await allow({ user_id: user, limit: 3 })
    const operations = [
      { op: 'consume', user_id: user, id: 'a', units: 1 },
      { op: 'consume', user_id: user, id: 'b', units: 9, force: true },
      { op: 'commit', user_id: user, id: 'a', force: true },
      { op: 'consume', user_id: user, id: 'c', units: 1 },
    ]
    const url = '/api/sms/sender/quota/batch'
    const { status, body } = await call('POST', url, { token: sender, body: { operations } })
    expect(status).toBe(200)
    expect(body.results.map((result: { status: number }) => result.status)).toEqual([200, 403, 403, 200])
    expect(body.results[1].body).toMatchObject({ code: 'forbidden', detail })
    expect(await counters(id)).toEqual([2, 0])
    const forced = await call('POST', url, { token: service.senderToken, body: { operations } })
    expect(forced.body.results.map((result: { status: number }) => result.status)).toEqual([200, 200, 200, 200])
  })
})

describe('a sender bounded to users', async () => {
  const bounded = await startSender({ env: { AUTH_SENDER_USERS_CLAIM: 'sms.users' } })
  const draw = { id: 'm', units: 1 }
  const BODIES: Record<string, object> = {
    check: { units: 1 },
    reserve: draw,
    consume: { ...draw, id: 'n' },
    commit: { id: 'm' },
    release: { id: 'm' },
    refund: { id: 'm' },
    feedback: { id: 'm', verified: true },
  }
  const tokenFor = (users: unknown) => bounded.token({ sub: 'gateway', roles: ['sms-quota:sender'], sms: { users } })
  const isRefused = async (token: string, user: number, op = 'check') => {
    const { status, body } = await bounded.call('POST', `/api/sms/sender/quota/${op}`, {
      token,
      body: { user_id: user, ...BODIES[op] },
    })
    if (status !== 403) return false
    const detail = `The token does not allow user ${user}: its claim "sms.users" does not list them.`
    expect(body).toMatchObject({ code: 'forbidden', detail })
    return true
  }

  test('the operations are all that the document has', () => {
    const { operations } = readDocument(bounded.app.swagger())
    const paths = operations.flatMap(({ template }) => /^\/api\/sms\/sender\/quota\/(.+)$/.exec(template)?.[1] ?? [])
    const others = ['batch', 'reservations', 'reservations/{user_id}/{id}']
    expect(new Set(paths)).toEqual(new Set([...Object.keys(BODIES), ...others]))
  })

  test('reads no note that an administrator wrote to a pause, alone and in a batch; other senders do', async () => {
    await bounded.allow({ user_id: 7, limit: 10 })
    const pause = { user_id: null, country: 'FR', until: null, reason: 'Ann of the reseller pumps' }
    expect((await bounded.call('POST', '/api/sms/admin/pauses', { body: pause })).status).toBe(201)
    const message = { user_id: 7, units: 1, country: 'FR' }
    const notes = async (token: string) => {
      const sender = '/api/sms/sender/quota'
      const alone = await bounded.call('POST', `${sender}/check`, { token, body: message })
      const operations = [{ op: 'consume', id: 'fr', ...message }]
      const batch = await bounded.call('POST', `${sender}/batch`, { token, body: { operations } })
      return [alone.body, batch.body.results[0].body].map(({ pause }) => pause.reason)
    }
    expect(await notes(await tokenFor([7]))).toEqual([null, null])
    expect(await notes(await tokenFor('*'))).toEqual([pause.reason, pause.reason])
  })

  test.each(Object.keys(BODIES))('%s names only listed users', async op => {
    const token = await tokenFor([7, '8'])
    expect([await isRefused(token, 7, op), await isRefused(token, 8, op), await isRefused(token, 9, op)]).toEqual([
      false,
      false,
      true,
    ])
  })

  test('reads reservations only of listed users', async () => {
    const token = await tokenFor([7])
    const read = async (user: number) =>
      (await bounded.call('GET', `/api/sms/sender/quota/reservations/${user}/none`, { token })).status
    expect([await read(7), await read(9)]).toEqual([404, 403])
  })

  test('lists reservations only of listed users', async () => {
    for (const user_id of [7, 9]) {
      await bounded.allow({ user_id, limit: 10 })
      const body = { user_id, id: 'listed', units: 1 }
      await bounded.call('POST', '/api/sms/sender/quota/reserve', { token: await tokenFor('*'), body })
    }
    const list = async (users: unknown, query = '') => {
      const token = await tokenFor(users)
      const { status, body } = await bounded.call('GET', `/api/sms/sender/quota/reservations${query}`, { token })
      return status === 200 ? body.items.map(({ user_id }: { user_id: number }) => user_id).toSorted() : status
    }
    expect([await list('*'), await list([7]), await list([7, 8]), await list([])]).toEqual([[7, 9], [7], [7], []])
    expect([await list([7], '?user_id=7'), await list([7], '?user_id=9')]).toEqual([[7], 403])
  })

  test('in a batch, only the operations for other users are refused', async () => {
    const operations = [7, 9, 8].map(user => ({ op: 'check', user_id: user, units: 1 }))
    const token = await tokenFor([7, 8])
    const { body } = await bounded.call('POST', '/api/sms/sender/quota/batch', { token, body: { operations } })
    expect(body.results.map((result: { status: number }) => result.status)).toEqual([200, 403, 200])
  })

  test.each<[string, unknown, boolean]>([
    ['a star', '*', false],
    ['a list with a star', ['*'], false],
    ['one id', 7, false],
    ['ids in a text', '6 7', false],
    ['no claim', undefined, true],
    ['null', null, true],
    ['an empty list', [], true],
    ['other ids', [70, '77'], true],
    ['what is no id', ['07', 7.5, '7 ', true, [7]], true],
    ['an object', { 7: true }, true],
  ])('%s', async (_, users, expected) => {
    expect(await isRefused(await tokenFor(users), 7)).toBe(expected)
  })

  test('without the setting, the claim bounds nothing', async () => {
    const token = await service.token({ sub: 'gateway', roles: ['sms-quota:sender'], sms: { users: [] } })
    const body = { user_id: 7, units: 1 }
    expect((await call('POST', '/api/sms/sender/quota/check', { token, body })).status).toBe(200)
  })
})
