import { expect, test } from 'vitest'
import { startService } from '../support/service.ts'

const { call, userToken, adminToken } = await startService({ rateLimitPerMinute: 3 })

test.each([
  ['user', '/api/sms/quota/list', await userToken(7)],
  ['user', '/api/sms/quota/summary', await userToken(8)],
  ['admin', '/api/sms/admin/quota/list', adminToken],
])('%s path %s: too many calls of one principal are 429, without effect on others', async (_who, url, token) => {
  for (let n = 0; n < 3; n++) expect((await call('GET', url, { token })).status).toBe(200)
  const refused = await call('GET', url, { token })
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await call('GET', '/api/sms/quota/list', { token: await userToken(99) })).status).not.toBe(429)
})

test.each([
  ['GET', '/api/sms/admin/quota/summary?user_id=1', undefined],
  ['GET', '/api/sms/admin/quota/64', undefined],
  ['POST', '/api/sms/admin/quota', { user_id: 1, limit: 1 }],
  ['PUT', '/api/sms/admin/quota/64', {}],
  ['DELETE', '/api/sms/admin/quota/64', undefined],
])('%s %s counts against the limit', async (method, url, body) => {
  expect((await call(method, url, { body })).status).toBe(429)
})
