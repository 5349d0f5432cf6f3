/** Requests at the edges of HTTP: their bytes, their methods, and headers that occur twice. */
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { readDocument } from '../support/fuzz/document.ts'
import { noteIn, watchRoutes } from '../support/routes.ts'
import { startService } from '../support/service.ts'

/** The routes of the server as `METHOD /path`, also those that the OpenAPI document does not have. */
const routes: string[] = []
// The many refusals here are not slowed down.
const service = await watchRoutes(noteIn(routes), () => startService({ env: { AUTH_FAILURES_PER_MINUTE: '0' } }))
const { app, adminToken, senderToken } = service
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo

const QUOTA = '/api/sms/admin/quota'
const CHECK = '/api/sms/sender/quota/check'

/** Calls the listening service. `headers`: names and values in turn, so that a name can occur twice. */
function send(method: string, path: string, headers: string[] = [], body?: Buffer) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers: ['host', 'test', ...headers], agent: false }
    request(options as object, async response => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString()
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text })
    })
      .on('error', reject)
      .end(body)
  })
}

const json = ['content-type', 'application/json']
const bearer = (token: string) => ['authorization', `Bearer ${token}`]
const post = (path: string, body: Buffer, token = adminToken, type = json) =>
  send('POST', path, [...bearer(token), ...type, 'content-length', String(body.length)], body)

const { operations } = readDocument(app.swagger())
const urlOf = (path: string) => path.replaceAll(/\{\w+\}/g, '7')

describe('a path part that is very long', () => {
  const ofParts = operations.filter(({ template }) => template.includes('{'))
  test.each(ofParts)(
    '$method $template is refused as malformed, and only with a token',
    async ({ method, template }) => {
      const [, role] = /^\/api\/sms\/(admin|sender)\//.exec(template) ?? []
      const token = role === undefined ? await service.userToken(7) : role === 'admin' ? adminToken : senderToken
      for (const length of [201, 4_000]) {
        // The user's id may come before the reservation's.
        const url = template.replace(/\{user_id\}(?=.*\{)/, '7').replaceAll(/\{\w+\}/g, '1'.repeat(length))
        const statusWith = async (headers: Record<string, string>) =>
          (await app.inject({ method: method as 'GET', url, headers })).statusCode
        expect([await statusWith({}), await statusWith({ authorization: `Bearer ${token}` })]).toEqual([401, 400])
      }
    },
  )

  test.each(['/nowhere/', '/docs/static/', '/console/assets/', `${QUOTA}/7/`])('%s… does not exist', async prefix => {
    for (const length of [201, 300, 8_000]) {
      const { status, headers } = await send('GET', prefix + 'x'.repeat(length), bearer(adminToken))
      expect([status, headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8'])
    }
  })
})

describe('a path that a proxy may read in another way', () => {
  const encoded = (char: string) => `%${char.charCodeAt(0).toString(16)}`
  const REFUSED = { status: 400, code: 'invalid_request' }
  async function answerTo(method: string, url: string) {
    const { statusCode: status, body } = await app.inject({ method: method as 'GET', url })
    return { status, code: body === '' ? REFUSED.code : JSON.parse(body).code }
  }

  test.each(routes)('%s is refused with a letter of its path percent-encoded', async route => {
    const [method = '', url = ''] = route.split(' ')
    const path = url.replaceAll(/:\w+|\*/g, 'x7')
    for (const [at, char] of [...path].entries()) {
      if (char === '/') continue
      const changed = path.slice(0, at) + encoded(char) + path.slice(at + 1)
      expect({ changed, ...(await answerTo(method, changed)) }).toEqual({ changed, ...REFUSED })
    }
  })

  test.each([
    '/%6detrics',
    '/%6Detrics',
    '/metrics%2e',
    '/%2D',
    '/console/%5F',
    '/x/%7e',
    '/livez%30',
    '/%6detrics?x=%6d',
  ])('%s is refused', async path => {
    const { status, body } = await send('GET', path)
    expect([status, JSON.parse(body)]).toMatchObject([
      400,
      { code: 'invalid_request', detail: expect.stringContaining('percent-encoded') },
    ])
  })

  test.each(['/metrics#x', '/livez#', '/openapi.json#?', '/metrics?#'])(
    '%s has a fragment and is refused',
    async path => {
      const socket = connect(port, '127.0.0.1')
      socket.write(`GET ${path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n`)
      let answer = ''
      for await (const chunk of socket) answer += chunk
      expect(answer.split('\r\n')[0]).toBe('HTTP/1.1 400 Bad Request')
    },
  )

  test('what must be encoded may be, and so may anything in a query', async () => {
    for (const path of ['/api/sms/sender/quota/reservations/7/a%3Ab', `${QUOTA}/list?%75ser_id=%37`]) {
      const token = path.includes('/sender/') ? senderToken : adminToken
      expect((await send('GET', path, bearer(token))).status).toBe(path.includes('/sender/') ? 404 : 200)
    }
  })
})

describe('a body is UTF-8', () => {
  const quota = (name: Buffer) =>
    Buffer.concat([Buffer.from('{"user_id":7,"limit":1,"external_ref":"'), name, Buffer.from('"}')])

  test('text beyond ASCII is read as it was sent', async () => {
    const { status, body } = await post(QUOTA, quota(Buffer.from('é€🎉\ufffd')))
    expect([status, JSON.parse(body).external_ref]).toEqual([201, 'é€🎉\ufffd'])
  })

  test.each([
    ['Latin-1', Buffer.from('é', 'latin1')],
    ['a cut sequence', Buffer.from('€').subarray(0, 2)],
    ['an encoded surrogate', Buffer.from([0xed, 0xa0, 0x80])],
    ['an overlong sequence', Buffer.from([0xc0, 0xaf])],
    ['beyond Unicode', Buffer.from([0xf4, 0x90, 0x80, 0x80])],
  ])('%s is refused and changes nothing', async (_what, bytes) => {
    const count = async () => (await service.db.query({ text: sql`select from quota` })).length
    const before = await count()
    const { status, body } = await post(QUOTA, quota(bytes))
    expect([status, JSON.parse(body).code]).toEqual([400, 'invalid_request'])
    expect(JSON.parse(body).detail).toBe('The body is not valid UTF-8.')
    expect(await count()).toBe(before)
  })

  test('a message in Latin-1 is not priced', async () => {
    const text = Buffer.from('ä'.repeat(160), 'latin1')
    const head = Buffer.from('{"user_id":7,"message":{"to":"+4915112345678","text":"')
    const check = Buffer.concat([head, text, Buffer.from('"}}')])
    expect((await post(CHECK, check, senderToken)).status).toBe(400)
    const batch = Buffer.concat([Buffer.from('{"operations":[{"op":"check",'), check.subarray(1), Buffer.from(']}')])
    expect((await post('/api/sms/sender/quota/batch', batch, senderToken)).status).toBe(400)
  })

  test('a body that is refused by its size is not looked at', async () => {
    const { status } = await post(QUOTA, Buffer.alloc(70_000, 0xff))
    expect(status).toBe(413)
  })
})

describe('the media type', () => {
  const body = Buffer.from('{"user_id":7,"units":1}')
  test.each([
    'application/json',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json; charset="Utf-8"',
    'Application/JSON ; Charset = utf8',
    'application/json; profile="a;b"',
  ])('%s is accepted', async type => {
    expect((await post(CHECK, body, senderToken, ['content-type', type])).status).toBe(200)
  })

  test.each([
    ['application/json; charset=utf-16'],
    ['application/json; charset="UTF-16LE"'],
    ['application/json; CHARSET=iso-8859-1'],
    ['application/json;charset=us-ascii; profile=x'],
    ['application/json; charset=utf-8; charset=utf-16'],
    ['application/json; charset='],
    ['text/plain'],
  ])('%s is 415', async type => {
    for (const path of [CHECK, '/api/sms/sender/quota/batch']) {
      const answer = await post(path, body, senderToken, ['content-type', type])
      expect([answer.status, JSON.parse(answer.body).code]).toEqual([415, 'unsupported_media_type'])
    }
  })

  test('a compressed body is 415', async () => {
    const compressed = await post(CHECK, body, senderToken, [...json, 'content-encoding', 'gzip'])
    expect(compressed.status).toBe(415)
    const plain = await post(CHECK, body, senderToken, [...json, 'content-encoding', 'identity'])
    expect(plain.status).toBe(200)
  })
})

describe('a path or query that is not UTF-8', () => {
  test.each(['%ff', '%C3%28', '%ED%A0%80', '%', '%2'])('the path %s is refused', async part => {
    expect((await send('GET', `${QUOTA}/${part}`, bearer(adminToken))).status).toBe(400)
  })

  test.each([
    ['user_id=7&cursor=%ff', 'cursor'],
    ['user_id=%C3%28', 'user_id'],
    ['sort=%', 'sort'],
    ['%ff=7', '%ff'],
  ])('the query %s is refused by its parameter', async (query, name) => {
    const { status, body } = await send('GET', `${QUOTA}/list?${query}`, bearer(adminToken))
    expect([status, JSON.parse(body).errors]).toEqual([
      400,
      expect.arrayContaining([{ path: name, message: 'must be UTF-8 with percent-encoding' }]),
    ])
  })

  test('a query with bytes that are not encoded is refused', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      let answer = ''
      socket.on('data', chunk => {
        answer += chunk
      })
      socket.on('end', () => resolve(answer))
      socket.on('error', reject)
      socket.write(
        Buffer.from(
          `GET ${QUOTA}/list?sort=é HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${adminToken}\r\nconnection: close\r\n\r\n`,
          'latin1',
        ),
      )
    })
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('a header that counts once', () => {
  test('Authorization is refused if it occurs twice, in any spelling', async () => {
    const other = await service.userToken(7)
    for (const tokens of [
      [adminToken, other],
      [other, adminToken],
      [adminToken, adminToken],
      [adminToken, 'nonsense'],
    ]) {
      const headers = tokens.flatMap((token, index) => [
        index === 0 ? 'Authorization' : 'AUTHORIZATION',
        `Bearer ${token}`,
      ])
      const { status, body } = await send('GET', `${QUOTA}/list`, headers)
      expect([status, JSON.parse(body).code]).toEqual([400, 'invalid_request'])
      expect(JSON.parse(body).errors).toEqual([{ path: '/authorization', message: 'must be sent once' }])
    }
    expect((await send('GET', `${QUOTA}/list`, bearer(adminToken))).status).toBe(200)
  })

  /** What is answered to a request that has all headers of a valid one, and one of them again. */
  async function answerTo(method: string, path: string, again: string) {
    const body = '{"user_id":7,"limit":5}'
    const socket = connect(port, '127.0.0.1')
    const token = path === CHECK ? senderToken : adminToken
    const valid = [
      'Host: test',
      'Content-Type: application/json',
      'Idempotency-Key: k',
      `Authorization: Bearer ${token}`,
    ]
    const headers = [...valid, `Content-Length: ${body.length}`, again, 'Connection: close']
    socket.write(`${method} ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
    let answer = ''
    for await (const chunk of socket) answer += chunk
    const [head = '', text = ''] = answer.split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), text }
  }

  test.each([
    'Host: test',
    'HOST: other.example',
    'host:',
    'Content-Type: application/json',
    'content-type: text/plain',
    'Content-Length: 23',
    'Content-Length: 5',
    'Transfer-Encoding: chunked',
    'Idempotency-Key: k',
    'idempotency-key: other',
  ])('%s again is 400', async again => {
    const { status, text } = await answerTo('POST', QUOTA, again)
    expect([status, text]).toEqual([400, expect.stringContaining('invalid_request')])
  })

  test.each([
    ['GET', '/livez'],
    ['GET', '/readyz'],
    ['GET', '/metrics'],
    ['GET', '/openapi.json'],
    ['GET', '/console/'],
    ['GET', '/nowhere'],
    ['POST', CHECK],
  ])('Host is, on %s %s', async (method, path) => {
    const { status, text } = await answerTo(method, path, 'Host: other.example')
    expect(status).toBe(400)
    expect(text).toContain('"path":"/host"')
  })
})

describe('a method that a path does not have', () => {
  const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
  const cases = [...Map.groupBy(operations, ({ template }) => template)].flatMap(([path, ofPath]) => {
    const has = ofPath.map(({ method }) => method)
    const allowed = [...has, ...(has.includes('GET') ? ['HEAD'] : [])].toSorted()
    return METHODS.filter(method => !has.includes(method)).map(method => [method, path, allowed.join(', ')] as const)
  })

  test.each(cases)('%s %s is 405 with Allow', async (method, path, allowed) => {
    const { statusCode, headers, body } = await app.inject({ method: method as 'GET', url: `${urlOf(path)}?x=1` })
    expect({ status: statusCode, allow: headers.allow }).toEqual({ status: 405, allow: allowed })
    expect(JSON.parse(body)).toMatchObject({ code: 'method_not_allowed', status: 405 })
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': expect.stringMatching(/^application\/problem/),
    })
  })

  test('its body is not looked at', async () => {
    const { status } = await send('PATCH', `${QUOTA}/64`, [...json, 'content-length', '1'], Buffer.from('{'))
    expect(status).toBe(405)
    expect((await post('/nowhere', Buffer.from('{'))).status).toBe(404)
  })

  test('GET routes answer HEAD, others do not', async () => {
    const headers = { authorization: `Bearer ${adminToken}` }
    expect((await app.inject({ method: 'HEAD', url: `${QUOTA}/list`, headers })).statusCode).toBe(200)
    const refused = await app.inject({ method: 'HEAD', url: CHECK, headers })
    expect([refused.statusCode, refused.headers.allow, refused.body]).toEqual([405, 'POST', expect.any(String)])
  })

  test.each([
    ['PUT', `${QUOTA}/list`, 'GET, HEAD'],
    ['DELETE', `${QUOTA}/summary`, 'GET, HEAD'],
    ['POST', '/console/', 'GET, HEAD'],
    ['POST', '/console/quotas/64', 'GET, HEAD'],
    ['DELETE', '/docs/errors', 'GET, HEAD'],
    ['PROPFIND', `${QUOTA}/64`, 'DELETE, GET, HEAD, PUT'],
  ])('%s %s has the methods %s', async (method, path, allowed) => {
    const { status, headers } = await send(method, path)
    expect([status, headers.allow]).toEqual([405, allowed])
  })

  test.each(['/nowhere', '/api/sms/admin/quotas', `${QUOTA}/64/nothing`, '/api/sms/admin'])(
    '%s has none and is 404',
    async path => {
      for (const method of METHODS) expect((await send(method, path)).status).toBe(404)
    },
  )
})
