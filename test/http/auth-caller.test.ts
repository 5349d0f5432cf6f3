import { describe, expect, test } from 'vitest'
import { START, startService } from '../support/service.ts'

const service = await startService()
const limited = await startService({ rateLimitPerMinute: 1 })
const ME = '/api/sms/me'
const exp = START / 1_000 + 60

describe('a valid token gets its own identity and roles', () => {
  const cases: [string, Record<string, unknown>, object][] = [
    ['a user', { sub: '7' }, { subject: '7', name: null, user_id: 7, roles: [], adjust_limit: 0 }],
    [
      'an administrator',
      { sub: '1', name: 'Ann Lee', roles: ['sms-quota:admin'] },
      { subject: '1', name: 'Ann Lee', user_id: 1, roles: ['admin'], adjust_limit: null },
    ],
    ['a name that cannot be shown', { sub: '7', name: 'a\nb' }, { subject: '7', name: null }],
    ['a name with unseen marks', { sub: '7', name: '\u202eeeL\u200b nnA\u200f' }, { subject: '7', name: 'eeL nnA' }],
    [
      'a machine',
      { sub: 'gateway', roles: ['sms-quota:sender'] },
      { subject: 'gateway', user_id: null, roles: ['sender'] },
    ],
    [
      'a token with all roles and an unknown one',
      { sub: '0', roles: 'other sms-quota:sender sms-quota:admin' },
      { subject: '0', user_id: 0, roles: ['admin', 'sender'] },
    ],
    [
      'a token with the further roles',
      { sub: '5', roles: ['sms-quota:force', 'sms-quota:support', 'sms-quota:auditor'] },
      { subject: '5', user_id: 5, roles: ['auditor', 'support', 'force'], adjust_limit: 1_000 },
    ],
    ['a token without a known role', { sub: 'ada', roles: ['other'] }, { subject: 'ada', user_id: null, roles: [] }],
  ]
  test.each(cases)('%s', async (_who, claims, expected) => {
    const token = await service.token({ exp, ...claims })
    const answer = await service.call('GET', ME, { token })
    expect(answer).toMatchObject({ status: 200, body: { ...expected, expires_at: '2026-03-15T12:01:00.000Z' } })
  })

  test('an expiry past the last timestamp is shown as that timestamp', async () => {
    const token = await service.token({ sub: '7', exp: 1e300 })
    expect((await service.call('GET', ME, { token })).body.expires_at).toBe('9999-12-31T23:59:59.999Z')
  })
})

describe('refused are', () => {
  test('missing and invalid tokens', async () => {
    for (const token of [null, 'bad', await service.token({ sub: '7', exp: START / 1_000 - 60 })]) {
      expect(await service.call('GET', ME, { token })).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    }
  })

  test('unknown parameters', async () => {
    expect(await service.call('GET', `${ME}?user_id=7`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    })
  })

  test('calls above the rate limit', async () => {
    expect((await limited.call('GET', ME)).status).toBe(200)
    expect(await limited.call('GET', ME)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  })
})
