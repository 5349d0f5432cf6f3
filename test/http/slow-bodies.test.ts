/** Bodies that arrive slowly: they take no room of others, and those that are unfinished are bounded. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import Fastify from 'fastify'
import { afterAll, describe, expect, test } from 'vitest'
import { createBodyReader } from '../../src/http/platform/body-reader.ts'
import { parseJsonBodies } from '../../src/http/platform/json-body.ts'
import { problemBody, problemOf } from '../../src/http/platform/problems.ts'
import { closeOf } from '../support/sockets.ts'
import { startSender } from './sender-fixture.ts'

const sockets: Socket[] = []
/** Before the server closes, which waits for their requests. */
const endSockets = () => {
  for (const socket of sockets) socket.destroy()
}

/** Sends the head of a POST, and resolves when the server has accepted it and waits for the body. */
async function beginPost(port: number, path: string, headers: Record<string, string | number>): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  const ofAll = { host: 'test', connection: 'close', 'content-type': 'application/json', expect: '100-continue' }
  const fields = { ...ofAll, ...headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  const [chunk] = await once(socket, 'data')
  expect(String(chunk)).toMatch(/^HTTP\/1\.1 100 /)
  return socket
}

/** The rest of what the server sends until it closes the connection. */
async function restOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('batches that arrive slowly', async () => {
  const { app, ask, allow, someone, senderToken } = await startSender()
  await app.listen({ host: '127.0.0.1', port: 0 })
  afterAll(endSockets)
  const { port } = app.server.address() as AddressInfo

  test('do not keep others from being accepted', async () => {
    const user = someone()
    await allow({ user_id: user, limit: 10 })
    const authorization = `Bearer ${senderToken}`
    for (let n = 0; n < 30; n++) {
      const headers = { authorization, 'content-length': 1_000_000 }
      const socket = await beginPost(port, '/api/sms/sender/quota/batch', headers)
      socket.write('{"operations":[')
    }
    const operations = [{ op: 'consume', user_id: user, id: 'm', units: 1 }]
    const body = JSON.stringify({ operations }).padEnd(100_000)
    expect(await ask('batch', body)).toMatchObject({ status: 200, body: { results: [{ status: 200 }] } })
  })
})

describe('unfinished bodies', async () => {
  const LIMIT = 1_000
  const app = Fastify({ forceCloseConnections: true })
  // Room for three bodies, of which each counts 8 KiB beside its bytes.
  parseJsonBodies(app, createBodyReader(3 * (8 * 1024 + 100)), LIMIT)
  app.post('/echo', { schema: { body: {} } }, async request => ({ echo: request.body }))
  app.setErrorHandler((error, request, reply) => {
    const body = problemBody(problemOf(error, LIMIT), request.id)
    return reply.code(body.status).send(body)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  afterAll(async () => {
    endSockets()
    await app.close()
  })
  const { port } = app.server.address() as AddressInfo
  const begin = () => beginPost(port, '/echo', { 'content-length': 200 })

  test('are bounded: the one that began first is cut, and the others complete', async () => {
    const slow: Socket[] = []
    for (let n = 0; n < 4; n++) {
      const socket = await begin()
      socket.write('"'.padEnd(100, String(n)))
      slow.push(socket)
      // An answer to another request: the server has read what was sent before.
      expect((await app.inject({ method: 'POST', url: '/echo', payload: {} })).statusCode).toBe(200)
    }
    const [first, ...others] = slow
    if (first === undefined) throw new Error('no socket')
    expect(await restOf(first)).toMatch(/^HTTP\/1\.1 503 [\s\S]*connection: close[\s\S]*"code":"overloaded"/i)
    for (const [n, socket] of others.entries()) {
      socket.write('"'.padStart(100, String(n + 1)))
      expect(await restOf(socket)).toMatch(new RegExp(`^HTTP/1\\.1 200 [\\s\\S]*"${String(n + 1).repeat(198)}"}$`))
    }
  })

  test('leave their room when the client goes away', async () => {
    for (let n = 0; n < 8; n++) {
      const socket = await begin()
      socket.write('"'.padEnd(100, 'x'))
      socket.destroy()
      await closeOf(socket)
    }
    const whole = await begin()
    whole.write('"'.padEnd(100, 'x'))
    for (let n = 0; n < 2; n++) (await begin()).write('"')
    whole.write('"'.padStart(100, 'x'))
    expect(await restOf(whole)).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('count whether or not they say their length', async () => {
    const chunked = await beginPost(port, '/echo', { 'transfer-encoding': 'chunked' })
    for (const size of [600, 600]) chunked.write(`${size.toString(16)}\r\n${'1'.repeat(size)}\r\n`)
    expect(await restOf(chunked)).toMatch(/^HTTP\/1\.1 413 /)
    expect((await app.inject({ method: 'POST', url: '/echo', payload: { x: '1'.repeat(LIMIT) } })).statusCode).toBe(413)
  })
})
