/** What the roles of auditors, support and forcing senders may do within a route. */
import { describe, expect, test } from 'vitest'
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
    const detail = `The support role may adjust a quota by at most 50 units per call; this call asks for ${delta}.`
    expect(await adjust(id, delta, support)).toMatchObject({ status: 403, body: { code: 'forbidden', detail } })
    expect((await call('GET', `/api/sms/admin/quota/${id}`, { token: support })).body.limit).toBe(100)
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
      detail: 'The support role may adjust a quota by no units per call; this call asks for 1.',
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
