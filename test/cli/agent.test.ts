import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { type Agent, type AgentOptions, startAgent } from '../../src/cli/remote/agent/agent.ts'
import { type Answer, NAMINGS, nameOf, post, SENDER_PATHS, spawnAgent } from '../support/agent.ts'
import { SOME_FOREIGN_ANSWERS } from '../support/foreign-answers.ts'
import { startService } from '../support/service.ts'
import { run } from '../support/terminal.ts'
import { FAST } from '../support/timers.ts'
import { linesOf, paste } from '../support/walk.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
const folder = await mkdtemp(join(tmpdir(), 'agent-'))
const agents: Agent[] = []
afterAll(async () => {
  for (const agent of agents) await agent.close()
  await service.app.close()
  await rm(folder, { recursive: true, force: true })
})

let files = 0
const newPath = () => join(folder, `${files++}`)

/**
 * The network between an agent and the service: calls are carried out, do not arrive, lose their answer, or are answered that
 * there are too many.
 */
type Network = 'up' | 'away' | 'deaf' | 'overloaded' | 'rate_limited'

interface Running {
  agent: Agent
  network: Network
  /** Calls that reached the service. */
  calls: number
  lines: string[]
  /** Lets the time of all that the agent allowed end. */
  expire(): void
}

async function start(options: Partial<AgentOptions> = {}): Promise<Running> {
  const timers = new Set<() => void>()
  const lines: string[] = []
  const agent = await startAgent({
    service: { url: [url], token: service.senderToken },
    place: { host: '127.0.0.1', port: 0 },
    debts: undefined,
    leases: undefined,
    // The machine may be busy.
    timeoutMs: 50_000,
    pauses: FAST,
    log: line => lines.push(line),
    async fetch(input, init) {
      const away = new Response('', { status: 503, headers: { 'retry-after': '60' } })
      if (running.network === 'away') return away
      if (running.network === 'overloaded') return busy(503, running.network)
      if (running.network === 'rate_limited') return busy(429, running.network)
      running.calls += 1
      const answer = await fetch(input, init)
      return running.network === 'deaf' ? away : answer
    },
    later(_ms, end) {
      timers.add(end)
      return () => timers.delete(end)
    },
    ...options,
  })
  agents.push(agent)
  const expire = () => {
    for (const end of timers) end()
  }
  const running: Running = { agent, network: 'up', calls: 0, lines, expire }
  return running
}

function busy(status: number, code: string): Response {
  const headers = { 'content-type': 'application/problem+json', 'retry-after': '60' }
  return new Response(JSON.stringify({ code, detail: 'Too many calls.', status, request_id: 'r' }), { status, headers })
}

const debts = (path: string, onUnknown: 'charge' | 'release' = 'charge') => ({
  path,
  types: ['otp'],
  onUnknown,
})

const admin = createClient({ url, token: service.adminToken })
let users = 0
async function user(limit: number): Promise<number> {
  users += 1
  const userId = users
  await admin.createQuota({ userId, limit })
  return userId
}
/** @returns the id, and how calls name the user */
async function namedUser(limit: number, naming: (typeof NAMINGS)[number]): Promise<[number, object]> {
  const userId = await user(limit)
  return [userId, await nameOf(admin, userId, naming)]
}
async function charged(userId: number): Promise<number> {
  const { used, reserved } = await admin.summarizeQuotasOfUser({ userId })
  return used + reserved
}
const otp = (owner: number | object, id = 'm') => {
  const name = typeof owner === 'number' ? { user_id: owner } : owner
  return { ...name, id, units: 2, message_type: 'otp' }
}

test('answers what the service answers', async () => {
  const { agent } = await start({ allowForce: true })
  const [one, other] = [await user(10), await user(10)]
  const text = 'Hello '.repeat(40)
  const reserve = (id: string, more: object = {}) => ['reserve', { id, units: 2, ...more }] as const
  const calls: (readonly [path: string, body: object | string, headers?: Record<string, string>])[] = [
    ['check', { units: 2, explain: true }],
    ['check', { units: 11 }],
    ['check', { units: 1, op: 'consume', id: 'x' }],
    ['check', { units: 1, userId: 7 }],
    reserve('a'),
    reserve('a'),
    reserve('a', { units: 3 }),
    reserve('-'),
    ['reserve', { id: 'b', message: { to: '+4915112345678', text }, on_expiry: 'commit', ttl_seconds: 60 }],
    ['reserve', { id: 'c', units: 1, message: { to: 'x', text: 'y' } }],
    ['consume', { id: 'd', units: 9 }],
    ['consume', { id: 'd', units: 9, force: true }],
    ['commit', { id: 'a', total_units: 1 }],
    ['commit', { id: 'a', total_units: 9 }],
    ['release', { id: 'a' }],
    ['refund', { id: 'a', total_units: 1 }],
    ['refund', { id: 'none' }],
    ['feedback', { id: 'a', verified: true }],
    ['commit', { id: 'a', verified: true }],
    ['feedback', { id: 'a', verified: false }],
    ['batch', { operations: [{ op: 'check', user_id: 7, units: 1 }, { op: 'commit', id: '' }, { op: 'no' }, 3] }],
    ['batch', { operations: [] }],
    ['commit', '{"user_id":'],
    ['commit', '[]'],
    ['commit', '{"user_id":7,"id":"a","__proto__":{"force":true}}'],
    ['batch', '{"operations":[{"op":"commit","user_id":7,"id":"a","__proto__":{"force":true}}]}'],
    ['check?__proto__=1', { units: 1 }],
    ['commit', { id: 'x'.repeat(70_000) }],
    ['commit', { id: 'a' }, { 'content-type': 'text/plain' }],
    ['commit', { id: 'a' }, { 'content-type': 'application/json; charset=latin1' }],
    ['check?explain=true', { units: 1 }],
    ['nothing', {}],
  ]
  const ask = async (base: string, user_id: number) => {
    const answers: unknown[] = []
    const token = base === url ? { authorization: `Bearer ${service.senderToken}` } : {}
    for (const [path, body, headers] of calls) {
      const sent = typeof body === 'string' || path === 'batch' ? body : { user_id, ...body }
      const answer = await post(base, path, sent, { ...token, ...headers })
      // What has to differ: the ids of users, quotas and requests.
      const same = JSON.stringify(answer).replaceAll(
        /"(user_id|quota_id|limiting_quota_id|request_id)":("[^"]*"|\d+)/g,
        '"$1":0',
      )
      answers.push([path, JSON.parse(same.replaceAll(/\b[Uu]ser \d+/g, 'user'))])
    }
    return answers
  }
  const direct = await ask(url, one)
  expect(await ask(agent.address, other)).toEqual(direct)
  expect(await charged(other)).toBe(await charged(one))
  // The table has an answer of each kind.
  const statuses = new Set(direct.map(answer => (answer as [string, Answer])[1].status))
  expect([...statuses].sort()).toEqual([200, 400, 404, 409, 413, 415, 422])
})

test('callers do not get the right to force that the token has', async () => {
  const running = await start({ debts: debts(newPath()) })
  const { address } = running.agent
  const owner = await user(1)
  const forced = { user_id: owner, id: 'm', units: 9, message_type: 'otp', force: true }
  const refused = {
    status: 403,
    type: 'application/problem+json; charset=utf-8',
    body: { code: 'forbidden', detail: expect.stringContaining('--allow-force') },
  }
  expect(await post(address, 'consume', forced)).toMatchObject(refused)
  expect(await post(address, 'commit', { user_id: owner, id: 'm', force: true })).toMatchObject(refused)
  const operations = [
    { op: 'consume', ...forced },
    { op: 'consume', ...forced, id: 'n', units: 1, force: false },
    { op: 'commit', user_id: owner, id: 'm', force: true },
  ]
  const { status, body } = await post(address, 'batch', { operations })
  expect([status, body.results.map((result: Answer) => result.status)]).toEqual([200, [403, 200, 403]])
  // Nor becomes it a debt while the service is away.
  running.network = 'away'
  expect(await post(address, 'consume', { ...forced, id: 'o' })).toMatchObject(refused)
  running.network = 'up'
  expect(await charged(owner)).toBe(1)
})

test('answers health, and nothing that a page of the web asks', async () => {
  const { agent } = await start()
  const health = await Promise.all(['/livez', '/readyz'].map(path => fetch(agent.address + path)))
  expect(health.map(({ status }) => status)).toEqual([200, 200])
  const { port } = new URL(agent.address)
  const rebound = httpRequest({
    port,
    path: `${SENDER_PATHS}/check`,
    method: 'POST',
    headers: { host: `evil.example:${port}` },
  })
  rebound.end('{}')
  const [response] = await once(rebound, 'response')
  expect([response.statusCode, JSON.parse(await text(response)).code]).toEqual([403, 'forbidden'])
  expect(await post(agent.address, '/api/sms/admin/quota', {})).toMatchObject({
    status: 404,
    body: { code: 'not_found' },
  })
})

test('calls at the same time reach the service as few', async () => {
  // The service answers when all have come to the agent: on a busy machine they come one by one.
  const [all, calls] = [Promise.withResolvers<void>(), 200]
  let [requests, made] = [0, 0]
  const count = () => ++requests === calls && all.resolve()
  subscribe('http.server.request.start', count)
  onTestFinished(() => void unsubscribe('http.server.request.start', count))
  const running = await start({
    async fetch(input, init) {
      made += 1
      await all.promise
      return fetch(input, init)
    },
  })
  const owner = await user(1_000)
  const answers = await Promise.all(
    Array.from({ length: calls }, (_, n) =>
      post(running.agent.address, 'consume', { user_id: owner, id: `m-${n}`, units: 1 }),
    ),
  )
  expect(answers.filter(({ body }) => body.granted !== true)).toEqual([])
  expect(await charged(owner)).toBe(calls)
  expect(made).toBeLessThan(40)
})

test('a stop answers what is under way, and accepts nothing more', async () => {
  const [arrived, service] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { agent } = await start({
    async fetch(input, init) {
      arrived.resolve()
      await service.promise
      return fetch(input, init)
    },
  })
  const call = post(agent.address, 'check', { user_id: 1, units: 1 })
  await arrived.promise
  const closed = agent.close()
  const knock = () => fetch(`${agent.address}/livez`).then(String, () => 'nothing listens')
  await expect.poll(knock, { timeout: 10_000 }).toBe('nothing listens')
  service.resolve()
  expect(await call).toMatchObject({ status: 200, body: { granted: expect.any(Boolean) } })
  await closed
})

test('holds a bounded number of operations', async () => {
  const { agent } = await start({ maxCalls: 3 })
  const operations = Array.from({ length: 10 }, () => ({ op: 'check', user_id: 1, units: 1 }))
  const { body } = await post(agent.address, 'batch', { operations })
  const answers = (body.results as { status: number; body: { code?: string } }[]).map(it => it.body.code ?? it.status)
  expect(answers).toEqual([200, 200, 200, ...Array(7).fill('unavailable')])
})

test('a token that is not accepted is logged once', async () => {
  const { agent, lines } = await start({ service: { url: [url], token: 'none' } })
  const ask = () => post(agent.address, 'check', { user_id: 1, units: 1 })
  expect([await ask(), await ask()]).toMatchObject([{ status: 401 }, { status: 401 }])
  expect(lines).toEqual([expect.stringMatching(/^the service does not accept the token: /)])
})

/** A way to the service that can be closed, for another process. */
async function createGate() {
  const gate = { isOpen: true, url: '' }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const away = { status: 503, headers: { 'retry-after': '60' }, body: '' }
    const answer = gate.isOpen ? await pass(request, body) : away
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  async function pass({ method = 'GET', url: path, headers: { authorization = '' } }: IncomingMessage, body: string) {
    const sent = method === 'GET' ? {} : { body }
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method, headers, ...sent })
    const type = answer.headers.get('content-type') ?? ''
    return { status: answer.status, headers: { 'content-type': type }, body: await answer.text() }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  gate.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { gate, close: () => server.close().closeAllConnections() }
}

const spawnWithJournal = (url: string, journal: string) =>
  spawnAgent(url, service.senderToken, ['--journal', journal, '--allow-with-debt', 'otp'])

test.each([
  ['overloaded', 503],
  ['rate_limited', 429],
] as const)('a service that is there, and answers %s, is not away: nothing becomes a debt', async (network, status) => {
  const running = await start({ debts: debts(newPath()), leases: { types: 'all', units: 4 } })
  const { address } = running.agent
  const owner = await user(100)
  running.network = network
  const refused = { status, retryAfter: expect.any(String), body: { code: network } }
  expect(await post(address, 'consume', otp(owner))).toMatchObject(refused)
  expect(await post(address, 'reserve', otp(owner, 'r'))).toMatchObject(refused)
  // Nor if it is a lease that gets the answer.
  running.network = 'up'
  for (let n = 0; ; n++) {
    if ((await post(address, 'consume', otp(owner, `warm-${n}`))).body.lease === true) break
  }
  running.network = network
  const operations = Array.from({ length: 5 }, (_, n) => ({ op: 'consume', ...otp(owner, `m-${n}`) }))
  const { body } = await post(address, 'batch', { operations })
  const answers: Answer[] = body.results
  expect(answers.filter(answer => answer.body.debt === true)).toEqual([])
  expect(answers.at(-1)).toMatchObject({ status, body: { code: network } })
})

test.each(SOME_FOREIGN_ANSWERS)(
  'what answers in place of the service is silence: debts are charged once, and callers do not get it (%s)',
  async (_, answer) => {
    let isReplaced = true
    const running = await start({
      debts: debts(newPath()),
      timeoutMs: 2_000,
      async fetch(input, init) {
        const took = await fetch(input, init)
        if (!isReplaced) return took
        await took.arrayBuffer()
        return answer()
      },
    })
    const { address } = running.agent
    const owner = await user(10)
    const marketing = { ...otp(owner, 'other'), message_type: 'marketing' }
    const [consumed, reserved, checked, other] = await Promise.all([
      post(address, 'consume', otp(owner, 'consumed')),
      post(address, 'reserve', otp(owner, 'reserved')),
      post(address, 'check', { user_id: owner, units: 1, message_type: 'otp' }),
      post(address, 'reserve', marketing),
    ])
    expect([consumed, reserved]).toMatchObject(Array(2).fill({ status: 200, body: { granted: true, debt: true } }))
    expect([checked, other]).toMatchObject(Array(2).fill({ status: 503, body: { code: 'unavailable' } }))
    expect(await post(address, 'commit', { user_id: owner, id: 'reserved' })).toMatchObject({ status: 200 })
    isReplaced = false
    const open = async () => {
      const { debts: left } = (await (await fetch(`${address}/debts`)).json()) as { debts: unknown }
      return left
    }
    await expect.poll(open, { timeout: 10_000 }).toEqual([])
    await post(address, 'release', { user_id: owner, id: 'other' })
    expect(await charged(owner)).toBe(4)
  },
)

describe('while the service is away', () => {
  test('a call is answered 503, and is not a denial', async () => {
    const running = await start({ debts: debts(newPath()) })
    running.network = 'away'
    const owner = await user(10)
    const calls = [
      ['check', { user_id: owner, units: 1, message_type: 'otp' }],
      ['reserve', { ...otp(owner), message_type: 'marketing' }],
      ['consume', { user_id: owner, id: 'm', units: 1 }],
      ['commit', { user_id: owner, id: 'm' }],
    ] as const
    for (const [op, body] of calls) {
      const answer = { status: 503, retryAfter: '1', body: { code: 'unavailable' } }
      expect(await post(running.agent.address, op, body), op).toMatchObject(answer)
    }
  })

  test.concurrent.for([
    ['away', 'charge', 2, 'user_id'],
    ['deaf', 'release', 0, 'user_id'],
    ['away', 'release', 0, 'user_ref'],
    ['deaf', 'charge', 2, 'user_ref'],
  ] as const)(
    'what is allowed is charged once when it is back (%s), and what is unknown: %s, %s, by %s',
    async ([network, onUnknown, unknown, naming], { expect }) => {
      const running = await start({ debts: debts(newPath(), onUnknown) })
      const { address } = running.agent
      const owners = await Promise.all(Array.from({ length: 6 }, () => namedUser(10, naming)))
      const [consumed = {}, committed = {}, released = {}, expired = {}, batched = {}, repeated = {}] = owners.map(
        ([, name]) => name,
      )
      running.network = network

      const granted = { status: 200, body: { granted: true, debt: true, draws: [], remaining: null, units: 2 } }
      const consumedBody = { ...granted.body, user_id: null, ...consumed }
      expect(await post(address, 'consume', otp(consumed))).toMatchObject({ status: 200, body: consumedBody })
      expect(await post(address, 'consume', otp(consumed))).toMatchObject({
        body: { state: 'committed', replayed: true },
      })
      // Named by id, a message by reference is a second debt, of the same message for the service.
      await post(address, 'consume', otp(owners[0]?.[0] ?? 0))
      for (const owner of [committed, released, expired]) {
        expect(await post(address, 'reserve', otp(owner))).toMatchObject(granted)
      }
      expect(await post(address, 'commit', { ...committed, id: 'm', total_units: 1 })).toMatchObject({
        status: 400,
        body: { errors: [{ path: '/total_units' }] },
      })
      const ok = (state: string) => ({ status: 200, body: { state, debt: true } })
      expect(await post(address, 'commit', { ...committed, id: 'm' })).toMatchObject(ok('committed'))
      expect(await post(address, 'release', { ...committed, id: 'm' })).toMatchObject({
        status: 409,
        body: { code: 'reservation_closed', reservation: { state: 'committed' } },
      })
      expect(await post(address, 'release', { ...released, id: 'm' })).toMatchObject(ok('released'))
      const batch = {
        operations: [
          { op: 'consume', ...otp(batched) },
          { op: 'check', ...batched, units: 1 },
        ],
      }
      expect(await post(address, 'batch', batch)).toMatchObject({ body: { results: [granted, { status: 503 }] } })
      // The same message at the same time, and another one with its id.
      const twice = await Promise.all([otp(repeated), otp(repeated)].map(body => post(address, 'reserve', body)))
      expect(twice).toMatchObject([granted, granted])
      expect(await post(address, 'reserve', { ...otp(repeated), units: 3 })).toMatchObject({
        status: 409,
        body: { code: 'idempotency_mismatch', errors: [{ path: '/units', message: 'differs' }] },
      })
      // Its code is not counted before it is booked.
      for (const op of ['commit', 'feedback'])
        expect(await post(address, op, { ...repeated, id: 'm', verified: true })).toMatchObject({ status: 503 })

      running.expire()
      running.network = 'up'
      const all = () => Promise.all(owners.map(([userId]) => charged(userId)))
      await expect.poll(all, { timeout: 10_000 }).toEqual([2, 2, 0, unknown, 2, 2])
      const inLog = naming === 'user_id' ? `user ${owners[3]?.[0]}` : 'a user that is named by reference'
      const done = unknown === 0 ? 'not charged' : 'charged'
      expect(running.lines.filter(line => !line.startsWith('the service '))).toEqual([
        expect.stringMatching(`^it is not known whether message m of ${inLog}, .* was sent: it is ${done}$`),
      ])
      // A commit that comes before the debt is settled would say that the message was sent.
      const refund = () => post(address, 'refund', { ...expired, id: 'm' })
      if (unknown === 0) await expect.poll(refund, { timeout: 10_000 }).toMatchObject({ status: 409 })
      // Late, and repeated: the service has it.
      const late = () => post(address, 'commit', { ...expired, id: 'm' })
      const answer = unknown === 0 ? { status: 409 } : { status: 200, body: { replayed: true, draws: [{ units: 2 }] } }
      await expect.poll(late, { timeout: 10_000 }).toMatchObject(answer)
      expect(await all()).toEqual([2, 2, 0, unknown, 2, 2])
      expect(await post(address, 'commit', { ...repeated, id: 'm', verified: true })).toMatchObject({
        ...{ status: 200, body: { verified: true, replayed: true } },
      })
    },
  )

  test.each(NAMINGS)(
    'a repeated call is answered as the first one, also when its message is booked, and after a restart, by %s',
    async naming => {
      const path = newPath()
      const running = await start({ debts: debts(path) })
      running.network = 'away'
      const owners = await Promise.all([1, 1, 1].map(limit => namedUser(limit, naming)))
      const [consumed = {}, reserved = {}, refunded = {}] = owners.map(([, name]) => name)
      const repeat = async ({ agent }: Running) => [
        await post(agent.address, 'consume', otp(consumed)),
        await post(agent.address, 'reserve', { ...otp(reserved), ttl_seconds: 60, on_expiry: 'commit' }),
        await post(agent.address, 'commit', { ...reserved, id: 'm' }),
      ]
      const granted = { status: 200, body: { granted: true, units: 2 } }
      const first = [granted, granted, { status: 200, body: { state: 'committed', committed: 2 } }]
      expect(await repeat(running)).toMatchObject(first)
      await post(running.agent.address, 'consume', otp(refunded))
      running.network = 'up'
      const all = () => Promise.all(owners.map(([userId]) => charged(userId)))
      await expect.poll(all, { timeout: 10_000 }).toEqual([2, 2, 2])
      await running.agent.close()

      const next = await start({ debts: debts(path) })
      const again = first.map(({ body }) => ({ status: 200, body: { ...body, replayed: true } }))
      expect(await repeat(next)).toMatchObject(again)
      // By an agent that books nothing itself, and may not force, too.
      const token = await service.token({ sub: 'another', roles: ['sms-quota:sender'] })
      expect(await repeat(await start({ service: { url: [url], token } }))).toMatchObject(again)
      const batch = { operations: [{ op: 'consume', ...otp(consumed) }] }
      expect((await post(next.agent.address, 'batch', batch)).body.results).toMatchObject([granted])
      // Another message with its id is refused as ever, and so is one that was refunded.
      expect(await post(next.agent.address, 'consume', { ...otp(consumed), units: 3 })).toMatchObject({
        status: 409,
        body: { code: 'idempotency_mismatch' },
      })
      await post(next.agent.address, 'refund', { ...refunded, id: 'm' })
      expect(await post(next.agent.address, 'consume', otp(refunded))).toMatchObject({
        status: 409,
        body: { code: 'reservation_closed' },
      })
      expect(await all()).toEqual([2, 2, 0])
    },
  )

  test('a late release of a message that was committed meanwhile, in another way, does not make it free', async () => {
    const running = await start({ debts: debts(newPath()) })
    const [owner, other] = [await user(10), await user(10)]
    running.network = 'deaf'
    // It has a reservation, and a debt.
    await post(running.agent.address, 'reserve', otp(owner))
    const sender = createClient({ url, token: service.senderToken })
    await sender.commit({ userId: owner, id: 'm' })
    const released = { status: 200, body: { state: 'released' } }
    expect(await post(running.agent.address, 'release', { user_id: owner, id: 'm' })).toMatchObject(released)
    await post(running.agent.address, 'reserve', otp(other))
    await post(running.agent.address, 'release', { user_id: other, id: 'm' })
    running.network = 'up'
    // The debts are settled one after the other or together.
    await expect.poll(() => charged(other), { timeout: 10_000 }).toBe(0)
    await running.agent.close()
    expect(await charged(owner)).toBe(2)
  })

  test('the operator learns of an outage and of its debts, and that the journal is full', async () => {
    const running = await start({ debts: { ...debts(newPath()), maxDebts: 3 } })
    const { address } = running.agent
    const get = async (path: string) => {
      const answer = await fetch(address + path)
      return [answer.status, await answer.text()] as const
    }
    const owner = await user(10)
    expect(await get('/debts')).toEqual([200, '{"outage":false,"debts":[]}'])
    running.network = 'away'
    await post(address, 'consume', otp(owner, 'sent'))
    await post(address, 'reserve', otp(owner, 'held'))
    await post(address, 'reserve', otp(owner, 'released'))
    await post(address, 'release', { user_id: owner, id: 'released' })
    expect(await post(address, 'consume', otp(owner, 'beyond'))).toMatchObject({ status: 503 })
    const [, listed] = await get('/debts')
    const common = { user_id: owner, user_ref: null, message_type: 'otp', at: expect.any(String), refused: null }
    const states = ['sent', 'held', 'released']
    expect(JSON.parse(listed)).toEqual({ outage: true, debts: states.map(state => ({ ...common, id: state, state })) })
    const [, metrics] = await get('/metrics')
    expect(metrics).toContain('sms_quota_agent_debts{state="held"} 1\n')
    expect(metrics).toContain('sms_quota_agent_outage 1\n')
    const ready = () => get('/readyz').then(([status]) => status)
    await expect.poll(ready, { timeout: 10_000 }).toBe(503)
    expect((await get('/livez'))[0]).toBe(200)

    running.network = 'up'
    running.expire()
    await expect.poll(ready, { timeout: 10_000 }).toBe(200)
    await expect.poll(() => get('/debts').then(([, text]) => JSON.parse(text).debts), { timeout: 10_000 }).toEqual([])
    await post(address, 'check', { user_id: owner, units: 1 })
    const outage = running.lines.filter(line => line.startsWith('the service '))
    expect(outage).toEqual([
      expect.stringMatching(/^the service gives no answer: /),
      expect.stringMatching(
        /^the service answers again after \d+ s: 4 calls .*, and 3 messages were allowed as debts$/,
      ),
    ])
  })

  test.concurrent('two agents, one of them killed: nothing is oversold, nothing is booked twice', async ({
    expect,
  }) => {
    const { gate, close } = await createGate()
    const journal = newPath()
    const [other, [child, address]] = await Promise.all([start(), spawnWithJournal(gate.url, journal)])
    const scarce = await user(25)
    const [sent, open] = [await user(10), await user(10)]

    // Both sell the same units, and each message is asked for at both.
    const ask = (base: string, n: number) => post(base, 'consume', { user_id: scarce, id: `m-${n}`, units: 1 })
    const asked = Array.from({ length: 30 }, (_, n) => [ask(address, n), ask(other.agent.address, n)]).flat()
    const granted = (await Promise.all(asked)).filter(({ body }) => body.granted)
    expect(new Set(granted.map(({ body }) => body.id)).size).toBe(25)
    expect(await charged(scarce)).toBe(25)

    gate.isOpen = false
    expect(await post(address, 'consume', otp(sent))).toMatchObject({ body: { granted: true, debt: true } })
    expect(await post(address, 'reserve', otp(open))).toMatchObject({ body: { granted: true, debt: true } })
    child.kill('SIGKILL')
    await once(child, 'exit')
    // Its callers go on at the other agent.
    expect(await post(other.agent.address, 'consume', otp(sent))).toMatchObject({
      body: { granted: true, replayed: false },
    })

    // The next agent does not know what became of the reserved one, and cannot release it any more.
    const [next, again] = await spawnWithJournal(gate.url, journal)
    const stderr = text(next.stderr)
    expect(await post(again, 'release', { user_id: open, id: 'm' })).toMatchObject({ status: 503 })
    expect(await post(again, 'reserve', otp(open))).toMatchObject({ body: { granted: true, replayed: true } })
    expect(await post(again, 'release', { user_id: open, id: 'm' })).toMatchObject({ status: 503 })
    gate.isOpen = true
    await expect.poll(() => Promise.all([sent, open].map(charged)), { timeout: 10_000 }).toEqual([2, 2])
    next.kill('SIGTERM')
    expect(await once(next, 'exit')).toEqual([0, null])
    expect(await stderr).toContain('sms-quota agent: 2 messages in the journal are not booked yet\n')
    expect(await stderr).toMatch(new RegExp(`not known whether message m of user ${open}, .*: it is charged\n`))
    expect(await stderr).not.toContain(`user ${sent},`)

    await start({ debts: debts(journal) })
    expect(await Promise.all([scarce, sent, open].map(charged))).toEqual([25, 2, 2])
    close()
  })
})

describe('the list of debts', () => {
  const list = (path: string, ...more: string[]) => run(['agent', '--list', '--journal', path, ...more])

  test('is read from the journal of a running agent, which goes on', async () => {
    const path = newPath()
    const running = await start({ debts: debts(path) })
    running.network = 'away'
    const names = { sent: { user_id: 900 }, released: { user_ref: 'customer-900' }, held: { user_id: 900 } }
    for (const [id, name] of Object.entries(names)) await post(running.agent.address, 'reserve', otp(name, id))
    await post(running.agent.address, 'commit', { ...names.sent, id: 'sent' })
    await post(running.agent.address, 'release', { ...names.released, id: 'released' })
    const before = await readFile(path)

    const { code, stdout, stderr } = await list(path)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.replaceAll(/2\d{3}-\S+Z/g, 'TIME')).toMatch(
      /^at +user_id {2}user_ref +id +message_type {2}state\nTIME {2} +900 {2}- +sent +otp +sent\nTIME {2} +- {2}customer-900 {2}released +otp +released\nTIME {2} +900 {2}- +held +otp +unknown\n$/,
    )
    const lines = (await list(path, '--json')).stdout.trimEnd().split('\n')
    expect(lines.map(line => JSON.parse(line))).toEqual(
      ['sent', 'released', 'unknown'].map((state, index) => ({
        user_id: index === 1 ? null : 900,
        user_ref: index === 1 ? 'customer-900' : null,
        id: ['sent', 'released', 'held'][index],
        message_type: 'otp',
        at: expect.stringMatching(/Z$/),
        state,
      })),
    )
    expect(await readFile(path)).toEqual(before)
    expect(await post(running.agent.address, 'reserve', otp(900, 'another'))).toMatchObject({
      body: { granted: true, debt: true },
    })
    expect((await list(path, '--json')).stdout.trimEnd().split('\n')).toHaveLength(4)
    // It made neither a lock nor another file.
    const files = (await readdir(folder)).filter(name => name.startsWith(`${basename(path)}.`))
    expect(files).toEqual([expect.stringMatching(/\.lock/)])
  })

  test('of a journal that is being written leaves out what is not complete', async () => {
    const path = newPath()
    const running = await start({ debts: debts(path) })
    running.network = 'away'
    await post(running.agent.address, 'consume', otp(901))
    const copy = newPath()
    await writeFile(copy, `${await readFile(path, 'utf8')}0123456789abcdef [{"op":"beg`)
    expect((await list(copy, '--json')).stdout).toMatch(/^\{"user_id":901,.*"state":"sent"\}\n$/)
  })

  test('says if all are booked, and if there is no journal', async () => {
    const path = newPath()
    await start({ debts: debts(path) })
    expect(await list(path)).toEqual({ code: 0, stdout: '', stderr: 'All messages of the journal are booked.\n' })
    expect(await list(path, '--json')).toEqual({ code: 0, stdout: '', stderr: '' })
    const none = newPath()
    expect(await list(none)).toEqual({
      code: 1,
      stdout: '',
      stderr: `sms-quota agent: there is no journal at ${none}\n`,
    })
    await expect(stat(none)).rejects.toThrow('ENOENT')
    await writeFile(none, 'a shopping list\n')
    expect(await list(none)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a journal') })
    expect(await list(folder)).toMatchObject({ code: 1, stderr: expect.stringContaining('not a regular file') })
  })
})

test("several processes: a user's calls go to one of them, and to the next one while that is away", async () => {
  const urls = ['http://127.0.0.1:1', 'http://127.0.0.1:2']
  const to: string[] = []
  let away = ''
  const { agent } = await start({
    service: { url: urls, token: service.senderToken },
    fetch(input, init) {
      const { origin, pathname } = new URL(String(input))
      to.push(origin)
      return origin === away ? Promise.reject(new TypeError('no route')) : fetch(url + pathname, init)
    },
  })
  const consume = async (userId: number) => {
    const { status } = await post(agent.address, 'consume', { user_id: userId, id: crypto.randomUUID(), units: 1 })
    return [status, ...to.splice(0)]
  }
  const owners = await Promise.all(Array.from({ length: 20 }, () => user(10)))
  const homes = new Map<string, number>()
  for (const owner of owners) {
    const [status, home = '', ...others] = await consume(owner)
    expect([status, others]).toEqual([200, []])
    homes.set(String(home), owner)
    expect(await consume(owner)).toEqual([200, home])
  }
  expect([...homes.keys()].toSorted()).toEqual(urls)
  for (const [home, owner] of homes) {
    away = home
    const [other] = urls.filter(url => url !== home)
    expect(await consume(owner)).toEqual([200, home, other])
    away = ''
    await expect.poll(() => consume(owner), { timeout: 20_000 }).toEqual([200, home])
  }
})

describe('the command', () => {
  const env = { SMS_QUOTA_URL: url, SMS_QUOTA_TOKEN: service.senderToken }

  test('takes several URLs, with commas between them; other commands call the first', async () => {
    const more = 'http://127.0.0.1:1'
    const [child] = await spawnAgent(`${url},${more}`, service.senderToken, [])
    const stopped = once(child, 'exit')
    child.kill()
    expect(await stopped).toEqual([0, null])
    const both = { SMS_QUOTA_URL: `${url}, ${more}`, SMS_QUOTA_TOKEN: service.adminToken }
    expect(await run(['whoami'], { env: both })).toMatchObject({ code: 0 })
  })

  test.each([
    ['--listen 0.0.0.0:8090', 'listens on this machine only'],
    ['--listen quota.example:8090', 'listens on this machine only'],
    ['--url http://127.0.0.1:1,quota', '--url is the address of the service, such as'],
    ['--url http://127.0.0.1:1,', '--url is the address of the service, such as'],
    ['--url http://127.0.0.1:1,http://127.0.0.1:1/', '--url names http://127.0.0.1:1 twice'],
    ['--listen 8090', '--listen is HOST:PORT, such as 127.0.0.1:8090, not "8090"'],
    ['--listen 127.0.0.1:1 --socket /tmp/s', 'not both'],
    ['--allow-with-debt otp', '--allow-with-debt needs --journal FILE'],
    ['--journal /tmp/j', '--journal needs --allow-with-debt'],
    ['--journal /tmp/j --allow-with-debt otp,', '"" is none'],
    ['--list', '--list needs --journal FILE'],
    ['--list --journal /tmp/j --lease all', '--list starts no agent: give it --journal FILE, and no --lease\n'],
    ['--json', '--json needs --list'],
    ['--lease-units 5', '--lease-units needs --lease'],
    ['--lease OTP', '--lease is a list of message types, such as otp,alert, or all; "OTP" is none'],
    ['--lease all --lease-units 0', '--lease-units is a whole number from 1 to 1000000000, not "0"'],
    ['--journal /tmp/j --allow-with-debt all --on-unknown ask', '--on-unknown is charge or release, not "ask"'],
  ])('refuses %s', async (words, message) => {
    const { code, stderr } = await run(['agent', ...words.split(' ')], { env })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
  })

  test('the lines of the document work', async () => {
    const { agent } = await start()
    await service.call('POST', '/api/sms/admin/quota', { body: { user_id: 7, limit: 100 } })
    const lines = await linesOf('docs/agent.md')
    const curls = lines.filter(({ command }) => command.startsWith('curl '))
    expect(curls.map(({ expected }) => expected)).not.toContain(null)
    const starts = lines.filter(({ command }) => command.startsWith('sms-quota agent'))
    expect([curls.length, starts.length, lines.length]).toEqual([2, 6, 8])
    const here = curls.map(line => ({
      ...line,
      command: line.command.replaceAll('http://127.0.0.1:8090', agent.address),
    }))
    const answers = await paste(here, { url })
    for (const [index, { expected }] of curls.entries()) {
      expect(JSON.parse(answers[index] ?? '')).toMatchObject(Object(expected))
    }
    for (const { command } of starts) {
      const words = command
        .replace(/ +#.*/, '')
        .replace('--profile production', `--url ${url}`)
        .replaceAll(/\/(?:run|var\/lib)\/sms-quota/g, folder)
        .replace(/^sms-quota agent(?!.*--(?:listen|socket))/, '$& --listen 127.0.0.1:0')
        .replace('127.0.0.1:8091', '127.0.0.1:0')
      const outcome = await run(words.split(/ +/).slice(1), { env, interruption: AbortSignal.abort })
      expect(outcome, command).toMatchObject({ code: 0, stderr: '' })
      expect(outcome.stdout).toMatch(/^The agent listens at \S+, for the service at \S+(, \S+)?\n$/)
    }
  })

  test('a socket of an agent that was killed is taken over, another file is not', async () => {
    const path = newPath()
    const first = await start({ place: { path } })
    expect((await stat(path)).isSocket()).toBe(true)
    const call = httpRequest({ socketPath: path, path: '/livez', headers: { host: 'agent' } }).end()
    expect((await once(call, 'response'))[0].statusCode).toBe(200)
    await expect(start({ place: { path } })).rejects.toThrow('is open already')
    await first.agent.close()
    const other = { SMS_QUOTA_TOKEN: 't' }
    const refused = await run(['agent', '--socket', join(import.meta.dirname, 'agent.test.ts')], { env: other })
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^sms-quota agent: cannot start: .* is in the way/),
    })
  })
})
