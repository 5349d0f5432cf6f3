/** An agent that pays messages of busy users from leases. */
import { once } from 'node:events'
import { afterAll, describe, expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { type Agent, startAgent } from '../../src/cli/remote/agent/agent.ts'
import { createKnownMessages } from '../../src/cli/remote/agent/known-messages.ts'
import { createSweeper } from '../../src/jobs/sweeper.ts'
import { NAMINGS, nameOf, post, spawnAgent } from '../support/agent.ts'
import { startService } from '../support/service.ts'
import { createTimers } from '../support/timers.ts'

const service = await startService({ env: { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') } })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const agents: Agent[] = []
afterAll(async () => {
  for (const agent of agents) await agent.close()
  await service.app.close()
})

const admin = createClient({ url, token: service.adminToken })
let users = 0
async function user(limit: number): Promise<number> {
  users += 1
  await admin.createQuota({ userId: users, limit })
  return users
}

async function counted(userId: number): Promise<{ used: number; reserved: number }> {
  const { used, reserved } = await admin.summarizeQuotasOfUser({ userId })
  return { used, reserved }
}

async function start() {
  const timers = createTimers()
  /** With a promise in `slices`, requests for slices wait for it. */
  const running: { isAway: boolean; calls: number; slices?: Promise<void> } = { isAway: false, calls: 0 }
  const agent = await startAgent({
    service: { url: [url], token: service.senderToken },
    place: { host: '127.0.0.1', port: 0 },
    debts: undefined,
    leases: { types: ['otp'], units: 20 },
    allowForce: true,
    // The machine may be busy.
    timeoutMs: 20_000,
    log: line => expect(line).toMatch(/^the service (?:gives no answer|answers again)/),
    async fetch(input, init) {
      if (running.isAway) return new Response('', { status: 503, headers: { 'retry-after': '60' } })
      running.calls += 1
      if (String(init?.body).includes('"lease:')) await running.slices
      return fetch(input, init)
    },
    ...timers,
  })
  agents.push(agent)
  return { agent, address: agent.address, running, timers }
}

const consume = (address: string, owner: number | object, id: string, more: object = {}) => {
  const name = typeof owner === 'number' ? { user_id: owner } : owner
  return post(address, 'consume', { ...name, id, units: 1, message_type: 'otp', ...more })
}

/** Sends until a lease pays. @returns how many messages the service has consumed */
async function warmUp(address: string, owner: number | object, prefix = 'warm'): Promise<number> {
  for (let n = 0; ; n++) {
    const { body } = await consume(address, owner, `${prefix}-${n}`)
    expect(body).toMatchObject({ granted: true })
    if (body.lease === true) return n
  }
}

describe('a busy user', () => {
  test.each(NAMINGS)(
    'is answered from a lease, with the fields of the service, once per message, by %s',
    async naming => {
      const { address, running } = await start()
      const userId = await user(1_000)
      const owner = await nameOf(admin, userId, naming)
      const asked = await warmUp(address, owner)
      // Ten within ten seconds make a user busy; then the first slice is reserved.
      expect(asked).toBeGreaterThanOrEqual(10)
      running.calls = 0
      const text = { to: '+4915112345678', text: 'Hello' }
      const first = {
        granted: true,
        state: 'committed',
        units: 2,
        committed: 2,
        draws: [],
        unfunded: 0,
        replayed: false,
      }
      expect(await consume(address, owner, 'm', { units: 2 })).toMatchObject({
        status: 200,
        body: { ...first, user_id: userId, ...owner, id: 'm', remaining: null, expires_at: null, lease: true },
      })
      expect((await consume(address, owner, 'm', { units: 2 })).body).toMatchObject({ ...first, replayed: true })
      const settling = (op: string, more: object = {}) => post(address, op, { ...owner, id: 'm', ...more })
      expect(await settling('commit')).toMatchObject({ status: 200, body: { state: 'committed', replayed: true } })
      expect(await consume(address, owner, 'm', { units: 3 })).toMatchObject({
        status: 409,
        body: { code: 'idempotency_mismatch', errors: [{ path: '/units' }] },
      })
      const open = { code: 'reservation_closed', reservation: { state: 'committed', unfunded: 0, lease: true } }
      expect(await settling('release')).toMatchObject({ status: 409, body: open })
      expect(await settling('commit', { total_units: 3 })).toMatchObject({
        status: 422,
        body: { code: 'exceeds_reservation' },
      })
      expect(running.calls).toBe(0)
      // Another type, a country, and what only the service can do, take the way to the service.
      const others = [{ message_type: 'news' }, { units: undefined, message: text }, { force: true }, { explain: true }]
      for (const [n, more] of others.entries()) {
        const { body } = await consume(address, owner, `other-${n}`, more)
        expect(body).toMatchObject({ granted: true, draws: [{ units: 1 }] })
        expect(body).not.toHaveProperty('lease')
      }
      expect(await post(address, 'reserve', { ...owner, id: 'r', units: 1, message_type: 'otp' })).toMatchObject({
        body: { state: 'reserved', draws: [{ units: 1 }] },
      })
      expect(running.calls).toBe(5)
    },
  )

  test('a number that may be of several countries goes to the service, whose caps count each of them', async () => {
    const { address } = await start()
    const owner = await user(1_000)
    await admin.createQuota({ userId: owner, kind: 'cap', limit: 0, countries: ['CA'] })
    const to = (number: string) => ({ units: undefined, message: { to: number, text: 'Your code is 4711' } })
    for (let n = 0, isPaid = false; !isPaid; n++) {
      const { body } = await consume(address, owner, `us-${n}`, to('+12125551234'))
      expect(body).toMatchObject({ granted: true, country: 'US' })
      isPaid = body.lease === true
    }
    expect((await consume(address, owner, 'unlisted', to('+16243051111'))).body).toMatchObject({
      granted: false,
      reason: 'cap_reached',
      country: 'US',
    })
    // One of one country does not wait behind it.
    expect((await consume(address, owner, 'listed', to('+12125551234'))).body).toMatchObject({ lease: true })
  })

  test('a message that names a recipient or a tag goes to the service if caps of the user count these', async () => {
    const { address } = await start()
    const [owner, other] = [await user(1_000), await user(1_000)]
    await admin.createQuota({ userId: owner, kind: 'cap', per: 'recipient', period: 'year', limit: 2 })
    await admin.createQuota({ userId: owner, kind: 'cap', per: 'tag', period: 'year', limit: 2 })
    await warmUp(address, owner)
    await warmUp(address, other)
    const recipient = '+4915112345678'
    const texted = { units: undefined, message: { to: recipient, text: 'Your code is 4711' } }
    for (const [id, more] of [
      ['a', { recipient }],
      ['b', texted],
      ['c', { tag: 'sales' }],
      ['d', { tag: 'sales' }],
    ] as const) {
      const { body } = await consume(address, owner, id, more)
      expect([body.granted, body.lease]).toEqual([true, undefined])
    }
    for (const [id, more] of [
      ['e', { recipient }],
      ['f', texted],
      ['g', { tag: 'sales' }],
    ] as const)
      expect((await consume(address, owner, id, more)).body).toMatchObject({ granted: false, reason: 'cap_reached' })
    expect((await consume(address, owner, 'h')).body).toMatchObject({ lease: true })
    expect((await consume(address, other, 'i', { recipient, tag: 'sales' })).body).toMatchObject({ lease: true })
  })

  test('a user whose cap counts messages has none, and sends as many as the cap says', async () => {
    const { address } = await start()
    const owner = await user(1_000)
    await admin.createQuota({ userId: owner, kind: 'cap', counts: 'messages', limit: 30 })
    let granted = 0
    for (let n = 0; n < 40; n++) {
      const { body } = await consume(address, owner, `m-${n}`, { units: 3 })
      expect(body.lease).toBeUndefined()
      if (body.granted) granted += 1
    }
    // A slice that was asked for meanwhile counts as one message until it has gone back.
    expect(granted).toBeGreaterThanOrEqual(29)
    expect(granted).toBeLessThanOrEqual(30)
    await expect.poll(() => counted(owner)).toEqual({ used: 3 * granted, reserved: 0 })
  })

  test('a refund goes back to the lease, and with it to the quota', async () => {
    const { agent, address } = await start()
    const owner = await user(1_000)
    const asked = await warmUp(address, owner)
    await consume(address, owner, 'm', { units: 5 })
    const refund = (total_units: number) => post(address, 'refund', { user_id: owner, id: 'm', total_units })
    expect((await refund(2)).body).toMatchObject({ state: 'committed', refunded: 2, replayed: false, lease: true })
    expect((await refund(2)).body).toMatchObject({ refunded: 2, replayed: true })
    expect((await refund(5)).body).toMatchObject({ state: 'refunded', refunded: 5 })
    // It was delivered after all, and then it was not.
    for (const replayed of [false, true]) {
      const { body } = await post(address, 'commit', { user_id: owner, id: 'm', force: true })
      expect(body).toMatchObject({ state: 'committed', refunded: 0, replayed, lease: true })
    }
    expect((await refund(5)).body).toMatchObject({ state: 'refunded', refunded: 5, replayed: false })
    expect((await consume(address, owner, 'm', { units: 5 })).body).toMatchObject({ code: 'reservation_closed' })
    // Only the service counts codes, and it knows the slices.
    for (const op of ['feedback', 'commit'])
      expect(await post(address, op, { user_id: owner, id: 'm', verified: true })).toMatchObject({ status: 404 })
    await consume(address, owner, 'part', { units: 5 })
    await post(address, 'refund', { user_id: owner, id: 'part', total_units: 2 })
    const again = await post(address, 'commit', { user_id: owner, id: 'part', force: true })
    expect(again).toMatchObject({ status: 409, body: { code: 'reservation_closed' } })
    await agent.close()
    expect(await counted(owner)).toEqual({ used: asked + 4, reserved: 0 })
    const march = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z', interval: 'month' } as const
    const { total } = await admin.reportUsage({ userId: owner, ...march })
    expect(total.committed).toEqual({ units: asked + 4, messages: asked + 2 })
  })

  test('who is named in both ways has two leases, which oversell nothing', async () => {
    const { agent, address } = await start()
    const owner = await user(100)
    const names = [owner, await nameOf(admin, owner, 'user_ref')]
    let warm = 0
    for (const [n, name] of names.entries()) warm += (await warmUp(address, name, `${n}`)) + 1
    const answers = await Promise.all(
      names.flatMap((name, n) => Array.from({ length: 60 }, (_, m) => consume(address, name, `${n}-more-${m}`))),
    )
    const granted = answers.filter(({ body }) => body.granted)
    expect(granted.filter(({ body }) => body.lease === true).length).toBeGreaterThan(20)
    await agent.close()
    expect(warm + granted.length).toBeLessThanOrEqual(100)
    expect(await counted(owner)).toEqual({ used: warm + granted.length, reserved: 0 })
  })

  test('a message that was passed on stays with the service', async () => {
    const { address, running } = await start()
    const owner = await user(1_000)
    const asked = await warmUp(address, owner)
    for (let n = 0; n < asked; n++) {
      expect((await consume(address, owner, `warm-${n}`)).body).toMatchObject({ replayed: true, draws: [{ units: 1 }] })
    }
    expect(running.calls).toBeGreaterThan(asked)
  })

  test('calls of a message at the same time, also while a slice is asked for, charge it once', async () => {
    const { agent, address } = await start()
    const owner = await user(1_000)
    const asked = await warmUp(address, owner)
    const ids = Array.from({ length: 100 }, (_, n) => `m-${n}`)
    const answers = await Promise.all(ids.flatMap(id => [id, id]).map(id => consume(address, owner, id)))
    expect(answers.filter(({ body }) => body.replayed === false)).toHaveLength(100)
    expect(answers.filter(({ body }) => body.lease === true).length).toBeGreaterThan(20)
    await agent.close()
    expect(await counted(owner)).toEqual({ used: asked + 101, reserved: 0 })
  })

  test('its operations keep their order while one of them waits for a slice', async () => {
    const { agent, address, running } = await start()
    const owner = await user(1_000)
    const asked = await warmUp(address, owner)
    const slice = Promise.withResolvers<void>()
    running.slices = slice.promise
    // The next slice is asked for.
    expect((await consume(address, owner, 'most', { units: 19 })).body).toMatchObject({ lease: true })
    const consumed = { op: 'consume', user_id: owner, message_type: 'otp' }
    const operations = [
      { ...consumed, id: 'm', units: 5 },
      { ...consumed, id: 'n', units: 2 },
      { op: 'refund', user_id: owner, id: 'm' },
      { op: 'check', user_id: owner, units: 1 },
    ]
    const answered = post(address, 'batch', { operations })
    // Those of another user do not wait.
    const other = await user(1)
    expect((await consume(address, other, 'm')).body).toMatchObject({ granted: true })
    slice.resolve()
    expect((await answered).body.results).toMatchObject([
      { status: 200, body: { granted: true, lease: true } },
      { status: 200, body: { granted: true, lease: true } },
      { status: 200, body: { refunded: 5, lease: true } },
      { status: 200, body: { granted: true } },
    ])
    await agent.close()
    expect(await counted(owner)).toEqual({ used: asked + 1 + 19 + 2, reserved: 0 })
  })

  test('while the service is away, the lease pays until it is used up', async () => {
    const { agent, address, running } = await start()
    const owner = await user(1_000)
    const asked = await warmUp(address, owner)
    await expect.poll(() => counted(owner)).toMatchObject({ reserved: 20 })
    running.isAway = true
    let granted = 1
    for (; ; granted++) {
      const { status, body } = await consume(address, owner, `away-${granted}`)
      if (status === 503) break
      expect(body).toMatchObject({ granted: true, lease: true })
    }
    expect(granted).toBe(20)
    running.isAway = false
    await agent.close()
    expect(await counted(owner)).toEqual({ used: asked + 20, reserved: 0 })
  })

  test('who stops sending gets the units back, and the lease is closed', async () => {
    const { agent, address, timers } = await start()
    const owner = await user(1_000)
    const asked = await warmUp(address, owner)
    timers.pass(30_000)
    await expect.poll(() => counted(owner)).toEqual({ used: asked + 1, reserved: 0 })
    timers.pass(600_000)
    expect(timers.timers()).toBe(0)
    // Nothing is known any more.
    expect((await post(address, 'refund', { user_id: owner, id: `warm-${asked}` })).body).toMatchObject({
      code: 'not_found',
    })
    await agent.close()
  })
})

test('an agent that cannot know all messages passes on those that it does not know', () => {
  let now = 0
  let full = 0
  const known = createKnownMessages({ now: () => now, onFull: () => (full += 1), max: 2 })
  const message = (id: string) => ({ userId: 1, id })
  known.add(message('a'), null)
  known.add(message('b'), null)
  expect([known.find(message('a')), known.find({ userId: 2, id: 'a' }), known.mayPay()]).toEqual([
    null,
    undefined,
    false,
  ])
  now = 1_000
  known.add(message('c'), null)
  known.add(message('d'), null)
  expect([known.find(message('c')), full]).toEqual([undefined, 1])
  now = 600_999
  // The first two are forgotten. But c may be asked for again.
  expect([known.mayPay(), known.find(message('a'))]).toEqual([false, undefined])
  now = 601_000
  expect(known.mayPay()).toBe(true)
})

test('two agents with leases on one user, one of them killed: nothing is oversold or booked twice', async () => {
  const options = ['--lease', 'otp', '--lease-units', '20']
  const [[killed, one], [other, two]] = await Promise.all([
    spawnAgent(url, service.senderToken, options),
    spawnAgent(url, service.senderToken, options),
  ])
  const limit = 300
  const owner = await user(limit)
  const granted = new Map<string, boolean>()
  const ask = async (address: string, id: string) => {
    const { body } = await consume(address, owner, id)
    if (body.granted === true) granted.set(id, body.lease === true)
    return body
  }
  for (const [name, address] of Object.entries({ one, two })) {
    for (let n = 0; n < 60; n++) await ask(address, `${name}-${n}`)
  }
  expect(granted.size).toBe(120)
  expect([...granted.values()].filter(isLeased => isLeased).length).toBeGreaterThan(60)
  // Asked again at the agent that lives, nothing is charged: otherwise the rest below would be too small.
  const again = await Promise.all([...granted.keys()].filter(id => id.startsWith('two')).map(id => ask(two, id)))
  expect(again.every(({ replayed }) => replayed)).toBe(true)

  killed.kill('SIGKILL')
  await once(killed, 'exit')
  // The other one sells what is left, but for what the killed one had reserved.
  for (let n = 60; (await ask(two, `two-${n}`)).granted; n++);
  other.kill('SIGTERM')
  expect(await once(other, 'exit')).toEqual([0, null])
  const { used, reserved } = await counted(owner)
  expect(reserved).toBeGreaterThan(0)
  // A slice and a half that were not spent, at most.
  const paid = granted.size
  expect(used + reserved).toBe(limit)
  expect(limit - paid).toBeLessThanOrEqual(30)
  expect(limit - paid).toBeGreaterThan(0)

  service.clock.now += 60_000
  const log = { info() {}, warn() {}, error() {} }
  const sweeper = createSweeper({ db: service.db, engine: service.engine, now: () => service.clock.now, log })
  while ((await sweeper.sweepOnce(service.clock.now)).pending !== 'none');
  expect(await counted(owner)).toEqual({ used: limit, reserved: 0 })
  const { items } = await admin.listEvents({ userId: owner, types: 'reservation.expired' })
  expect(items.length).toBeGreaterThan(0)
  for (const { data } of items) {
    expect(data).toMatchObject({ reservation: { id: expect.stringMatching(/^lease:/) }, released: 0 })
  }
})
