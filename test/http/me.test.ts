import { describe, expect, test } from 'vitest'
import { START, startService } from '../support/service.ts'

const service = await startService()
const limited = await startService({ rateLimitPerMinute: 1 })
const ME = '/api/sms/me'
const exp = START / 1_000 + 60

describe('whoever has a good token is told whom it speaks for', () => {
  const cases: [string, Record<string, unknown>, object][] = [
    ['a user', { sub: '7' }, { subject: '7', user_id: 7, roles: [] }],
    ['an administrator', { sub: '1', roles: ['sms-quota:admin'] }, { subject: '1', user_id: 1, roles: ['admin'] }],
    [
      'a machine',
      { sub: 'gateway', roles: ['sms-quota:sender'] },
      { subject: 'gateway', user_id: null, roles: ['sender'] },
    ],
    [
      'one who is everything, and something else besides',
      { sub: '0', roles: 'other sms-quota:sender sms-quota:admin' },
      { subject: '0', user_id: 0, roles: ['admin', 'sender'] },
    ],
    ['one who may do nothing', { sub: 'nobody', roles: ['other'] }, { subject: 'nobody', user_id: null, roles: [] }],
  ]
  test.each(cases)('%s', async (_who, claims, expected) => {
    const token = await service.token({ exp, ...claims })
    const answer = await service.call('GET', ME, { token })
    expect(answer).toMatchObject({ status: 200, body: { ...expected, expires_at: '2026-03-15T12:01:00.000Z' } })
  })

  test('a token that is good for longer than can be told', async () => {
    const token = await service.token({ sub: '7', exp: 1e300 })
    expect((await service.call('GET', ME, { token })).body.expires_at).toBe('9998-12-31T23:59:59.999Z')
  })
})

describe('refused is', () => {
  test('no token, and a bad one', async () => {
    for (const token of [null, 'bad', await service.token({ sub: '7', exp: START / 1_000 - 60 })]) {
      expect(await service.call('GET', ME, { token })).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    }
  })

  test('any parameter', async () => {
    expect(await service.call('GET', `${ME}?user_id=7`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    })
  })

  test('one call too many', async () => {
    expect((await limited.call('GET', ME)).status).toBe(200)
    expect(await limited.call('GET', ME)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  })
})
