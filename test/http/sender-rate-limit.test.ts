import { expect, test } from 'vitest'
import { SENDER, startSender } from './sender-fixture.ts'

test('a sender above its operations per second is refused before its body is read, and another one is served', async () => {
  const { ask, allow, call, token, someone } = await startSender({ env: { SENDER_OPERATIONS_PER_SECOND: '1' } })
  const user = someone()
  await allow({ user_id: user, limit: 1_000 })
  const operations = Array.from({ length: 100 }, (_, n) => ({ op: 'reserve', user_id: user, id: `m-${n}`, units: 1 }))

  // One that is accepted is carried out whole, and pays for all of its operations.
  const batch = await ask('batch', { operations })
  expect([batch.status, new Set(batch.body.results.map((result: { status: number }) => result.status))]).toEqual([
    200,
    new Set([200]),
  ])
  const refused = await ask('reserve', { user_id: user, id: 'm-100', units: 1 })
  expect(refused).toMatchObject({
    status: 429,
    body: { code: 'rate_limited', detail: 'At most 1 operations per second.' },
  })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(30)
  expect((await ask('batch', 'no JSON')).status).toBe(429)
  expect((await ask('check', 'no JSON')).status).toBe(429)

  const other = await token({ sub: 'other', roles: ['sms-quota:sender'] })
  const served = await call('POST', `${SENDER}/check`, { token: other, body: { user_id: user, units: 1 } })
  expect(served).toMatchObject({ status: 200, body: { remaining: 900 } })
})
