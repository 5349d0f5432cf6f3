/** The fake server of `sms-quota-client/testing`. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { createFakeServer as Declared, FakeServer } from '../../client/src/testing.ts'
import { DEFAULT_SEGMENT_RULES } from '../domain/messages/segment-rules.ts'
import { ERRORS, Problem } from '../errors.ts'
import { readBody } from '../http/platform/json-text.ts'
import { problemBody } from '../http/platform/problems.ts'
import { createLedger } from './ledger.ts'
import { type Answer, type Call, createRoutes, type Route } from './routes.ts'

export const createFakeServer: typeof Declared = async ({ now: start, segments } = {}) => {
  const fixed = start === undefined ? null : Date.parse(start)
  if (Number.isNaN(fixed)) throw new RangeError(`now is not a time in RFC 3339: ${start}`)
  let offset = 0
  const now = () => (fixed ?? Date.now()) + offset
  const token = randomUUID()
  const routes = createRoutes(createLedger(now), now, { ...DEFAULT_SEGMENT_RULES, ...segments })

  const server = createServer((request, response) => {
    const requestId = randomUUID()
    answer(request, requestId)
      .catch(error => problemAnswer(error, requestId))
      .then(result => send(response, requestId, result))
  })
  async function answer(request: IncomingMessage, requestId: string): Promise<Answer> {
    const call = await callOf(request, requestId)
    // Clients give up at once, instead of trying until their deadline.
    if (fake.isAway) throw new Problem('unavailable', 'The fake server is away.', { retryAfterSeconds: 3_600 })
    if (request.headers.authorization !== `Bearer ${token}`) {
      throw new Problem('unauthenticated', "The token is not the fake server's.")
    }
    return dispatch(routes, call)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const fake: FakeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    isAway: false,
    advance(ms) {
      offset += ms
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return fake
}

async function callOf(request: IncomingMessage, requestId: string): Promise<Call> {
  const { method = '', headers } = request
  const { pathname: path, searchParams: query } = new URL(request.url ?? '', 'http://fake')
  const body = await text(request)
  const key = headers['idempotency-key']
  return {
    method,
    path,
    query,
    body: body === '' ? undefined : parsedBody(body),
    ifMatch: headers['if-match'],
    idempotencyKey: typeof key === 'string' ? key : undefined,
    requestId,
  }
}

/** @throws Problem `invalid_request` */
function parsedBody(body: string): unknown {
  const read = readBody(body)
  if ('refusal' in read) throw read.refusal
  return read.value
}

function dispatch(routes: readonly Route[], call: Call): Answer {
  for (const { method, path, handle } of routes) {
    const match = method === call.method ? path.exec(call.path) : null
    if (match === null) continue
    const parameters = Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)])
    return handle(call, Object.fromEntries(parameters))
  }
  throw new Problem('not_found', `The fake server does not have ${call.method} ${call.path}.`)
}

function problemAnswer(error: unknown, requestId: string): Answer {
  const problem = problemOf(error)
  const { status } = ERRORS[problem.code]
  return { status, headers: problem.headers, body: problemBody(problem, requestId) }
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem('internal', `The fake server failed: ${error instanceof Error ? error.stack : error}`)
}

function send(response: ServerResponse, requestId: string, { status, headers, body }: Answer): void {
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  response.writeHead(status, {
    'x-request-id': requestId,
    ...(body === undefined ? {} : { 'content-type': `${type}; charset=utf-8` }),
    ...headers,
  })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}
