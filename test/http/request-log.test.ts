import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { lockUndeletedQuotas } from '../../src/db/users/erasure.ts'
import { whenDone } from '../support/cleanup.ts'
import { openTransaction } from '../support/engine.ts'
import { type ServiceOptions, startService } from '../support/service.ts'
import { closeOf } from '../support/sockets.ts'

type Line = Record<string, unknown>

/** A service, and the lines of its log. */
async function startLogged(env: Record<string, string> = {}, options: Pick<ServiceOptions, 'connectTimeout'> = {}) {
  const lines: Line[] = []
  const service = await startService({ ...options, env, onLogLine: line => lines.push(JSON.parse(line)) })
  return { ...service, lines, answered: () => lines.filter(({ msg }) => msg === 'http: request answered') }
}

const LIST = '/api/sms/admin/quota/list'
const ADMIN_QUOTA = '/api/sms/admin/quota'
const RESERVE = '/api/sms/sender/quota/reserve'

describe('a line', async () => {
  const { app, call, answered, lines, ...service } = await startLogged()

  test('says who called what from where, and how it was answered', async () => {
    lines.length = 0
    await call('GET', `${LIST}?user_id=4711`, { headers: { 'x-request-id': 'mine' } })
    expect(answered()).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        request_id: 'mine',
        method: 'GET',
        route: LIST,
        status: 200,
        ms: expect.any(Number),
        subject: '1',
        client: '127.0.0.1',
        msg: 'http: request answered',
      },
    ])
  })

  test('of a refusal has its code, and the subject if the token is valid', async () => {
    lines.length = 0
    await call('GET', LIST, { token: null })
    await call('GET', LIST, { token: service.senderToken })
    await call('GET', `${ADMIN_QUOTA}/7?x=1`)
    expect(answered()).toMatchObject([
      { status: 401, code: 'unauthenticated' },
      { status: 403, code: 'forbidden' },
      { status: 400, code: 'invalid_request', route: `${ADMIN_QUOTA}/:id`, subject: '1' },
    ])
  })

  test('is written for refused calls of senders, and not for their results', async () => {
    lines.length = 0
    const token = service.senderToken
    await call('POST', RESERVE, { token, body: { user_id: 7, id: 'm', units: 1 } })
    await call('POST', '/api/sms/sender/quota/commit', { token, body: { user_id: 7, id: 'none' } })
    expect(lines).toEqual([])
    await call('POST', RESERVE, { token, body: { user_id: 7, id: 'm', units: 0 } })
    expect(answered()).toMatchObject([
      { status: 400, code: 'invalid_request', subject: 'gateway', client: '127.0.0.1' },
    ])
  })

  test('holds no token, query, id of a path, body or part of a message', async () => {
    lines.length = 0
    const message = { to: '+4915112345678', text: 'geheim' }
    await call('POST', RESERVE, { token: service.senderToken, body: { user_id: 7, id: 'geheim', message, units: 1 } })
    await call('POST', RESERVE, { token: service.senderToken, body: '{"geheim' })
    await call('GET', `${LIST}?name=geheim&wrong=geheim`, { headers: { 'x-geheim': 'geheim' } })
    await call('GET', LIST, { token: `${service.adminToken}x` })
    await call('GET', `${ADMIN_QUOTA}/999123/geheim`)
    await app.inject({ method: 'GET', url: '/api/geheim?geheim=1' })
    expect(answered()).toHaveLength(6)
    const text = JSON.stringify(lines)
    expect(text).not.toMatch(/geheim|4915112345678|999123/)
    for (const token of [service.senderToken, service.adminToken]) {
      for (const part of token.split('.')) expect(text).not.toContain(part)
    }
  })

  test('is written for a request that is not valid HTTP', async () => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    lines.length = 0
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.end('geheim\r\n\r\n').resume()
    await closeOf(socket)
    const expected = { client: '127.0.0.1', reason: expect.stringMatching(/^HPE_/) }
    expect(lines).toMatchObject([{ ...expected, msg: 'http: broken request refused' }])
    expect(JSON.stringify(lines)).not.toContain('geheim')
  })
})

test('floods of refusals leave ten lines a second and code, and the number of the others', async () => {
  const { app, call, lines, answered } = await startLogged()
  const begin = performance.now()
  for (let n = 0; n < 300; n++) await call('GET', LIST, { token: null })
  for (let n = 0; n < 30; n++) await app.inject({ url: '/console/config.json' })
  await call('GET', LIST)
  const seconds = Math.ceil((performance.now() - begin) / 1_000) + 1
  await app.close()
  const of = (code: string | undefined) => answered().filter(line => line.code === code)
  expect(of('unauthenticated').length).toBeGreaterThanOrEqual(10)
  expect(of('unauthenticated').length).toBeLessThanOrEqual(10 * seconds)
  const leftOut = lines.find(({ msg }) => msg === 'http: lines left out')?.left_out as Record<string, number>
  expect(of('unauthenticated').length + (leftOut.unauthenticated ?? 0)).toBe(300)
  // Answers to calls without a token are sampled, those of principals are not.
  expect(of(undefined).length + (leftOut.without_token ?? 0)).toBe(31)
  expect(of(undefined).at(-1)).toMatchObject({ route: LIST, subject: '1' })
})

test.each([
  ['prefix', '192.0.2.7', '192.0.2.0/24'],
  ['prefix', '2001:db8:1:2::3', '2001:db8:1::/48'],
  ['off', '192.0.2.7', undefined],
])('with LOG_CLIENT_ADDRESS=%s the address %s is logged as %s', async (mode, remoteAddress, shown) => {
  const { app, answered } = await startLogged({ LOG_CLIENT_ADDRESS: mode })
  await app.inject({ method: 'GET', url: '/console/config.json', remoteAddress })
  expect(answered().map(({ client }) => client)).toEqual([shown])
})

describe('a call that the database cannot serve now', async () => {
  const {
    call,
    lines,
    answered,
    senderToken: token,
    db,
    databaseUrl,
  } = await startLogged({ DATABASE_POOL_SIZE: '1' }, { connectTimeout: 500 })
  const own = openDatabase({ url: databaseUrl, idleTransactionTimeout: 0 })
  whenDone(() => own.close())
  const unserved = () => lines.filter(({ msg }) => msg === 'http: call not served')
  const consume = (user: number) => ({ op: 'consume', user_id: user, id: 'm', units: 1 })
  const { op: _, ...single } = consume(70)
  const locked = {
    level: 40,
    reason: expect.stringMatching(/lock timeout \(55P03\)$/),
    request_id: expect.any(String),
  }

  test('of senders says why at warning, sampled, while a table is locked', async () => {
    const lock = await openTransaction(own, tx => tx.query({ text: sql`lock table quota in access exclusive mode` }))
    lines.length = 0
    const sends = [1, 2, 3].map(() => call('POST', '/api/sms/sender/quota/consume', { token, body: single }))
    const batch = { operations: Array.from({ length: 40 }, (_, n) => consume(n)) }
    const [many, ...one] = await Promise.all([
      call('POST', '/api/sms/sender/quota/batch', { token, body: batch }),
      ...sends,
    ])
    await lock.commit()
    expect(one.map(({ status }) => status)).toEqual([503, 503, 503])
    expect(new Set(many.body.results.map(({ status }: { status: number }) => status))).toEqual(new Set([503]))
    expect(unserved()).not.toEqual([])
    for (const line of unserved()) expect(line).toMatchObject(locked)
    expect(unserved().length).toBeLessThan(10)
    expect(lines.filter(({ level }) => Number(level) > 40)).toEqual([])
  })

  test('of senders says why while rows of the user are locked', async () => {
    await call('POST', ADMIN_QUOTA, { body: { user_id: 71, limit: 5 } })
    const lock = await openTransaction(own, tx => lockUndeletedQuotas(tx, 71))
    lines.length = 0
    const body = { ...single, user_id: 71 }
    expect((await call('POST', '/api/sms/sender/quota/consume', { token, body })).status).toBe(503)
    await lock.commit()
    expect(unserved()).toMatchObject([{ ...locked, route: '/api/sms/sender/quota/consume' }])
  })

  test('of people is overloaded while all their connections are in use, counted, and no failure in the log', async () => {
    const count = async () => {
      const { body } = await call('GET', '/metrics')
      return Number(/^sms_quota_problems_total\{code="overloaded"\} (\d+)$/m.exec(body)?.[1])
    }
    const before = await count()
    const held = await openTransaction(db, async () => {})
    lines.length = 0
    const answers = await Promise.all(
      [1, 2, 3].map(() => call('POST', ADMIN_QUOTA, { body: { user_id: 72, limit: 1 } })),
    )
    await held.commit()
    for (const { status, headers, body } of answers) {
      expect({ status, retry: headers['retry-after'], code: body.code }).toEqual({
        status: 503,
        retry: '1',
        code: 'overloaded',
      })
      expect(body.detail).toMatch(/connections .* in use.*repeat the call/)
    }
    expect((await count()) - before).toBe(3)
    const refused = answered().filter(({ code }) => code === 'overloaded')
    expect(refused).toMatchObject(answers.map(() => ({ level: 30, status: 503 })))
    expect(lines.filter(({ level }) => Number(level) > 30)).toEqual([])
    expect((await call('POST', ADMIN_QUOTA, { body: { user_id: 72, limit: 1 } })).status).toBe(201)
  })
})

test('callers who go away are no failures of the service', async () => {
  const { app, adminToken, lines, call } = await startLogged()
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const begun = once(app.server, 'request')
  socket.write(
    `POST ${ADMIN_QUOTA}/import HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${adminToken}\r\n` +
      'content-type: application/x-ndjson\r\ncontent-length: 1000\r\n\r\n{',
  )
  const [incoming, response] = await begun
  incoming.once('data', () => socket.destroy())
  await once(response, 'close')
  // The call that broke off has come to its end before this one does.
  await call('GET', LIST)
  expect(lines.filter(({ level }) => Number(level) > 40)).toEqual([])
})
