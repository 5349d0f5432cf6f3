import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { startService } from '../support/service.ts'
import { closeOf } from '../support/sockets.ts'

const { call, userToken, adminToken } = await startService({ rateLimitPerMinute: 3 })

test.each([
  ['user', '/api/sms/quota/list', await userToken(7)],
  ['user', '/api/sms/quota/summary', await userToken(8)],
  ['admin', '/api/sms/admin/quota/list', adminToken],
])('%s path %s: too many calls of one principal are 429, without effect on others', async (_who, url, token) => {
  for (let n = 0; n < 3; n++) expect((await call('GET', url, { token })).status).toBe(200)
  const refused = await call('GET', url, { token })
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await call('GET', '/api/sms/quota/list', { token: await userToken(99) })).status).not.toBe(429)
})

test.each([
  ['GET', '/api/sms/admin/quota/summary?user_id=1', undefined],
  ['GET', '/api/sms/admin/quota/64', undefined],
  ['POST', '/api/sms/admin/quota', { user_id: 1, limit: 1 }],
  ['PUT', '/api/sms/admin/quota/64', {}],
  ['DELETE', '/api/sms/admin/quota/64', undefined],
])('%s %s counts against the limit', async (method, url, body) => {
  expect((await call(method, url, { body })).status).toBe(429)
})

test('a call above the limit is refused before its body is looked at', async () => {
  const token = await userToken(5)
  for (let n = 0; n < 3; n++) await call('GET', '/api/sms/quota/list', { token })
  expect((await call('POST', '/api/sms/admin/quota', { body: '{"user_id":' })).status).toBe(429)
  const headers = { 'content-type': 'text/plain' }
  expect((await call('POST', '/api/sms/admin/quota', { body: 'x', headers })).status).toBe(429)
})

describe('invalid tokens from one address', async () => {
  const LIST = '/api/sms/quota/list'
  const CHECK = '/api/sms/sender/quota/check'
  const { app, ...limited } = await startService({ env: { AUTH_FAILURES_PER_MINUTE: '3' } })
  const known = await limited.userToken(7)
  const unknown = await limited.userToken(8)
  let count = 0

  /** A call from an address; without a token, with another invalid one each time. */
  async function from(remoteAddress: string, token = `invalid-${++count}`, url = LIST) {
    const headers = { authorization: `Bearer ${token}` }
    const method = url === CHECK ? 'POST' : 'GET'
    const answer = await app.inject({ method, url, headers, remoteAddress })
    return { status: answer.statusCode, retryAfter: answer.headers['retry-after'], ...answer.json() }
  }

  test('are limited: no further token is verified, and known ones are accepted', async () => {
    expect((await from('192.0.2.1', known)).status).toBe(200)
    for (let n = 0; n < 3; n++) expect((await from('192.0.2.1')).status).toBe(401)
    for (const token of [undefined, unknown]) {
      expect(await from('192.0.2.1', token)).toMatchObject({ status: 429, code: 'rate_limited', retryAfter: '20' })
    }
    expect((await from('192.0.2.1', limited.senderToken, CHECK)).status).toBe(429)
    expect((await from('192.0.2.1', known)).status).toBe(200)
    // A call without a token costs no verification.
    const { statusCode } = await app.inject({ method: 'GET', url: LIST, remoteAddress: '192.0.2.1' })
    expect(statusCode).toBe(401)
    expect((await from('192.0.2.2', unknown)).status).toBe(200)
  })

  test('are counted by the first 64 bits of IPv6', async () => {
    for (let n = 0; n < 3; n++) expect((await from(`2001:db8::${n}`)).status).toBe(401)
    expect((await from('2001:db8::abcd:1')).status).toBe(429)
    expect((await from('2001:db8:0:1::1')).status).toBe(401)
  })

  test('do not count while the key server is away: none of them is known to be invalid', async () => {
    const provider = {
      AUTH_JWKS_URL: 'http://127.0.0.1:9/keys',
      AUTH_ISSUER: 'https://id.example',
      AUTH_AUDIENCE: 'sms',
    }
    const { app: away } = await startService({ env: { ...provider, AUTH_SECRET: '', AUTH_FAILURES_PER_MINUTE: '3' } })
    const [header, payload] = [{ alg: 'ES256', kid: 'k' }, { sub: '7' }].map(part =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    )
    const statuses: number[] = []
    for (let n = 0; n < 5; n++) {
      const headers = { authorization: `Bearer ${header}.${payload}.${String(n).padStart(86, 'A')}` }
      statuses.push((await away.inject({ url: LIST, headers, remoteAddress: '192.0.2.4' })).statusCode)
    }
    expect(statuses).toEqual(Array(5).fill(503))
  })

  test('do not count if they are valid', async () => {
    for (let user = 20; user < 26; user++) {
      expect((await from('192.0.2.3', await limited.userToken(user))).status).toBe(200)
    }
    expect((await from('192.0.2.3')).status).toBe(401)
  })
})

test('connections above MAX_CONNECTIONS are closed at once, and the others stay', async () => {
  const { app } = await startService({ env: { MAX_CONNECTIONS: '10' } })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const open = async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return socket
  }
  const sockets = []
  for (let n = 0; n < 10; n++) sockets.push(await open())
  const further = await open()
  further.resume()
  await closeOf(further)
  const [first] = sockets
  first?.write('GET /livez HTTP/1.1\r\nhost: test\r\n\r\n')
  expect(String((await once(first ?? further, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
  for (const socket of sockets) socket.destroy()
})
