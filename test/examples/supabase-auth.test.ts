/**
 * The hook of Supabase Auth, called as Supabase Auth 2.196 was seen to call it. The signatures are made here. The trial with the real
 * program is in examples/supabase-auth/README.md.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startExample, startGate } from '../support/example.ts'
import { serve } from '../support/listening.ts'
import { startService } from '../support/service.ts'

const { app, call, senderToken } = await startService()

/** What the provider was asked to send. */
const sent: Array<{ to: string; text: string }> = []
/** The provider refuses messages to this number. */
const REFUSED = '4915100000000'
/** The provider takes messages to this number and ends the connection without an answer. */
const SILENT = '4915100000001'

const provider = await serve(async (request, response) => {
  const message = JSON.parse(Buffer.concat(await request.toArray()).toString())
  sent.push(message)
  const { to } = message
  if (to === `+${SILENT}`) response.destroy()
  else response.writeHead(to === `+${REFUSED}` ? 400 : 200).end()
})

const gate = await startGate(await app.listen({ port: 0, host: '127.0.0.1' }))

const KEY = 'a key of the tests, not a secret'
const line = await startExample('supabase-auth', 'server.ts', {
  PORT: '0',
  HOOK_SECRET: `v1,whsec_${Buffer.from(KEY).toString('base64')}`,
  PROVIDER_URL: provider,
  SMS_QUOTA_URL: gate.url,
  SMS_QUOTA_TOKEN: senderToken,
  SMS_QUOTA_USER: '7',
})
const hook = line.replace('the hook is at ', '')
for (const user_id of [7, 8, 9]) {
  await call('POST', '/api/sms/admin/quota', { body: { user_id, limit: 2, period: 'month', message_types: ['otp'] } })
}

/** What Supabase sends for a user who wants a code. */
const inputFor = (phone: string, app_metadata: object = {}) =>
  JSON.stringify({
    metadata: { uuid: randomUUID(), time: '2026-03-15T12:00:00Z', name: 'send-sms', ip_address: '192.0.2.1' },
    user: { id: randomUUID(), aud: 'authenticated', phone, app_metadata: { provider: 'phone', ...app_metadata } },
    sms: { otp: '123456', phone },
  })

async function ask(body: string, { key = KEY, at = Date.now() } = {}): Promise<[status: number, body: unknown]> {
  const id = randomUUID()
  const timestamp = String(Math.floor(at / 1_000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const answer = await fetch(hook, {
    method: 'POST',
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
    body,
  })
  expect(answer.headers.get('content-type')).toBe('application/json')
  return [answer.status, await answer.json()]
}

async function counters(userId: number): Promise<object> {
  const { body } = await call('GET', `/api/sms/admin/quota/summary?user_id=${userId}`)
  return { used: body.used, reserved: body.reserved }
}

test('a code is sent and charged, until the quota is used up', async () => {
  expect(await ask(inputFor('4915112345601'))).toEqual([200, {}])
  expect(await ask(inputFor('4915112345602'))).toEqual([200, {}])
  expect(await ask(inputFor('4915112345603'))).toEqual([
    200,
    {
      error: {
        http_code: 429,
        message: 'No code was sent: too many messages. Try again after 2026-04-01T00:00:00.000Z.',
      },
    },
  ])
  const text = 'Your code is 123456'
  expect(sent).toEqual([
    { to: '+4915112345601', text },
    { to: '+4915112345602', text },
  ])
  expect(await counters(7)).toEqual({ used: 2, reserved: 0 })
})

test('a user can have quotas of their own, and a repeated request sends and charges once', async () => {
  const before = sent.length
  const body = inputFor('4915112345604', { sms_quota_user_id: 8 })
  expect(await ask(body)).toEqual([200, {}])
  expect(await ask(body)).toEqual([200, {}])
  expect(sent.slice(before).map(message => message.to)).toEqual(['+4915112345604'])
  expect(await counters(8)).toEqual({ used: 1, reserved: 0 })
})

test('a code is sent and charged once, also if the answers of sms-quota are lost', async () => {
  const before = [sent.length, await counters(8)]
  gate.losses = 2
  expect(await ask(inputFor('4915112345606', { sms_quota_user_id: 9 }))).toEqual([200, {}])
  expect(gate.losses).toBe(0)
  expect([sent.length - 1, await counters(8)]).toEqual(before)
  expect(await counters(9)).toEqual({ used: 1, reserved: 0 })
})

test('a message that the provider refuses is free, and one without an answer is charged', async () => {
  const own = { sms_quota_user_id: 8 }
  const refused = [200, { error: { http_code: 503, message: 'No code was sent. Try again later.' } }]
  expect(await ask(inputFor(REFUSED, own))).toEqual(refused)
  expect(await counters(8)).toEqual({ used: 1, reserved: 0 })
  expect(await ask(inputFor(SILENT, own))).toEqual([200, {}])
  expect(await counters(8)).toEqual({ used: 2, reserved: 0 })
})

test('what Supabase did not sign is refused', async () => {
  const before = sent.length
  const body = inputFor('4915112345605')
  for (const forged of [{ key: 'another key' }, { at: Date.now() - 600_000 }]) {
    expect((await ask(body, forged))[0]).toBe(401)
  }
  const unsigned = await fetch(hook, { method: 'POST', body })
  expect([unsigned.status, await unsigned.json()]).toEqual([
    401,
    { error: { http_code: 401, message: 'a header is missing: webhook-id, -timestamp or -signature' } },
  ])
  expect((await fetch(hook, { method: 'POST', body: 'x'.repeat(300_000) })).status).toBe(413)
  expect(sent.length).toBe(before)
})
