/** Clients that send what is no HTTP, stop in the midst of it, or are gone. Sockets, because `inject` sends well-formed requests only. */
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { expect, test } from 'vitest'
import { createCertificate } from '../support/certificate.ts'
import { startService } from '../support/service.ts'

const QUOTA = '/api/sms/admin/quota'
const log: string[] = []
const env = { SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') }
const service = await startService({ env, onLogLine: line => log.push(line) })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })
/** A service whose timeouts a test shortens. */
const hasty = await startService()
const POST = `POST ${QUOTA} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.adminToken}\r\ncontent-type: application/json\r\n`

function connectTo(url: string): Socket {
  const { hostname, port } = new URL(url)
  // A URL has brackets around an IPv6 address, which not every resolver accepts.
  return connect(Number(port), hostname.replace(/^\[|\]$/g, ''))
}

/** Sends bytes and returns everything received until the service closes the connection. */
async function send(url: string, bytes: string): Promise<string> {
  const socket = connectTo(url)
  socket.write(bytes)
  return text(socket)
}

function expectProblem(answer: string, status: number, code: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(head).toMatch(/^content-type: application\/problem\+json/im)
  expect(head).toMatch(/^connection: close$/im)
  const [, requestId] = /^x-request-id: (.*)$/im.exec(head) ?? []
  expect(JSON.parse(body)).toMatchObject({ status, code, request_id: requestId })
}

test.each([
  ['garbage', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n'],
  ['a header section that is too large', `GET /livez HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['a header without a colon', 'GET /livez HTTP/1.1\r\nhost x\r\n\r\n'],
  ['two lengths', `${POST}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
  ['a length and chunks', `${POST}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
  ['a chunk without a size', `${POST}transfer-encoding: chunked\r\n\r\nxyz\r\n`],
])('%s: 400, and the connection is closed', async (_what, bytes) => {
  expectProblem(await send(url, bytes), 400, 'invalid_request')
})

test('HEAD is answered without a body, also if its headers are too large', async () => {
  const answer = await send(url, `HEAD /livez HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\n$/)
})

test('a header section or a body that never ends times out', async () => {
  const { server } = hasty.app
  expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000 })
  Object.assign(server, { headersTimeout: 200, requestTimeout: 400 })
  const url = await hasty.app.listen({ port: 0, host: '127.0.0.1' })
  const post = POST.replace(service.adminToken, hasty.adminToken)
  const begin = Date.now()
  const answers = await Promise.all([send(url, post), send(url, `${post}content-length: 100\r\n\r\n{`)])
  for (const answer of answers) expectProblem(answer, 400, 'invalid_request')
  expect(Date.now() - begin).toBeLessThan(20_000)
})

// Browsers open connections ahead. What comes on one before its first request would be taken for the answer to it.
test.each(['HTTP', 'HTTPS'])('a connection of %s that has sent nothing is closed without an answer', async scheme => {
  const expiresAt = Date.UTC(2090, 0, 1)
  const certificate =
    scheme === 'HTTP' ? undefined : { options: createCertificate('localhost', expiresAt), expiresAt, version: '1' }
  const lines: string[] = []
  const { app } = await startService({ onLogLine: line => lines.push(line), ...(certificate && { certificate }) })
  Object.assign(app.server, { headersTimeout: 200 })
  const { hostname: host, port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const place = { host, port: Number(port), rejectUnauthorized: false }
  const open = () => (certificate === undefined ? connect(place) : connectTls(place))
  expect(await text(open())).toBe('')
  const begun = open()
  begun.write('GET /livez HT')
  expectProblem(await text(begun), 400, 'invalid_request')
  expect(lines.filter(line => line.includes('ERR_HTTP'))).toHaveLength(1)
})

test('a body that is too large is answered before its end', async () => {
  const socket = connectTo(url)
  socket.write(`${POST}transfer-encoding: chunked\r\n\r\n`)
  const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`
  const sending = setInterval(() => socket.writable && socket.write(chunk), 1)
  let answer = ''
  socket.setEncoding('utf8').on('data', text => {
    clearInterval(sending)
    answer += text
  })
  // A chunk sent after the service closed the connection fails with EPIPE; the answer was received before that.
  socket.on('error', () => {})
  await new Promise(resolve => socket.once('close', resolve))
  clearInterval(sending)
  expectProblem(answer, 413, 'payload_too_large')
})

test('a client that resets its connection leaves the service ready', async () => {
  const socket = connectTo(url)
  await new Promise(resolve => socket.write(`${POST}content-length: 100\r\n\r\n{`, resolve))
  socket.resetAndDestroy()
  expect((await service.call('GET', '/readyz')).status).toBe(200)
})

test('malformed requests affect no other request and log no error', async () => {
  expect((await service.call('GET', `${QUOTA}/list`)).body.total).toBe(0)
  expect(log.length).toBeGreaterThan(0)
  expect(log.filter(line => /^\{"level":[456]0/.test(line))).toEqual([])
})
