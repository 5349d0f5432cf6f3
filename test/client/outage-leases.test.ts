/** `onUnavailable: 'lease'`: units held for an outage. `outage-leases.long.test.ts` kills the service. */
import { afterAll, describe, expect, test } from 'vitest'
import { createClientOn } from '../../client/src/client.ts'
import { createLeasePool } from '../../client/src/lease-pool.ts'
import { type Client, createClient, UnavailableError, UnknownIfSent } from '../../client/src/main.ts'
import { createOutageLeases } from '../../client/src/outage-leases.ts'
import { startService } from '../support/service.ts'
import { createTimers, FAST } from '../support/timers.ts'

const service = await startService({ env: { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') } })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
afterAll(() => service.app.close())
const admin = createClient({ url, token: service.adminToken })
const sender = createClient({ url, token: service.senderToken })

let users = 0
async function user(limit: number): Promise<number> {
  users += 1
  await admin.createQuota({ userId: users, limit })
  return users
}

async function counted(of: typeof admin, userId: number): Promise<{ used: number; reserved: number }> {
  const { used, reserved } = await of.summarizeQuotasOfUser({ userId })
  return { used, reserved }
}

/** Calls that do not arrive (`away`), or are carried out without an answer (`deaf`). */
function clientOf(network: { is: 'up' | 'away' | 'deaf' }) {
  return createClientOn(FAST, {
    url,
    token: service.senderToken,
    onUnavailable: { otp: 'lease' },
    outageLease: { units: 5 },
    senderTimeoutMs: 50_000,
    async fetch(input, init) {
      // As a proxy answers whose service does not.
      const away = new Response('', { status: 503, headers: { 'retry-after': '60' } })
      if (network.is === 'away') return away
      const answer = await fetch(input, init)
      return network.is === 'deaf' ? away : answer
    },
  })
}

/** After an outage, it fails until the client, which tries once a second, has settled all. */
async function closed(quota: Client): Promise<void> {
  const close = () => quota.close().then(() => 'closed', String)
  await expect.poll(close, { timeout: 20_000 }).toBe('closed')
}

const message = (userId: number, id: string, units = 1) => ({ userId, id, units, messageType: 'otp' })
const sent = { granted: true, sent: true, value: 'sent' }
const leased = { ...sent, settled: null, isLeased: true, isDebt: false, error: { name: 'UnavailableError' } }
const send = () => 'sent'

describe('a message that a lease has paid', () => {
  test('is charged once, though its reservation arrived', async () => {
    const network: Parameters<typeof clientOf>[0] = { is: 'up' }
    const quota = clientOf(network)
    const owner = await user(100)
    await quota.withReservation(message(owner, 'before'), send)
    await expect.poll(() => counted(admin, owner)).toEqual({ used: 1, reserved: 5 })
    network.is = 'deaf'
    expect(await quota.withReservation(message(owner, 'm', 2), send)).toMatchObject(leased)
    // Its own, and what the lease holds.
    expect((await counted(admin, owner)).reserved).toBeGreaterThanOrEqual(7)
    network.is = 'up'
    await expect
      .poll(() => sender.getReservation({ userId: owner, id: 'm' }), { timeout: 10_000 })
      .toMatchObject({ state: 'released' })
    await closed(quota)
    // A repeated message is not charged to its closed reservation.
    await expect(quota.withReservation(message(owner, 'm', 2), send)).rejects.toMatchObject({
      code: 'reservation_closed',
    })
    expect(await counted(admin, owner)).toEqual({ used: 3, reserved: 0 })
  })

  test('meets no cap that counts recipients or tags: others are not sent', async () => {
    const network: Parameters<typeof clientOf>[0] = { is: 'up' }
    const quota = clientOf(network)
    const [owner, other] = [await user(100), await user(100)]
    await admin.createQuota({ userId: owner, kind: 'cap', per: 'tag', period: 'year', limit: 1 })
    const named = { recipient: '+4915112345678', tag: 'sales' }
    for (const userId of [owner, other]) {
      await quota.withReservation(message(userId, 'before'), send)
      await expect.poll(() => counted(admin, userId)).toMatchObject({ reserved: 5 })
    }
    network.is = 'away'
    const outage = { name: 'UnavailableError' }
    await expect(quota.withReservation({ ...message(owner, 'a'), ...named }, send)).rejects.toMatchObject(outage)
    expect(await quota.withReservation(message(owner, 'b'), send)).toMatchObject(leased)
    expect(await quota.withReservation({ ...message(other, 'a'), ...named }, send)).toMatchObject(leased)
    network.is = 'up'
    await closed(quota)
  })

  test('is not charged if its send fails, and is charged if that is not known', async () => {
    const network: Parameters<typeof clientOf>[0] = { is: 'up' }
    const quota = clientOf(network)
    const owner = await user(100)
    await quota.withReservation(message(owner, 'before'), send)
    await expect.poll(() => counted(admin, owner)).toMatchObject({ reserved: 5 })
    network.is = 'away'
    const fail = (error: Error) => () => {
      throw error
    }
    await expect(quota.withReservation(message(owner, 'a', 2), fail(new Error('no route')))).rejects.toThrow('no route')
    expect(await quota.withReservation(message(owner, 'b', 2), fail(new UnknownIfSent()))).toMatchObject({
      sent: 'unknown',
      reservation: null,
    })
    network.is = 'up'
    await closed(quota)
    expect(await counted(admin, owner)).toEqual({ used: 3, reserved: 0 })
  })

  test('what is refused in an outage only is refused at once', async () => {
    const text = { to: '+4915112345678', text: 'Hello' }
    const quota = clientOf({ is: 'up' })
    const counts = quota.withReservation({ userId: 1, id: 'm', message: text, messageType: 'otp' }, send)
    await expect(counts).rejects.toThrow(/needs a message with `units`/)
    const without = sender.withReservation(message(1, 'm'), send, { onUnavailable: 'lease' })
    await expect(without).rejects.toThrow(/needs units to hold/)
    const none = { url, token: 't', outageLease: { units: 0 } }
    expect(() => createClient(none)).toThrow('units must be a positive whole number, not 0')
  })
})

test('holds a slice until the next one, and gives it back when its user stops sending', async () => {
  const timers = createTimers()
  const leases = createOutageLeases({ units: 5, ttlSeconds: 100, maxLeases: 1 }, sender, timers)
  const [owner, other] = [await user(100), await user(100)]
  const held = async (userId: number) => (await counted(admin, userId)).reserved
  const slices = async () => {
    const { items } = await admin.listReservations({ userId: owner })
    return items.length
  }
  leases.hold({ userId: owner })
  await expect.poll(() => held(owner)).toBe(5)
  timers.pass(49_999)
  leases.hold({ userId: owner })
  expect(await slices()).toBe(1)
  timers.pass(1)
  leases.hold({ userId: owner })
  await expect.poll(slices).toBe(2)
  await expect.poll(() => held(owner)).toBe(5)
  // There is room for one: the other user's is opened when this one is closed.
  leases.hold({ userId: other })
  await expect.poll(() => held(owner)).toBe(0)
  leases.hold({ userId: other })
  await expect.poll(() => held(other)).toBe(5)
  timers.pass(50_000)
  await expect.poll(() => held(other)).toBe(0)
  await leases.close()
  expect(timers.timers()).toBe(0)
  leases.hold({ userId: other })
  expect(await held(other)).toBe(0)
})

test('what cannot be settled takes no room for ever: it is tried again in an outage, and given up if it is refused', async () => {
  const timers = createTimers()
  let network: 'up' | 'away' | 'expired token' | 'refused' = 'up'
  let refusals = 0
  const stranger = createClient({ url, token: 'none' })
  const calls: typeof sender = {
    ...sender,
    release(input) {
      if (network === 'away') return Promise.reject(new UnavailableError('away', { mayHaveTakenEffect: true }))
      if (network === 'expired token') {
        refusals += 1
        return stranger.release(input)
      }
      return sender.release(network === 'up' ? input : { ...input, id: 'none' })
    },
  }
  const pool = createLeasePool({ calls, lease: { units: 5 }, maxLeases: 1, idleMs: 1_000, timers })
  const [owner, other] = [await user(100), await user(100)]
  const first = pool.open({ userId: owner })
  first?.lease.prepare()
  await expect.poll(() => first?.lease.held()).toBe(5)
  network = 'away'
  timers.pass(1_000)
  await expect.poll(() => first?.lease.held()).toBe(0)
  expect(pool.open({ userId: other })).toBeUndefined()
  network = 'expired token'
  const tries = () => {
    timers.pass(5_000)
    return refusals
  }
  await expect.poll(tries).toBeGreaterThan(2)
  expect(pool.open({ userId: other })).toBeUndefined()
  network = 'refused'
  const open = () => {
    timers.pass(5_000)
    return pool.open({ userId: other })?.isOpen
  }
  await expect.poll(open).toBe(true)
  network = 'up'
  expect(await pool.close()).toBe(0)
  expect(timers.timers()).toBe(0)
})

test('a slice whose answer was lost is given back, also if a proxy refuses its request while the client is closed', async () => {
  const owner = await user(100)
  const page = () => new Response('<h1>Unprocessable Content</h1>', { status: 422 })
  let network: 'up' | 'deaf' | 'refusing' = 'deaf'
  const quota = createClient({
    url,
    token: service.senderToken,
    senderTimeoutMs: 300,
    async fetch(input, init) {
      if (network === 'refusing') return page()
      const answer = await fetch(input, init)
      if (network === 'up') return answer
      await answer.arrayBuffer()
      throw new TypeError('cut off')
    },
  })
  const leases = createOutageLeases({ units: 5 }, quota, createTimers())
  leases.hold({ userId: owner })
  await expect.poll(() => counted(admin, owner)).toEqual({ used: 0, reserved: 5 })
  network = 'refusing'
  await expect(leases.close()).rejects.toMatchObject({ name: 'UnavailableError' })
  network = 'up'
  await expect.poll(() => leases.close().then(() => 'closed', String)).toBe('closed')
  expect(await counted(admin, owner)).toEqual({ used: 0, reserved: 0 })
})

test('what is refused for a while is settled as soon as the client is closed', async () => {
  const owner = await user(100)
  let network: 'up' | 'deaf' | 'refusing' = 'up'
  const quota = createClientOn(FAST, {
    url,
    token: service.senderToken,
    onUnavailable: 'lease',
    outageLease: { units: 5 },
    senderTimeoutMs: 3_000,
    async fetch(input, init) {
      if (network === 'refusing') return new Response('<h1>Unauthorized</h1>', { status: 401 })
      const answer = await fetch(input, init)
      return network === 'deaf' ? new Response('', { status: 504 }) : answer
    },
  })
  await quota.withReservation(message(owner, 'before'), send)
  await expect.poll(() => counted(admin, owner)).toEqual({ used: 1, reserved: 5 })
  network = 'deaf'
  expect(await quota.withReservation(message(owner, 'm'), send)).toMatchObject(leased)
  let refusals = 0
  network = 'refusing'
  await expect
    .poll(
      () =>
        quota.close().then(
          () => 'closed',
          () => refusals++,
        ),
      { timeout: 10_000, interval: 1 },
    )
    .toBeGreaterThan(20)
  network = 'up'
  await closed(quota)
  expect(await counted(admin, owner)).toEqual({ used: 2, reserved: 0 })
})
