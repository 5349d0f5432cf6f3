import { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pino from 'pino'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { OPTIONAL, SENDER_OPS } from '../../src/contract/sender.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import type { Command, Outcome } from '../../src/domain/units/command.ts'
import type { Reservation } from '../../src/domain/units/reservation.ts'
import { Closed, Overloaded, Unavailable } from '../../src/engine/completion.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createFeed } from '../../src/events/feed.ts'
import { createAuthenticator } from '../../src/http/auth/authenticator.ts'
import { createSenderUsers } from '../../src/http/auth/sender-users.ts'
import { mintToken } from '../../src/http/auth/tokens.ts'
import { createListener } from '../../src/http/listener.ts'
import type { UserReferences } from '../../src/http/references/references.ts'
import { createServer } from '../../src/http/server.ts'
import { createMetrics } from '../../src/metrics.ts'
import { createAnswerCheck } from '../support/openapi-check.ts'
import { PLAIN } from '../support/secrets.ts'
import { SENDER } from './sender-fixture.ts'

/** How each outcome is answered. The engine is a stub that returns the outcome of the test. */
let outcome: Outcome | Error
const commands: Command[] = []
const engine: Pick<Engine, 'enqueue' | 'hasRoom'> = {
  hasRoom: () => true,
  enqueue(command, caller) {
    commands.push(command)
    if (outcome instanceof Error) caller.reject(outcome)
    else caller.resolve(outcome)
  },
}

const logged: string[] = []
const sink = new Writable({
  write(line, _encoding, done) {
    logged.push(String(line))
    done()
  },
})

const secret = 'a secret for tests only, long enough for HS256'
const url = 'postgresql://127.0.0.1:1/never'
const loaded = loadConfig({ AUTH_SECRET: secret, DATABASE_URL: url })
if ('issues' in loaded) throw new Error('the configuration of the tests is wrong')
const db = openDatabase({ url })
const references: UserReferences = { recall: () => undefined, find: async () => undefined }
const app = await createServer({
  db,
  engine,
  references,
  senderUsers: createSenderUsers({ references, db, now: Date.now, settings: loaded.config }),
  pauses: { known: new Map(), read: async () => {} },
  feed: createFeed(db),
  webhooks: {
    test: async () => ({ delivered: false, response_code: null, error: null, answer: null }),
    allowPrivate: false,
    canMail: false,
    userMail: null,
  },
  addressCodes: null,
  secretKeys: PLAIN,
  now: Date.now,
  log: pino({ level: 'info' }, sink),
  metrics: createMetrics(),
  metricsPage: null,
  authenticator: await createAuthenticator(loaded.config, { now: Date.now, log: { info() {}, error() {} } }),
  listener: createListener(),
  settings: loaded.config,
  exportSlots: { hold() {} },
  oidc: null,
})
await app.ready()
afterAll(() => db.close())
const check = createAnswerCheck(app.swagger())
const token = await mintToken({
  ...loaded.config.auth,
  secret,
  userId: null,
  subject: 'gateway',
  roles: ['sms-quota:sender', 'sms-quota:force'],
  ttlSeconds: 3600,
  now: Date.now(),
})

async function ask(op: string, payload: object) {
  const headers = { authorization: `Bearer ${token}`, 'x-request-id': 'request-1' }
  const answer = await app.inject({ method: 'POST', url: `${SENDER}/${op}`, headers, payload })
  check('POST', `${SENDER}/${op}`, answer.statusCode, String(answer.headers['content-type']), answer.body)
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
}

beforeEach(() => {
  commands.length = 0
  logged.length = 0
})

describe('null', () => {
  const required: Record<string, object> = {
    check: { user_id: 7, units: 1 },
    reserve: { user_id: 7, id: 'm', units: 1 },
    consume: { user_id: 7, id: 'm', units: 1 },
    commit: { user_id: 7, id: 'm' },
    release: { user_id: 7, id: 'm' },
    refund: { user_id: 7, id: 'm' },
    feedback: { user_id: 7, id: 'm', verified: true },
  }

  test.each(SENDER_OPS)('for any optional field of %s is as if it was not given', async op => {
    outcome = new Unavailable()
    // Of these, each request needs one.
    const { units: _units, user_id: _user, ...nulls } = Object.fromEntries([...OPTIONAL[op]].map(name => [name, null]))
    expect(Object.keys(nulls).length).toBeGreaterThan(0)
    await ask(op, required[op] ?? {})
    await ask(op, { ...required[op], ...nulls })
    await ask('batch', { operations: [{ op, ...required[op], ...nulls }] })
    expect(commands).toHaveLength(3)
    expect(commands[1]).toEqual(commands[0])
    expect(commands[2]).toEqual(commands[0])
  })

  test('for units is as if they were not given, with a message', async () => {
    outcome = new Unavailable()
    await ask('check', { user_id: 7, units: null, country: null, message: { to: '+4915112345678', text: 'x' } })
    expect(commands).toMatchObject([{ units: 1, country: 'DE' }])
  })
})

const at = Date.parse('2026-03-15T12:00:00.000Z')
const reservation: Reservation = {
  user_id: 7,
  id: 'm',
  op: 'reserve',
  asked: 9,
  country: null,
  message_type: null,
  allow_partial: true,
  force: false,
  would_deny: null,
  units: 5,
  committed: 2,
  released: 1,
  refunded: 1,
  on_expiry: 'release',
  expired: false,
  verified: false,
  draws: [
    { quota_id: 64, kind: 'grant', window_no: 3, window_start: at, from: 0, to: 3 },
    { quota_id: 192, kind: 'cap', window_no: 0, window_start: at + 1, from: 0, to: 5 },
  ],
  created_at: at,
  expires_at: at + 600_000,
}
const view = {
  id: 'm',
  user_id: 7,
  state: 'reserved',
  units: 5,
  committed: 2,
  released: 1,
  refunded: 1,
  unfunded: 2,
  segments: null,
  rate: null,
  verified: false,
  draws: [
    { quota_id: 64, kind: 'grant', units: 3, window_start: '2026-03-15T12:00:00.000Z' },
    { quota_id: 192, kind: 'cap', units: 5, window_start: '2026-03-15T12:00:00.001Z' },
  ],
  expires_at: '2026-03-15T12:10:00.000Z',
}
const granted = {
  outcome: 'granted',
  reservation,
  remaining: null,
  replayed: false,
  would_deny: null,
  explanation: null,
} as const
const explanation = [{ quota_id: 64, kind: 'grant', verdict: 'draws', units: 3 } as const]
const denied = {
  outcome: 'denied',
  reason: 'cap_reached',
  remaining: 4,
  limiting_quota_id: 192,
  retry_at: at,
  explanation: null,
} as const
const deniedView = {
  granted: false,
  reason: 'cap_reached',
  remaining: 4,
  limiting_quota_id: 192,
  retry_at: '2026-03-15T12:00:00.000Z',
}
const problem = (status: number, code: string, members: object = {}) => ({ status, code, ...members })

const REQUESTS: Record<string, object> = {
  check: { user_id: 7, units: 9, explain: true },
  reserve: { user_id: 7, id: 'm', units: 9 },
  commit: { user_id: 7, id: 'm', total_units: 6 },
  refund: { user_id: 7, id: 'm', total_units: 6 },
  feedback: { user_id: 7, id: 'm', verified: true },
}

/** Operation, outcome → status, body. */
// biome-ignore format: one case per line.
const OUTCOMES: [string, Outcome | Error, number, object][] = [
  ['reserve', granted, 200, { granted: true, ...view, remaining: null, replayed: false }],
  ['reserve', { ...granted, replayed: true, remaining: 0 }, 200, { granted: true, ...view, remaining: 0, replayed: true }],
  ['reserve', { ...granted, would_deny: 'no_quota', explanation }, 200, { granted: true, ...view, remaining: null, replayed: false, would_deny: 'no_quota', explain: explanation }],
  ['reserve', { ...granted, reservation: { ...reservation, released: 3 } }, 200, { granted: true, ...view, state: 'committed', released: 3, expires_at: null, remaining: null, replayed: false }],
  ['check', granted, 200, { granted: true, user_id: 7, units: 5, unfunded: 2, draws: view.draws, remaining: null }],
  ['check', { ...granted, would_deny: 'no_quota', explanation }, 200, { granted: true, user_id: 7, units: 5, unfunded: 2, draws: view.draws, remaining: null, would_deny: 'no_quota', explain: explanation }],
  ['reserve', denied, 200, deniedView],
  // Explained for the log of denials, and not asked for by the sender.
  ['reserve', { ...denied, explanation }, 200, deniedView],
  ['check', { ...denied, limiting_quota_id: null, retry_at: null, explanation }, 200, { ...deniedView, limiting_quota_id: null, retry_at: null, explain: explanation }],
  ['commit', { outcome: 'settled', reservation, replayed: false }, 200, { ...view, replayed: false }],
  ['commit', { outcome: 'settled', reservation, replayed: true }, 200, { ...view, replayed: true }],
  ['feedback', { outcome: 'settled', reservation: { ...reservation, verified: true }, replayed: true }, 200, { ...view, verified: true, replayed: true }],
  ['commit', { outcome: 'not_found' }, 404, problem(404, 'not_found', { detail: 'User 7 has no reservation "m".' })],
  ['reserve', { outcome: 'idempotency_mismatch', fields: ['op', 'units'] }, 409, problem(409, 'idempotency_mismatch', { errors: [{ path: '/op', message: 'differs' }, { path: '/units', message: 'differs' }] })],
  ['commit', { outcome: 'reservation_closed', reservation, detail: 'Too late.' }, 409, problem(409, 'reservation_closed', { detail: 'Too late.', reservation: view })],
  ['commit', { outcome: 'exceeds_reservation', reservation }, 422, problem(422, 'exceeds_reservation', { detail: 'The reservation holds 5 units, and total_units is 6.', reservation: view })],
  ['refund', { outcome: 'exceeds_committed', reservation }, 422, problem(422, 'exceeds_committed', { detail: '2 of 5 units are committed so far, and total_units is 6.', reservation: view })],
  ['reserve', new Overloaded('full'), 503, problem(503, 'overloaded', { detail: 'Too many calls of this sender are waiting. Nothing was done; repeat the call.' })],
  ['reserve', new Unavailable(), 503, problem(503, 'unavailable', { detail: 'The database cannot decide this now. The call may or may not have taken effect; repeat the call.' })],
  ['reserve', new Closed('closing'), 503, problem(503, 'unavailable', { detail: 'The service is stopping. Nothing was done; repeat the call.' })],
  ['reserve', new Error('an unexpected failure'), 500, problem(500, 'internal', { detail: 'The service failed unexpectedly.' })],
]

test.each(OUTCOMES)('%s: %o is answered with %i', async (op, next, status, body) => {
  outcome = next
  const answer = await ask(op, REQUESTS[op] ?? {})
  expect(answer.status).toBe(status)
  // The main fields of a problem; all fields of a success.
  if (status === 200) expect(answer.body).toEqual(body)
  else expect(answer.body).toMatchObject(body)
  expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined)

  const { body: batch } = await ask('batch', { operations: [{ op, ...REQUESTS[op] }] })
  expect(batch.results).toEqual([{ status, body: answer.body }])
})

test('omitted fields get their defaults, and the others arrive as they were sent', async () => {
  outcome = granted
  const all = { country: 'DE', message_type: 'otp', explain: true, ttl_seconds: 5, on_expiry: 'commit' } as const
  await ask('check', { user_id: 0, units: 1 })
  await ask('consume', { user_id: 7, id: 'm', units: 2, ...all, allow_partial: true, force: true })
  await ask('reserve', { user_id: 7, id: 'm', message: { to: '+4915112345678', text: 'я'.repeat(71) } })
  outcome = { outcome: 'settled', reservation, replayed: false }
  await ask('refund', { user_id: 7, id: 'm' })
  await ask('commit', { user_id: 7, id: 'm', total_units: 0, force: true, messages: 3, verified: true })
  await ask('feedback', { user_id: 7, id: 'm', verified: true })
  const defaults = {
    country: null,
    message_type: null,
    ttl_ms: 600_000,
    on_expiry: 'release',
    allow_partial: false,
    force: false,
    explain: false,
  }
  const { ttl_seconds: _seconds, ...kept } = all
  const expected = [
    { op: 'check', user_id: 0, id: '', units: 1, ...defaults },
    { op: 'consume', user_id: 7, id: 'm', units: 2, ...kept, ttl_ms: 5_000, allow_partial: true, force: true },
    {
      op: 'reserve',
      user_id: 7,
      id: 'm',
      units: 2,
      segments: 2,
      ...defaults,
      country: 'DE',
      recipient: '+4915112345678',
    },
    { op: 'refund', user_id: 7, id: 'm', total_units: null, force: false, verified: false },
    { op: 'commit', user_id: 7, id: 'm', total_units: 0, force: true, messages: 3, verified: true },
    { op: 'feedback', user_id: 7, id: 'm' },
  ]
  const origin = { principal: 'gateway', requestId: 'request-1' }
  expect(commands).toEqual(expected.map(command => ({ ...command, origin })))
})

test('all operations of a batch are submitted before the first outcome, in order', async () => {
  const tell: (() => void)[] = []
  const { enqueue } = engine
  engine.enqueue = (command, caller) => {
    tell.push(() => caller.resolve({ ...denied, remaining: Number(command.id) }))
  }
  const answer = ask('batch', { operations: ['1', '2', '3'].map(id => ({ op: 'reserve', user_id: 7, id, units: 1 })) })
  while (tell.length === 0) await nextTurn()
  expect(tell).toHaveLength(3)
  for (const place of [1, 2, 0]) tell[place]?.()
  const { body } = await answer
  expect(body.results).toEqual([1, 2, 3].map(remaining => ({ status: 200, body: { ...deniedView, remaining } })))
  engine.enqueue = enqueue
})

describe('the log', () => {
  test('has no line per granted call and no part of a message, but unexpected failures', async () => {
    logged.length = 0
    const message = { to: '+4915112345678', text: 'geheim' }
    outcome = granted
    await ask('reserve', { user_id: 7, id: 'm', message })
    expect(logged).toEqual([])
    outcome = new Overloaded('full')
    await ask('reserve', { user_id: 7, id: 'm', message })
    await ask('check', { user_id: 7, message: { ...message, to: 'geheim' } })
    outcome = new Error('an unexpected failure')
    await ask('reserve', { user_id: 7, id: 'm', message })
    await ask('batch', { operations: [{ op: 'reserve', user_id: 7, id: 'm', message }] })
    const errors = logged.map(line => JSON.parse(line)).filter(({ level }) => level === 50)
    expect(errors).toHaveLength(2)
    for (const line of errors) expect(line).toMatchObject({ request_id: 'request-1' })
    expect(logged.join('')).not.toMatch(/geheim|4915112345678/)
  })

  // This test must be the last: it stops the service.
  test('summarizes the responses, at the latest when the service stops', async () => {
    outcome = denied
    for (let n = 0; n < 3; n++) await ask('check', { user_id: 7, units: 1 })
    await app.close()
    const lines = logged.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'http: sender requests answered')
    expect(lines).toEqual([expect.objectContaining({ ms_mean: expect.any(Number), ms_max: expect.any(Number) })])
    expect(lines[0].statuses['200']).toBeGreaterThanOrEqual(3)
  })
})
