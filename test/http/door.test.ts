/** The door beside Node.js alone: the same bytes are the same requests, in any pieces, and the same answers. */
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { setImmediate as nextTick } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { TakePlainCall } from '../../src/http/door/connection.ts'
import { createDoor } from '../../src/http/door/door.ts'
import { pieces } from '../support/door-bytes.ts'
import { urlOf } from '../support/listening.ts'
import { runs } from '../support/runs.ts'
import { type Service, startService } from '../support/service.ts'
import { closeOf } from '../support/sockets.ts'

/** What a server took for a request. */
interface Seen {
  readonly url: string
  readonly authorization: string | undefined
  readonly requestId: string | undefined
  readonly length: string | undefined
}

const LIMITS = { idleMs: 72_000, stallMs: 30_000, isTls: false }

/**
 * A server that answers each request with what it took it for, and notes that. What follows an answer after which the connection closes
 * is not noted: whether Node.js still reads it depends on how much arrives at once.
 */
function startEcho(hasDoor: boolean, ownTake?: TakePlainCall) {
  const seen: Seen[] = []
  let plain = 0
  let waiting: (() => void)[] = []
  let before = 0
  // All at once, when no more come: so that some connections fill up.
  function answerAll() {
    if (waiting.length > before) {
      before = waiting.length
      setImmediate(setImmediate, answerAll)
      return
    }
    const answers = waiting.toReversed()
    waiting = []
    before = 0
    for (const answer of answers) answer()
  }
  const closing = new WeakSet<object>()
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const { host, authorization, 'x-request-id': id, 'content-length': length } = request.headers
    // Without a host, Node.js closes by default; after another version it may.
    if (host === undefined || request.httpVersion !== '1.1') response.shouldKeepAlive = false
    if (!closing.has(request.socket))
      seen.push({
        url: `${request.method} ${request.url}${host === undefined ? ' without host' : ''}`,
        authorization,
        requestId: id?.toString(),
        length,
      })
    if (!response.shouldKeepAlive) closing.add(request.socket)
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => response.end(Buffer.concat(chunks)))
  })
  const door = hasDoor ? createDoor(server, LIMITS) : undefined
  const take: TakePlainCall = ({ head, body }, answer) => {
    plain += 1
    const { operation, reservation, authorization, requestId, contentLength } = head
    const path = reservation === undefined ? operation : `reservations/${reservation.user_id}/${reservation.id}`
    seen.push({
      url: `${reservation === undefined ? 'POST' : 'GET'} /api/sms/sender/quota/${path}`,
      authorization,
      requestId,
      length: reservation === undefined ? String(contentLength) : undefined,
    })
    const text = body.toString('latin1')
    if (waiting.push(() => answer(200, '', text)) === 1) setImmediate(answerAll)
    return true
  }
  door?.open(ownTake ?? take)
  return { server, seen, plain: () => plain }
}

/** Ends what is unfinished: no body and no head is longer, and no request begins like this. */
const FILLER = Buffer.alloc(80 * 1024, '\u0001')

/** Sends pieces to a server, each in a turn of its own, and reads until the server closes the connection. */
async function send(url: string, parts: readonly Buffer[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  let text = ''
  socket.setEncoding('latin1').on('data', chunk => {
    text += chunk
  })
  for (const part of [...parts, FILLER]) {
    if (socket.destroyed) break
    socket.write(part)
    await nextTick()
  }
  await closed
  return text
}

/** For a search over a longer time: DOOR_SECONDS=1800 */
const { DOOR_SECONDS } = process.env
const SEARCH =
  DOOR_SECONDS === undefined
    ? { numRuns: runs(600) }
    : { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: Number(DOOR_SECONDS) * 1_000 }

test('the same bytes are the same requests', { timeout: 60_000 + Number(DOOR_SECONDS ?? 0) * 2_000 }, async () => {
  const [door, node] = [startEcho(true), startEcho(false)]
  const [doorUrl, nodeUrl] = [await urlOf(door.server), await urlOf(node.server)]
  await fc.assert(
    fc.asyncProperty(pieces, async parts => {
      door.seen.length = 0
      node.seen.length = 0
      await Promise.all([send(doorUrl, parts), send(nodeUrl, parts)])
      expect(door.seen).toEqual(node.seen)
    }),
    SEARCH,
  )
  expect(door.plain()).toBeGreaterThan(100)
})

const PLAIN =
  'POST /api/sms/sender/quota/check HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'

test('a server that closes ends what is idle, and closeAllConnections the rest', async () => {
  const { server } = startEcho(true)
  const url = await urlOf(server)
  const idle = connect(Number(new URL(url).port), '127.0.0.1')
  idle.write(PLAIN)
  await once(idle, 'data')
  const stubborn = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
  stubborn.on('error', () => {}).write('POST')
  await once(server, 'connection')
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  await once(idle, 'close')
  server.closeAllConnections()
  await closed
  stubborn.destroy()
})

test('a client that has sent all gets what Node.js answers a request that is not plain', async () => {
  const { server, seen } = startEcho(true, async ({ socket }) => {
    await once(socket, 'end')
    throw new Error('refused')
  })
  const socket = connect({ port: Number(new URL(await urlOf(server)).port), host: '127.0.0.1', allowHalfOpen: true })
  socket.end(PLAIN)
  let text = ''
  for await (const chunk of socket.setEncoding('latin1')) text += chunk
  expect(seen.map(({ url }) => url)).toEqual(['POST /api/sms/sender/quota/check'])
  expect(text).toMatch(/^HTTP\/1\.1 200 /)
})

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterAll(() => agent.destroy())

interface Call {
  operation: string
  /** Left out: it is read. */
  body?: unknown
  token?: keyof Awaited<ReturnType<typeof tokensOf>>
  headers?: Record<string, string>
}

async function tokensOf({ adminToken, token }: Service) {
  const roles = ['sms-quota:sender']
  const sender = await token({ sub: 'gateway', roles: [...roles, 'sms-quota:force'], sms_users: '*' })
  const plain = await token({ sub: 'plain', roles, sms_users: '*' })
  const bounded = await token({ sub: 'bounded', roles, sms_users: [8] })
  return { sender, admin: adminToken, plain, bounded, forged: `${sender.slice(0, -4)}AAAA` }
}

/** Two services in the same state, with the door and without it. */
async function startPair() {
  const both = await Promise.all(
    [true, false].map(async hasDoor => {
      const lines: string[] = []
      const env = { SENDER_DOOR: String(hasDoor), AUTH_SENDER_USERS_CLAIM: 'sms_users' }
      const service = await startService({ env, onLogLine: line => lines.push(line) })
      for (const user_id of [7, 8]) {
        const body = { user_id, limit: 5, period: 'month' }
        expect((await service.call('POST', '/api/sms/admin/quota', { body })).status).toBe(201)
      }
      const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
      return { service, lines, url, tokens: await tokensOf(service) }
    }),
  )
  return {
    both,
    answers: (call: Call) => Promise.all(both.map(({ url, tokens }) => answerTo(url, tokens, call))),
  }
}

/** An answer without what differs each time. The framework closes a connection after a body that it could not read, the door does not. */
async function answerTo(
  url: string,
  tokens: Awaited<ReturnType<typeof tokensOf>>,
  { operation, body, token = 'sender', headers = {} }: Call,
) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const sent = request(`${url}/api/sms/sender/quota/${operation}`, {
    method: text === undefined ? 'GET' : 'POST',
    agent,
    headers: {
      authorization: `Bearer ${tokens[token]}`,
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...headers,
    },
  })
  const [response]: IncomingMessage[] = await once(sent.end(text), 'response')
  let answer = ''
  for await (const chunk of response?.setEncoding('utf8') ?? []) answer += chunk
  const { date, connection: _ends, 'keep-alive': _time, 'x-request-id': id, ...others } = response?.headers ?? {}
  expect(date).toMatch(/ GMT$/)
  const own = headers['x-request-id'] === id ? 'own' : 'made'
  return { status: response?.statusCode, headers: others, id: own, body: answer.replaceAll(String(id), 'ID') }
}

const MESSAGE = { to: '+4915112345678', text: 'Häuser kosten 5 €' }

/** In turn, each on what those before have left. */
const CALLS: readonly Call[] = [
  { operation: 'check', body: { user_id: 7, units: 1 } },
  { operation: 'reserve', body: { user_id: 7, id: 'a', units: 2 } },
  { operation: 'reserve', body: { user_id: 7, id: 'a', units: 2 }, headers: { 'x-request-id': 'mine' } },
  { operation: 'reserve', body: { user_id: 7, id: 'a', units: 3 } },
  { operation: 'reserve', body: { user_id: 7, id: 'b', units: 9, explain: true } },
  { operation: 'commit', body: { user_id: 7, id: 'a', total_units: 1 } },
  { operation: 'commit', body: { user_id: 7, id: 'a', total_units: 9 } },
  { operation: 'release', body: { user_id: 7, id: 'a' } },
  { operation: 'refund', body: { user_id: 7, id: 'a', total_units: 1 }, headers: { 'x-request-id': 'refunded' } },
  { operation: 'refund', body: { user_id: 7, id: 'none' } },
  { operation: 'reservations/7/a' },
  { operation: 'reservations/7/a', headers: { 'content-type': 'application/json', 'x-request-id': 'mine' } },
  { operation: 'reservations/7/none' },
  { operation: 'reservations/7/a', token: 'bounded' },
  { operation: 'reservations/7/a', token: 'admin' },
  { operation: 'reservations/7/a', token: 'forged' },
  { operation: 'reservations/9007199254740993/a' },
  { operation: 'reservations/07/a' },
  { operation: 'reservations/7/.' },
  { operation: 'reservations/7/a?x=1' },
  { operation: 'feedback', body: { user_id: 7, id: 'a' } },
  { operation: 'consume', body: { user_id: 8, id: 'ü', message: MESSAGE } },
  { operation: 'consume', body: { user_id: 8, id: 'f', units: 99, force: true } },
  { operation: 'consume', body: { user_id: 8, id: 'g', units: 1, force: true }, token: 'plain' },
  { operation: 'reserve', body: { user_id: 7, id: 'c', units: 1 }, token: 'bounded' },
  { operation: 'reserve', body: { user_id: 7, id: 'c', units: 1 }, token: 'admin' },
  { operation: 'reserve', body: { user_id: 7, id: 'c', units: 1 }, token: 'forged' },
  { operation: 'reserve', body: { user_ref: 'unknown', id: 'c', units: 1 } },
  { operation: 'reserve', body: { user_id: 7, id: 'd', units: '1', more: true } },
  { operation: 'reserve', body: { user_id: 7, id: null, units: null } },
  { operation: 'reserve', body: '{"user_id":7,"user_id":8,"id":"e","units":1}' },
  { operation: 'reserve', body: '\ufeff{"user_id":7,"id":"bom","units":1}' },
  { operation: 'reserve', body: '{"user_id":7' },
  { operation: 'reserve', body: ' ' },
  { operation: 'reserve', body: `{"user_id":7,"id":"x"${' '.repeat(70_000)}}` },
  { operation: 'reserve', body: { user_id: 7, id: 'h', units: 1 }, headers: { 'content-type': 'text/plain' } },
  { operation: 'reserve', body: { user_id: 7, id: 'i', units: 1 }, headers: { 'content-encoding': 'gzip' } },
  { operation: 'reserve', body: { user_id: 7, id: 'j', units: 1 }, headers: { 'x-request-id': 'not valid' } },
  { operation: 'batch', body: { operations: [{ op: 'check', user_id: 7, units: 1 }] } },
  { operation: 'nothing', body: { user_id: 7 } },
]

const COUNTED = /^sms_quota_(?:http_requests_total|problems_total|http_request_duration_seconds_count).*$/gm

describe('an answer is the same as without the door', async () => {
  const pair = await startPair()

  const statuses = new Set<number | undefined>()

  test.each(CALLS)('$operation $token $headers $body', async call => {
    const [door, node] = await pair.answers(call)
    expect(door).toEqual(node)
    statuses.add(door?.status)
  })

  test('of each status that senders are answered', () => {
    expect([...statuses].toSorted()).toEqual([200, 400, 401, 403, 404, 409, 413, 415, 422])
  })

  test('and so are the log and the metrics', async () => {
    const [door, node] = await Promise.all(
      pair.both.map(async ({ service, lines }) => {
        const { body } = await service.call('GET', '/metrics', { token: null })
        const logged = lines.flatMap(line => {
          const { time: _time, ms: _ms, request_id: _id, ...others } = JSON.parse(line)
          return others.msg === 'http: request answered' ? [others] : []
        })
        return { counted: String(body).match(COUNTED)?.toSorted(), logged }
      }),
    )
    expect(door?.counted?.length).toBeGreaterThan(5)
    expect(door?.logged.length).toBeGreaterThan(5)
    expect(door).toEqual(node)
  })
})

test('an invalid token counts once, also if its client does not wait for the answer', async () => {
  const { app, senderToken } = await startService({ env: { SENDER_DOOR: 'true', AUTH_FAILURES_PER_MINUTE: '4' } })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  let forged = 0
  const forge = () => `Bearer ${senderToken.slice(0, -6)}AAAA${forged++}A`
  const statusOf = async () => {
    const headers = { authorization: forge(), 'content-type': 'application/json' }
    const { status } = await fetch(`${url}/api/sms/sender/quota/check`, { method: 'POST', headers, body: '{}' })
    return status
  }
  const statuses = [await statusOf()]
  for (let n = 0; n < 2; n++) {
    app.server.once('connection', socket => socket.once('data', () => socket.destroy()))
    const gone = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
    gone.write(PLAIN.replace('Authorization: a', `Authorization: ${forge()}`))
    await closeOf(gone)
  }
  expect([...statuses, await statusOf(), await statusOf()]).toEqual([401, 401, 429])
})
