/** Clients that stop reading or sending: their connections end, and what they held is free for others. */
import { once } from 'node:events'
import { type ClientRequest, IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Queryable } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { addressOf, createListener } from '../../src/http/listener.ts'
import { readLongBody } from '../../src/http/platform/long-bodies.ts'
import { MAX_PIPELINED } from '../../src/http/platform/pipelining.ts'
import { createSlowDown } from '../../src/http/platform/slow-down.ts'
import { startService } from '../support/service.ts'
import { closeOf } from '../support/sockets.ts'

const STALL_MS = 400

/** A server that answers with `handler`, and a client's connection to it. */
async function startListener(handler: Parameters<ReturnType<typeof createListener>['serve']>[0], stallMs = STALL_MS) {
  const listener = createListener(undefined, { stallMs })
  await listener.listen('127.0.0.1', 0)
  listener.serve(handler, createSlowDown(0))
  const socket = connect(Number(new URL(addressOf(listener).url).port), '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(async () => {
    socket.destroy()
    await listener.close()
  })
  return { listener, socket }
}

const GET = 'GET / HTTP/1.1\r\nhost: test\r\n\r\n'

function* endless() {
  for (;;) yield 'x'.repeat(64 * 1024)
}

test('a response that the client stops reading ends', async () => {
  const { socket } = await startListener((_request, response) => {
    const source = Readable.from(endless())
    source.pipe(response)
    response.once('close', () => {
      source.destroy()
      ended.resolve()
    })
  })
  const ended = Promise.withResolvers<void>()
  socket.pause()
  socket.write(GET)
  await ended.promise
})

test('a response that the service has yet to send does not end', async () => {
  const { listener, socket } = await startListener((_request, response) => {
    once(listener.server, 'timeout').then(() => response.end('late'))
  })
  socket.write(GET)
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toContain('late')
})

test('a connection with too many requests that wait for answers is closed, and the rest is not handled', async () => {
  const waiting: (() => void)[] = []
  const { listener, socket } = await startListener((_request, response) => {
    waiting.push(() => response.end('ok'))
  }, 60_000)
  const answerAll = () => {
    for (const end of waiting.splice(0)) end()
  }
  let text = ''
  socket.on('data', chunk => {
    text += chunk
  })
  for (let round = 1; round <= 3; round++) {
    socket.write(GET.repeat(MAX_PIPELINED))
    await expect.poll(() => waiting.length).toBe(MAX_PIPELINED)
    answerAll()
    await expect.poll(() => text.match(/HTTP\/1\.1 200/g)?.length).toBe(round * MAX_PIPELINED)
  }
  socket.write(GET.repeat(1_500))
  await closeOf(socket)
  expect(waiting).toHaveLength(MAX_PIPELINED)

  const health = connect((listener.server.address() as AddressInfo).port, '127.0.0.1')
  health.on('error', () => {})
  let answered = 0
  listener.server.on('request', (_request, response) => response.once('finish', () => answered++))
  health.write('GET /livez HTTP/1.1\r\nhost: test\r\n\r\n'.repeat(1_500))
  await closeOf(health.resume())
  expect(answered).toBeLessThanOrEqual(MAX_PIPELINED)
})

test('a request whose body is not read to its end is answered, and counts as answered', async () => {
  let answered = 0
  const { socket } = await startListener(async (incoming, response) => {
    // As a loop over a body that ends early leaves the request behind: without its socket.
    for await (const chunk of incoming) if (chunk.length > 0) break
    expect(incoming.socket).toBeNull()
    response.once('close', () => answered++)
    response.end('ok')
  }, 60_000)
  for (let call = 1; call <= MAX_PIPELINED + 1; call++) {
    socket.write('POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 1\r\n\r\n1')
    await expect.poll(() => answered, { interval: 1 }).toBe(call)
  }
})

test('a connection that is idle between requests ends by its own limit', async () => {
  const { listener, socket } = await startListener((_request, response) => response.end('ok'), 60_000)
  Object.assign(listener.server, { keepAliveTimeout: 10, keepAliveTimeoutBuffer: 0 })
  socket.write(GET)
  socket.resume()
  await closeOf(socket)
})

test('a body that comes a byte now and then ends', async () => {
  const received: { bytes: number; isWhole: boolean }[] = []
  const { socket } = await startListener(async (incoming, response) => {
    const body = { bytes: 0, isWhole: false }
    received.push(body)
    try {
      for await (const chunk of readLongBody(incoming, incoming, STALL_MS)) body.bytes += chunk.length
      body.isWhole = true
    } catch {
      // The connection is closed.
    }
    response.end(String(body.bytes))
  })
  socket.write('POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 1000000\r\n\r\n')
  const dribble = setInterval(() => socket.write(' '), STALL_MS / 8)
  await closeOf(socket)
  clearInterval(dribble)
  expect(received).toEqual([{ bytes: expect.any(Number), isWhole: false }])
})

test.each([
  { size: 1_024, everyMs: STALL_MS - 1, ended: false },
  { size: 128, everyMs: STALL_MS / 8 - 1, ended: false },
  { size: 1, everyMs: STALL_MS / 8, ended: true },
  { size: 128, everyMs: STALL_MS / 8 + 1, ended: true },
])('a body with $size bytes every $everyMs ms is ended: $ended', async ({ size, everyMs, ended }) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const socket = new Socket()
  async function* parts() {
    for (let n = 0; n < 40 && !socket.destroyed; n++) {
      vi.advanceTimersByTime(everyMs)
      yield Buffer.alloc(size)
    }
  }
  for await (const _chunk of readLongBody(new IncomingMessage(socket), parts(), STALL_MS));
  expect(socket.destroyed).toBe(ended)
})

test('readers that stop hold their slots no longer than that', async () => {
  const { app, call, db, token } = await startService({ stallMs: STALL_MS })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const rows = Array.from({ length: 1_200 }, (_, n) => JSON.stringify({ user_id: n + 1, external_ref: 'A', limit: 5 }))
  const headers = { 'content-type': 'application/x-ndjson' }
  await call('POST', '/api/sms/admin/quota/import', { body: rows.join('\n'), headers })
  // More than the buffers between the two can hold.
  await db.query({ text: sql`update quota set metadata = jsonb_build_object('x', repeat('y', 10000))` })

  const path = '/api/sms/admin/export/quotas'
  const tokens = await Promise.all([1, 2, 3].map(n => token({ sub: `auditor-${n}`, roles: ['sms-quota:auditor'] })))
  const beginExport = async (bearer: string): Promise<IncomingMessage> => {
    const opened = request(`${url}${path}`, { agent: false, headers: { authorization: `Bearer ${bearer}` } })
    opened.on('error', () => {})
    opened.end()
    const [answer] = await once(opened, 'response')
    answer.on('error', () => {})
    return answer
  }
  const statusesOf = (answers: readonly IncomingMessage[]) => answers.map(({ statusCode }) => statusCode).toSorted()
  const stalled = await Promise.all([...tokens, ...tokens].map(beginExport))
  expect(statusesOf(stalled)).toEqual([200, 200, 200, 200, 200, 503])

  const tryAgain = async () => {
    const answers = await Promise.all([...tokens, ...tokens].slice(1).map(beginExport))
    for (const answer of answers) answer.destroy()
    return statusesOf(answers)
  }
  await expect.poll(tryAgain, { timeout: 20_000 }).toEqual([200, 200, 200, 200, 200])
  for (const answer of stalled) answer.destroy()
})

test('callers who are gone before their calls begin hold no slots', async () => {
  const { app, call, db, adminToken } = await startService()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const { body: plan } = await call('POST', '/api/sms/admin/plans', {
    body: { name: 'A', slots: [{ slot: 'a', limit: 1 }] },
  })
  const path = `/api/sms/admin/plans/${plan.id}/roll-out`
  const headersOf = (key: string) => ({ 'content-type': 'application/json', 'idempotency-key': key })
  const body = { users: [7] }
  for (const key of ['1', '2', '3']) {
    await db.transaction(async tx => {
      // The call waits for the plan before it begins.
      await tx.query({ text: sql`lock table plan` })
      const headers = { ...headersOf(key), authorization: `Bearer ${adminToken}` }
      const opened = request(`${url}${path}`, { method: 'POST', agent: false, headers })
      opened.on('error', () => {})
      const gone = once(app.server, 'request').then(([, response]) => once(response, 'close'))
      opened.end(JSON.stringify(body))
      await expect.poll(() => waitsForLock(tx)).toBe(true)
      opened.destroy()
      await gone
    })
  }
  const answer = await call('POST', path, { body, headers: headersOf('4') })
  expect(answer.status).toBe(200)
  expect(String(answer.body)).toContain('"record":"end"')
})

async function waitsForLock(tx: Queryable): Promise<boolean> {
  const text = sql`select 1 from pg_locks where relation = 'plan'::regclass and not granted`
  return (await tx.query({ text })).length > 0
}

test('an import that sends a byte now and then ends', async () => {
  const { app, adminToken } = await startService({ stallMs: STALL_MS })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const opened: ClientRequest = request(`${url}/api/sms/admin/quota/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/x-ndjson' },
  })
  opened.on('error', () => {})
  opened.flushHeaders()
  const dribble = setInterval(() => opened.write('\n'), STALL_MS / 8)
  await new Promise(resolve => opened.once('close', resolve))
  clearInterval(dribble)
})
