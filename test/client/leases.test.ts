/** Units that a process reserves ahead: never more are spent than charged, and what was not spent comes back. */
import { afterAll, describe, expect, test } from 'vitest'
import { createLease, type LeaseInput } from '../../client/src/lease.ts'
import { createSlices } from '../../client/src/lease-slices.ts'
import { createClient, QuotaError, UnavailableError } from '../../client/src/main.ts'
import { createSweeper } from '../../src/jobs/sweeper.ts'
import { startService } from '../support/service.ts'
import { createTimers } from '../support/timers.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const calls: string[] = []
/** What answers instead of the service; undefined while it is there. */
let network: ((input: Parameters<typeof fetch>[0], init?: RequestInit) => Promise<Response>) | undefined
const sender = createClient({
  url,
  token: service.senderToken,
  senderTimeoutMs: 30_000,
  fetch: (input, init) => {
    calls.push(new URL(String(input)).pathname.replace(/^.*\//, ''))
    return (network ?? fetch)(input, init)
  },
})
const admin = createClient({ url, token: service.adminToken })
afterAll(() => service.app.close())

let users = 100
async function user(limit: number | null): Promise<number> {
  users += 1
  await admin.createQuota({ userId: users, limit })
  return users
}

async function counted(userId: number): Promise<{ used: number; reserved: number }> {
  const { used, reserved } = await admin.summarizeQuotasOfUser({ userId })
  return { used, reserved }
}

function leaseOf(input: LeaseInput, timers = createTimers()) {
  return createLease(sender, input, timers)
}

const expire = async () => {
  const log = { info() {}, warn() {}, error() {} }
  const sweeper = createSweeper({ db: service.db, engine: service.engine, now: () => service.clock.now, log })
  while ((await sweeper.sweepOnce(service.clock.now)).pending !== 'none');
}

describe('a lease', () => {
  test('spends without asking, asks ahead, and gives back the rest', async () => {
    const userId = await user(1_000)
    const lease = sender.lease({ userId, units: 100 })
    calls.length = 0
    expect(await lease.spend(2)).toEqual({ granted: true })
    expect(lease.held()).toBe(98)
    for (let n = 0; n < 48; n++) expect(lease.trySpend()).toBe(true)
    expect(calls).toEqual(['reserve'])
    expect(await counted(userId)).toEqual({ used: 0, reserved: 100 })
    // Below half, the next slice is reserved while units are left.
    expect(lease.trySpend()).toBe(true)
    await expect.poll(() => lease.held()).toBe(149)
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 51, reserved: 0 })
    expect(() => lease.trySpend()).toThrow('the lease is closed')
    await expect(lease.spend()).rejects.toThrow('the lease is closed')
  })

  test('never spends more messages than a cap on messages allows', async () => {
    const userId = await user(1_000)
    await admin.createQuota({ userId, kind: 'cap', counts: 'messages', limit: 25 })
    const lease = leaseOf({ userId, units: 10 })
    let spent = 0
    while ((await lease.spend()).granted) spent += 1
    await lease.close()
    expect(spent).toBeGreaterThanOrEqual(20)
    expect(spent).toBeLessThanOrEqual(25)
    expect(await counted(userId)).toEqual({ used: spent, reserved: 0 })
    // What is less than a slice, the service grants.
    expect(await sender.check({ userId, units: 1 })).toMatchObject({ granted: true })
  })

  test('of all who wait, as many are granted as there are units, and the rest is denied', async () => {
    const userId = await user(250)
    const lease = leaseOf({ userId, units: 10 })
    const answers = await Promise.all(Array.from({ length: 300 }, () => lease.spend()))
    expect(answers.filter(({ granted }) => granted)).toHaveLength(250)
    expect(answers.at(-1)).toMatchObject({ granted: false, reason: 'quota_exhausted' })
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 250, reserved: 0 })
  })

  test('takes smaller slices near the end, so that others find units, too', async () => {
    const userId = await user(100)
    const [one, other] = [leaseOf({ userId, units: 80 }), leaseOf({ userId, units: 80 })]
    await one.spend(79)
    // A message of several units is paid from several slices. A quarter of the 20 that are left is 5.
    expect(await one.spend(2)).toEqual({ granted: true })
    expect(one.held()).toBe(4)
    expect(await other.spend(15)).toEqual({ granted: true })
    expect(await one.spend(5)).toMatchObject({ granted: false, reason: 'quota_exhausted', remaining: 0 })
    expect(await one.spend(4)).toEqual({ granted: true })
    await Promise.all([one.close(), other.close()])
    expect(await counted(userId)).toEqual({ used: 100, reserved: 0 })
  })

  test('is bounded by caps, for its country and type', async () => {
    const userId = await user(null)
    await admin.createQuota({ userId, kind: 'cap', limit: 5, countries: ['DE'], messageTypes: ['otp'] })
    const capped = leaseOf({ userId, units: 100, country: 'DE', messageType: 'otp' })
    expect(await capped.spend(5)).toEqual({ granted: true })
    expect(await capped.spend()).toMatchObject({ granted: false, reason: 'cap_reached' })
    const free = leaseOf({ userId, units: 100, country: 'FR', messageType: 'otp' })
    expect(await free.spend(6)).toEqual({ granted: true })
    await Promise.all([capped.close(), free.close()])
    expect(await counted(userId)).toMatchObject({ reserved: 0 })
  })

  test('does not ask ahead for a while after a denial; who waits asks', async () => {
    const userId = await user(1)
    const timers = createTimers()
    const lease = leaseOf({ userId, units: 10 }, timers)
    expect(await lease.spend()).toEqual({ granted: true })
    expect(await lease.spend()).toMatchObject({ granted: false })
    calls.length = 0
    expect(lease.trySpend()).toBe(false)
    expect(calls).toEqual([])
    expect(await lease.spend()).toMatchObject({ granted: false })
    await admin.createQuota({ userId, limit: 5 })
    timers.pass(1_000)
    expect(lease.trySpend()).toBe(false)
    await expect.poll(() => lease.held()).toBe(1)
    await lease.close()
  })

  test('what was given back is spent again, or refunded if its slice is settled', async () => {
    const userId = await user(20)
    const lease = leaseOf({ userId, units: 5 })
    await lease.spend(5)
    await expect.poll(() => counted(userId)).toMatchObject({ used: 5 })
    lease.giveBack(3)
    expect(() => lease.giveBack(3)).toThrow('only 2 units were spent')
    expect(lease.trySpend(1)).toBe(true)
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 3, reserved: 0 })
  })

  test('what was given back is refunded, however many slices have paid it', async () => {
    const userId = await user(1_000)
    const lease = leaseOf({ userId, units: 1 })
    for (let n = 0; n < 150; n++) await lease.spend()
    lease.giveBack(150)
    expect(() => lease.giveBack()).toThrow('only 0 units were spent')
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 0, reserved: 0 })
  })

  test('refuses what it cannot give back any more', () => {
    const slices = createSlices({ later: () => () => {}, onEnd() {} })
    slices.add(1, 5, null)
    slices.add(2, 5, null)
    slices.take(7)
    expect(slices.forget(5)).toBe(true)
    expect(() => slices.giveBack(3, true)).toThrow('only 2 units were spent, of the slices that the lease remembers')
    slices.giveBack(2, true)
    // They may have to be refunded of it.
    expect(slices.forget(2)).toBe(false)
  })

  test('gives back what is not spent in half of its time', async () => {
    const userId = await user(100)
    const timers = createTimers()
    const lease = leaseOf({ userId, units: 10, ttlSeconds: 20 }, timers)
    await lease.spend(4)
    timers.pass(9_999)
    expect(lease.held()).toBe(6)
    timers.pass(1)
    expect(lease.held()).toBe(0)
    await expect.poll(() => counted(userId)).toEqual({ used: 4, reserved: 0 })
    await lease.close()
    expect(timers.timers()).toBe(0)
  })

  test('each message counts once in usage, also if several slices pay it or a slice pays several', async () => {
    const userId = await user(1_000)
    const lease = leaseOf({ userId, units: 5 })
    for (const units of [2, 4, 1, 1, 7]) expect(await lease.spend(units)).toEqual({ granted: true })
    await lease.spend(3)
    lease.giveBack(3)
    await lease.close()
    const march = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z', interval: 'month' } as const
    const { total } = await admin.reportUsage({ userId, ...march })
    expect(total.committed.messages - total.refunded.messages).toBe(5)
    expect(total.committed.units - total.refunded.units).toBe(15)
  })

  test.each([0, -1, 1.5, Number.NaN])('refuses %s units', async units => {
    expect(() => leaseOf({ userId: 1, units })).toThrow('units must be a positive whole number')
    const lease = leaseOf({ userId: 1, units: 1 })
    expect(() => lease.trySpend(units)).toThrow(RangeError)
    expect(() => lease.giveBack(units)).toThrow(RangeError)
    await expect(lease.spend(units)).rejects.toThrow(RangeError)
  })

  test('a request that the service refuses is not repeated', async () => {
    const userId = await user(10)
    const lease = leaseOf({ userId, units: 1 })
    await expect(lease.spend(Number.MAX_SAFE_INTEGER)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(await lease.spend()).toEqual({ granted: true })
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 1, reserved: 0 })
  })
})

describe('what goes wrong', () => {
  test('a process that dies: its units are charged when they expire, and an event names them', async () => {
    const userId = await user(100)
    const lease = leaseOf({ userId, units: 10, ttlSeconds: 20 })
    await lease.spend(10)
    await lease.spend(4)
    await expect.poll(() => counted(userId)).toEqual({ used: 10, reserved: 10 })
    service.clock.now += 20_000
    await expire()
    expect(await counted(userId)).toEqual({ used: 20, reserved: 0 })
    const { items } = await admin.listEvents({ userId, types: 'reservation.expired' })
    expect(items).toMatchObject([
      { data: { reservation: { id: expect.stringMatching(/^lease:/) }, committed: 10, released: 0 } },
    ])
  })

  test('a process that was stopped for longer than its slices live gets back what it did not spend', async () => {
    const userId = await user(100)
    const lease = leaseOf({ userId, units: 10, ttlSeconds: 20 })
    await lease.spend(4)
    service.clock.now += 20_000
    await expire()
    expect(await counted(userId)).toEqual({ used: 10, reserved: 0 })
    // It is charged, so it may be spent.
    expect(lease.trySpend()).toBe(true)
    lease.giveBack()
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 4, reserved: 0 })
  })

  test('while the service is away, it spends what it holds, and settles when the service is back', async () => {
    const userId = await user(100)
    const timers = createTimers()
    const lease = leaseOf({ userId, units: 10, ttlSeconds: 20 }, timers)
    await lease.spend(2)
    const headers = { 'content-type': 'application/problem+json' }
    network = async () => Response.json({ code: 'forbidden', status: 403, detail: 'not now' }, { status: 403, headers })
    for (let n = 0; n < 3; n++) expect(lease.trySpend()).toBe(true)
    timers.pass(10_000)
    await expect(lease.spend()).rejects.toThrow('not now')
    await expect(lease.close()).rejects.toThrow('not now')
    expect(await counted(userId)).toEqual({ used: 0, reserved: 10 })
    network = undefined
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 5, reserved: 0 })
  })

  /** A lease whose requests end so, in turn: they are carried out or not, and answered so; the last ones reach the service. */
  function leaseWith(userId: number, ends: ((ask: () => Promise<unknown>) => Promise<unknown>)[]) {
    const timers = createTimers()
    const reserve: typeof sender.reserve = async input => {
      const end = ends.shift()
      await end?.(() => sender.reserve(input))
      return sender.reserve(input)
    }
    return { timers, lease: createLease({ ...sender, reserve }, { userId, units: 10 }, timers) }
  }
  const lost = async (ask: () => Promise<unknown>) => {
    await ask()
    throw new UnavailableError('lost', { mayHaveTakenEffect: true })
  }
  const notArrived = () => Promise.reject(new UnavailableError('lost', { mayHaveTakenEffect: true }))
  const refusalOf = (status: number, code: 'unauthenticated' | 'invalid_request') => {
    const problem = { type: '', title: '', status, code, detail: code, requestId: 'r' }
    return () => Promise.reject(new QuotaError(problem))
  }
  const overloaded = () => Promise.reject(new UnavailableError('overloaded', { mayHaveTakenEffect: false }))

  test.each([
    ['overloaded', overloaded],
    ['a token that is refused', refusalOf(401, 'unauthenticated')],
  ])('a slice whose answer was lost is not forgotten after %s', async (_, then) => {
    const userId = await user(100)
    const { lease } = leaseWith(userId, [lost, then, then])
    for (let n = 0; n < 3; n++) await expect(lease.spend()).rejects.toThrow()
    expect(await lease.spend()).toEqual({ granted: true })
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 1, reserved: 0 })
    const { items } = await admin.listReservations({ userId })
    expect(items).toHaveLength(1)
  })

  test('a slice whose answer was lost is given back if its request is refused for good', async () => {
    const userId = await user(100)
    const { lease, timers } = leaseWith(userId, [lost, refusalOf(400, 'invalid_request')])
    for (let n = 0; n < 2; n++) await expect(lease.spend()).rejects.toThrow()
    timers.pass(1_000)
    await expect.poll(() => counted(userId)).toEqual({ used: 0, reserved: 0 })
    expect(await lease.spend()).toEqual({ granted: true })
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 1, reserved: 0 })
  })

  test('a request that arrives after its repetition was denied is given back', async () => {
    const userId = await user(5)
    await sender.reserve({ userId, id: 'all', units: 5 })
    const asked: Parameters<typeof sender.reserve>[0][] = []
    const calls: typeof sender = {
      ...sender,
      reserve(input, options) {
        asked.push(input)
        return asked.length === 1 ? notArrived() : sender.reserve(input, options)
      },
    }
    const timers = createTimers()
    const lease = createLease(calls, { userId, units: 5 }, timers)
    await expect(lease.spend()).rejects.toThrow('lost')
    expect(await lease.spend()).toMatchObject({ granted: false })
    const mayArrive = { message: expect.stringContaining('may still arrive'), isOutage: false }
    await expect(lease.close()).rejects.toMatchObject(mayArrive)
    await sender.release({ userId, id: 'all' })
    const [first] = asked
    expect(first && (await sender.reserve(first))).toMatchObject({ granted: true })
    timers.pass(10_000)
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 0, reserved: 0 })
  })

  test('a request that was lost long ago is not waited for when its repetition is denied', async () => {
    const userId = await user(5)
    await sender.reserve({ userId, id: 'all', units: 5 })
    const { lease, timers } = leaseWith(userId, [notArrived])
    await expect(lease.spend()).rejects.toThrow('lost')
    timers.pass(10_000)
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 0, reserved: 5 })
  })

  test('too many slices that are not settled are no outage', async () => {
    const userId = await user(1_000)
    let isSettling = false
    const commit: typeof sender.commit = async input => {
      if (!isSettling) throw new UnavailableError('lost', { mayHaveTakenEffect: true })
      return sender.commit(input)
    }
    const lease = createLease({ ...sender, commit }, { userId, units: 10 }, createTimers())
    for (let n = 0; n < 16; n++) expect(await lease.spend(10)).toEqual({ granted: true })
    // No further slice is asked for ahead, so that none waits for what is refused here.
    expect([lease.trySpend(), lease.refilling()]).toEqual([false, undefined])
    const refused = { name: 'UnavailableError', isOutage: false, mayHaveTakenEffect: false }
    await expect(lease.spend()).rejects.toMatchObject(refused)
    isSettling = true
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 160, reserved: 0 })
  })

  test('a slice whose answer was lost is asked for again under its id', async () => {
    const userId = await user(100)
    let lost = 0
    const reserve: typeof sender.reserve = async input => {
      const answer = await sender.reserve(input)
      lost += 1
      if (lost < 3) throw new UnavailableError('lost', { mayHaveTakenEffect: true })
      return answer
    }
    const lease = createLease({ ...sender, reserve }, { userId, units: 10 }, createTimers())
    await expect(lease.spend()).rejects.toThrow('lost')
    await expect(lease.close()).rejects.toThrow('lost')
    await lease.close()
    expect(await counted(userId)).toEqual({ used: 0, reserved: 0 })
  })
})
