/** `onUnavailable: 'lease'`: units held for an outage, with a service that is killed and started again. */
import { expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { freshDatabase } from '../support/database.ts'
import { createSite } from '../support/process.ts'

const site = await createSite()
const message = (userId: number, id: string, units = 1) => ({ userId, id, units, messageType: 'otp' })
const sent = { granted: true, sent: true, value: 'sent' }
const leased = { ...sent, settled: null, isLeased: true, isDebt: false, error: { name: 'UnavailableError' } }
const send = () => 'sent'

test('a service that is killed: what is held is sent, then nothing; what is left comes back', async () => {
  const env = {
    DATABASE_URL: (await freshDatabase()).url,
    AUTH_SECRET: 'a secret for tests only, long enough for HS256',
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  }
  let running = await site.start(env)
  const first = running.url
  // The next service has another port.
  const through: typeof fetch = (input, init) => fetch(String(input).replace(first, running.url), init)
  const owner = createClient({ url: first, token: running.token, fetch: through })
  const { stdout: token } = await site.launch(['token', '--subject', 'gateway', '--role', 'sender'], env).ended
  const quota = createClient({
    url: first,
    token: token.trim(),
    fetch: through,
    onUnavailable: 'lease',
    outageLease: { units: 5 },
    senderTimeoutMs: 20_000,
  })
  const counted = async () => {
    const { used, reserved } = await owner.summarizeQuotasOfUser({ userId: 7 })
    return { used, reserved }
  }
  await owner.createQuota({ userId: 7, limit: 100 })
  await owner.createQuota({ userId: 8, limit: 100 })

  expect(await quota.withReservation(message(7, 'before', 2), send)).toMatchObject({
    ...sent,
    settled: { committed: 2 },
  })
  await expect.poll(() => counted()).toEqual({ used: 2, reserved: 5 })
  await running.kill()
  const brief = { timeoutMs: 100 }
  expect(await quota.withReservation(message(7, 'one', 3), send, brief)).toMatchObject(leased)
  await expect(quota.withReservation(message(7, 'too-much', 3), send, brief)).rejects.toMatchObject({
    name: 'UnavailableError',
  })
  expect(await quota.withReservation(message(7, 'two'), send, brief)).toMatchObject(leased)
  // Nothing is held for a user without a message before the outage.
  await expect(quota.withReservation(message(8, 'other'), send, brief)).rejects.toThrow()

  running = await site.start(env)
  // It fails until the client, which tries once a second, has settled all.
  const close = () => quota.close().then(() => 'closed', String)
  await expect.poll(close, { timeout: 20_000 }).toBe('closed')
  expect(await counted()).toEqual({ used: 6, reserved: 0 })
})
