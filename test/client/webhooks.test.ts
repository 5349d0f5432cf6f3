import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { InvalidSignature, verifyWebhook } from '../../client/src/main.ts'

const SECRET = `whsec_${Buffer.from('a secret for tests, of 32 bytes!').toString('base64')}`
const OTHER = `whsec_${Buffer.from('another secret, also of 32 bytes').toString('base64')}`
const NOW = Date.parse('2026-03-15T12:00:00Z')
const timestamp = '2026-03-15T12:00:00.000Z'
const body = JSON.stringify({
  type: 'quota.created',
  timestamp,
  data: { user_id: 7, sequence: 1, quota: { id: 3, metadata: { a_b: '1' } } },
})

/** Headers as the independent library makes them. */
function signed(secret = SECRET, at = NOW): Record<string, string> {
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(at / 1_000),
    'webhook-signature': new Webhook(secret).sign('evt_1', new Date(at), body),
  }
}

const verify = (headers: Record<string, string>, secrets: string | string[] = SECRET) =>
  verifyWebhook(body, headers, secrets, { now: NOW })

test('the event of a delivery, from a text or bytes, and headers of either kind', async () => {
  const event = {
    type: 'quota.created',
    timestamp,
    data: { userId: 7, sequence: 1, quota: { id: 3, metadata: { a_b: '1' } } },
  }
  const verified = await verify(signed())
  expect(verified).toEqual(event)
  // The type has the user where a delivery has it.
  expect(verified.type === 'quota.created' && verified.data.userId).toBe(7)
  const bytes = new TextEncoder().encode(body)
  expect(await verifyWebhook(bytes, new Headers(signed()), SECRET, { now: NOW })).toEqual(event)
})

test('during a rotation either secret may have signed', async () => {
  const both = {
    ...signed(),
    'webhook-signature': `${signed(OTHER)['webhook-signature']} ${signed()['webhook-signature']}`,
  }
  await verify(both)
  await verify(signed(OTHER), [SECRET, OTHER])
})

describe('is refused', () => {
  test.each([
    ['another secret', signed(OTHER), /no signature/],
    ['another version', { ...signed(), 'webhook-signature': 'v2,AAAA' }, /no signature/],
    ['another id', { ...signed(), 'webhook-id': 'evt_2' }, /no signature/],
    ['no signature', { ...signed(), 'webhook-signature': '' }, /header is missing/],
    ['a signature that is not base64', { ...signed(), 'webhook-signature': 'v1,*' }, /not base64/],
    ['a time that is no number', { ...signed(), 'webhook-timestamp': 'now' }, /not a number/],
    ['a delivery that is too old', signed(SECRET, NOW - 301_000), /another time/],
    ['one from the future', signed(SECRET, NOW + 301_000), /another time/],
  ])('%s', async (_, headers, message) => {
    await expect(verify(headers)).rejects.toThrow(message)
    await expect(verify(headers)).rejects.toBeInstanceOf(InvalidSignature)
  })
})
