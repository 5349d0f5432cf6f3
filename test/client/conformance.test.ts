/** The fake server of sms-quota-client/testing answers as the service does: one list of calls, made to both. */
import { afterAll, describe, expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { createFakeServer } from '../../src/fake/main.ts'
import { START, startService } from '../support/service.ts'
import { expectedOf, made, STEPS, type Target } from './conformance-steps.ts'

const service = await startService({ env: { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') } })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const fake = await createFakeServer({ now: new Date(START).toISOString() })
afterAll(async () => {
  await fake.close()
  await service.app.close()
})

const targets: Record<'real' | 'fake', Target> = {
  real: {
    url,
    tokenFor: path => (path.startsWith('/api/sms/admin') ? service.adminToken : service.senderToken),
    advance: ms => {
      service.clock.now += ms
    },
    quotas: [],
  },
  fake: { url: fake.url, tokenFor: () => fake.token, advance: fake.advance, quotas: [] },
}

describe('the service and the fake server answer alike', () => {
  test.each(STEPS.map((step, index) => ({ step, title: `${index + 1}: ${step.call}` })))('$title', async ({ step }) => {
    const real = await made(step, targets.real)
    const answered = await made(step, targets.fake)
    expect(real).toMatchObject(expectedOf(step))
    expect(answered).toEqual(real)
  })
})

describe('the fake server', () => {
  const client = createClient(fake)

  test('says what it does not have, and refuses other tokens', async () => {
    await expect(client.listUsers()).rejects.toThrow('The fake server does not have GET /api/sms/admin/users')
    const stranger = createClient({ url: fake.url, token: 'other' })
    await expect(stranger.check({ userId: 1, units: 1 })).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('can be away, and repeats the answer to a repeated key', async () => {
    fake.isAway = true
    const away = client.reserve({ userId: 1, id: 'm', units: 1 })
    await expect(away).rejects.toMatchObject({ name: 'UnavailableError' })
    fake.isAway = false
    const first = await client.createQuota({ userId: 1, limit: 1 }, { idempotencyKey: 'key' })
    expect(await client.createQuota({ userId: 1, limit: 1 }, { idempotencyKey: 'key' })).toEqual(first)
    const other = client.createQuota({ userId: 1, limit: 2 }, { idempotencyKey: 'key' })
    await expect(other).rejects.toMatchObject({ code: 'idempotency_mismatch' })
    expect(await client.withReservation({ userId: 1, id: 'm', units: 1 }, () => 'sent')).toMatchObject({ sent: true })
  })
})
