/** The fake server of sms-quota-client/testing answers as the service does: one list of calls, made to both. */
import { afterAll, describe, expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { createFakeServer } from '../../src/fake/main.ts'
import { START, startService } from '../support/service.ts'
import { expectedOf, made, STEPS, type Step, type Target } from './conformance-steps.ts'

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

/** For the table of JavaScript only: the client for Python has no methods for them. */
const PAUSES = '/api/sms/admin/pauses'
const ask = (op: string, fields: object) =>
  ({
    call: `POST /api/sms/sender/quota/${op}`,
    body: { user_id: 71, units: 1, country: 'FR', ...fields },
    status: 200,
  }) as const
const denied = (id: number) => ({ granted: false, reason: 'destination_paused', pause: { id } })
const PAUSE_STEPS: readonly Step[] = [
  { call: 'POST /api/sms/admin/quota', body: { user_id: 71, limit: 10 }, status: 201 },
  { call: `POST ${PAUSES}`, body: { user_id: 71, country: 'fr' }, status: 400 },
  { call: `POST ${PAUSES}`, body: { user_id: 71, country: 'FR', until: new Date(START).toISOString() }, status: 400 },
  {
    call: `POST ${PAUSES}`,
    body: { user_id: 71, country: 'FR', message_types: ['otp'], reason: 'Pumped codes' },
    headers: { 'idempotency-key': 'pause' },
    status: 201,
  },
  { ...ask('consume', { id: 'p1', message_type: 'otp' }), answer: denied(1) },
  { ...ask('check', { message_type: 'news' }), answer: { granted: true } },
  { ...ask('consume', { id: 'p1', message_type: 'otp', force: true }), answer: { granted: true } },
  { call: 'GET /api/sms/admin/quota/summary?user_id=71', status: 200, answer: { paused: [{ id: 1, country: 'FR' }] } },
  { call: `DELETE ${PAUSES}/1`, status: 204 },
  { call: `DELETE ${PAUSES}/1`, status: 204 },
  { call: `DELETE ${PAUSES}/99`, status: 404 },
  { ...ask('check', { message_type: 'otp' }), answer: { granted: true } },
  { call: `POST ${PAUSES}`, body: { user_id: null, country: 'FR', until: '2026-12-31T00:00:00Z' }, status: 201 },
  { ...ask('reserve', { id: 'p2' }), answer: { ...denied(2), retry_at: '2026-12-31T00:00:00.000Z' } },
  { ...ask('check', {}), after: 300 * 86_400_000, answer: { granted: true } },
]

describe('the service and the fake server answer alike', () => {
  test.each([...STEPS, ...PAUSE_STEPS].map((step, index) => ({ step, title: `${index + 1}: ${step.call}` })))(
    '$title',
    async ({ step }) => {
      const real = await made(step, targets.real)
      const answered = await made(step, targets.fake)
      expect(real).toMatchObject(expectedOf(step))
      expect(answered).toEqual(real)
    },
  )
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
