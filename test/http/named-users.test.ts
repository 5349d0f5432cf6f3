/** Users that are named by a reference in place of an id: in bodies of senders, in paths, and in queries. */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOfReference } from '../../src/domain/basics/shard.ts'
import { readDocument } from '../support/fuzz/document.ts'
import { SENDER, startSender } from './sender-fixture.ts'

const logged: string[] = []
const service = await startSender({
  env: { AUTH_SENDER_USERS_CLAIM: 'users' },
  onLogLine: line => logged.push(line),
})
const { app, call, allow, db, someone } = service
const ADMIN = '/api/sms/admin'
const { operations } = readDocument(app.swagger())

const all = await service.token({ sub: 'gateway', roles: ['sms-quota:sender', 'sms-quota:force'], users: '*' })
const ask = (op: string, body: unknown, token = all) => call('POST', `${SENDER}/${op}`, { token, body })

/** A user with a reference, and 100 units. */
async function named(ref?: string): Promise<{ user: number; ref: string }> {
  const user = someone()
  const given = ref ?? `ref-${user}`
  const { status } = await call('PUT', `${ADMIN}/users/${user}/profile`, { body: { ref: given } })
  expect(status).toBe(200)
  await allow({ user_id: user, limit: 100 })
  return { user, ref: given }
}

describe('a sender names a user by reference', () => {
  test('in each operation, and the answers carry both', async () => {
    const { user, ref } = await named()
    const both = { user_id: user, user_ref: ref }
    expect((await ask('check', { user_ref: ref, units: 1 })).body).toMatchObject({ granted: true, ...both })
    const reserved = await ask('reserve', { user_ref: ref, id: 'm', units: 5, explain: true })
    expect(reserved.body).toMatchObject({ granted: true, ...both, remaining: 95 })
    expect((await ask('commit', { user_ref: ref, id: 'm', total_units: 3 })).body).toMatchObject({
      ...both,
      committed: 3,
    })
    expect((await ask('release', { user_ref: ref, id: 'm' })).body).toMatchObject({ ...both, released: 2 })
    expect((await ask('refund', { user_ref: ref, id: 'm', total_units: 1 })).body).toMatchObject({
      ...both,
      refunded: 1,
    })
    expect((await ask('consume', { user_ref: ref, id: 'n', units: 1 })).body).toMatchObject({ granted: true, ...both })
    expect((await ask('reserve', { user_ref: ref, id: 'o', units: 500 })).body).toMatchObject({
      granted: false,
      ...both,
    })
    const closed = await ask('release', { user_ref: ref, id: 'n' })
    expect(closed.body).toMatchObject({ code: 'reservation_closed', reservation: both })
  })

  test('and by id, of the same message', async () => {
    const { user, ref } = await named()
    await ask('reserve', { user_ref: ref, id: 'm', units: 5 })
    const repeated = await ask('reserve', { user_id: user, id: 'm', units: 5 })
    expect(repeated.body).toMatchObject({ granted: true, replayed: true, user_id: user })
    expect(repeated.body).not.toHaveProperty('user_ref')
  })

  test.each([
    [{ units: 1 }, { path: '/user_id', message: 'is required, unless user_ref names the user' }],
    [
      { user_id: null, user_ref: null, units: 1 },
      { path: '/user_id', message: 'is required, unless user_ref names the user' },
    ],
    [
      { user_id: 7, user_ref: 'a', units: 1 },
      { path: '/user_ref', message: 'is not accepted together with user_id, which names the user already' },
    ],
  ])('and not otherwise: %j', async (body, issue) => {
    const { status, body: problem } = await ask('check', body)
    expect([status, problem.code, problem.errors]).toEqual([400, 'invalid_request', [issue]])
    const batch = await ask('batch', { operations: [{ op: 'check', ...body }] })
    expect(batch.body.results).toMatchObject([{ status: 400, body: { errors: [issue] } }])
  })

  test.each(['', 'a b', 'x'.repeat(129), 'a\u0000b'])('and not by %j', async ref => {
    const { status, body } = await ask('check', { user_ref: ref, units: 1 })
    expect([status, body.errors[0].path]).toEqual([400, '/user_ref'])
    const batch = await ask('batch', { operations: [{ op: 'check', user_ref: ref, units: 1 }] })
    expect(batch.body.results[0].status).toBe(400)
  })

  test('that no user has', async () => {
    for (const op of ['check', 'reserve', 'consume', 'commit', 'release', 'refund', 'feedback']) {
      const units = ['check', 'reserve', 'consume'].includes(op) ? { units: 1 } : {}
      const body = {
        user_ref: 'no-user',
        ...(op === 'check' ? {} : { id: 'm' }),
        ...units,
        ...(op === 'feedback' ? { verified: true } : {}),
      }
      const { status, body: problem } = await ask(op, body)
      expect([op, status, problem.code]).toEqual([op, 404, 'unknown_user'])
    }
    const rows = await db.query({ text: sql`select from user_ref where ref = 'no-user'` })
    expect(rows).toEqual([])
  })

  test('that is given to a user right after', async () => {
    expect((await ask('check', { user_ref: 'soon', units: 1 })).status).toBe(404)
    const { user } = await named('soon')
    expect((await ask('check', { user_ref: 'soon', units: 1 })).body).toMatchObject({ granted: true, user_id: user })
  })
})

test('operations of a batch take effect in their order, however they name their user', async () => {
  const { user, ref } = await named()
  const { ref: other } = await named()
  const { body } = await ask('batch', {
    operations: [
      { op: 'reserve', user_ref: ref, id: 'a', units: 60 },
      { op: 'reserve', user_id: user, id: 'b', units: 60 },
      { op: 'release', user_id: user, id: 'a' },
      { op: 'consume', user_ref: ref, id: 'b', units: 60 },
      { op: 'consume', user_ref: 'no-user', id: 'x', units: 1 },
      { op: 'consume', user_ref: other, id: 'y', units: 1 },
    ],
  })
  expect(body.results).toMatchObject([
    { status: 200, body: { granted: true, user_id: user, user_ref: ref } },
    { status: 200, body: { granted: false } },
    { status: 200, body: { released: 60 } },
    { status: 200, body: { granted: true, user_ref: ref, remaining: 40 } },
    { status: 404, body: { code: 'unknown_user' } },
    { status: 200, body: { granted: true, user_ref: other } },
  ])
})

test('a token for some users does not learn of others whether a reference is one', async () => {
  const [own, foreign] = [await named(), await named()]
  const bounded = await service.token({ sub: 'partner', roles: ['sms-quota:sender'], users: [own.user] })
  expect((await ask('check', { user_ref: own.ref, units: 1 }, bounded)).body).toMatchObject({ user_id: own.user })
  // This process remembers the reference.
  expect((await ask('check', { user_ref: foreign.ref, units: 1 })).status).toBe(200)
  const problems: unknown[] = []
  for (const ref of [foreign.ref, 'no-user']) {
    const refused = await ask('consume', { user_ref: ref, id: 'm', units: 1 }, bounded)
    const inBatch = await ask('batch', { operations: [{ op: 'check', user_ref: ref, units: 1 }] }, bounded)
    const inPath = await call('GET', `${SENDER}/reservations/ref:${ref}/m`, { token: bounded })
    const inQuery = await call('GET', `${SENDER}/reservations?user_ref=${ref}`, { token: bounded })
    const bodies = [refused.body, inBatch.body.results[0].body, inPath.body, inQuery.body]
    expect(bodies.map(({ code }) => code)).toEqual(Array(4).fill('forbidden'))
    problems.push(bodies.map(({ request_id: _, ...body }) => body))
  }
  expect(problems[0]).toEqual(problems[1])
  expect(JSON.stringify(problems)).not.toContain(String(foreign.user))
})

describe('a path takes a reference', () => {
  test('on each route that has a user in it', async () => {
    const { user, ref } = await named('a/b?c#d%e+f&g:7')
    await ask('consume', { user_id: user, id: 'm', units: 1 })
    const routes = operations.flatMap(({ method, template }) =>
      template.includes('{user_id}') ? [[method, template] as const] : [],
    )
    expect(routes.length).toBeGreaterThanOrEqual(8)
    for (const [method, path] of routes.toSorted(([one]) => (one === 'DELETE' ? 1 : -1))) {
      const token = path.startsWith('/api/sms/sender/') ? all : service.adminToken
      const urlOf = (part: string) => path.replace('{user_id}', part).replace('{id}', 'm')
      const options = { token, ...(method === 'PUT' ? { body: { name: 'Ann' } } : {}) }
      const byId = await call(method, urlOf(String(user)), options)
      const byRef = await call(method, urlOf(`ref:${encodeURIComponent(ref)}`), options)
      const unknown = await call(method, urlOf('ref:no-user'), options)
      expect([method, path, byRef.status]).toEqual([method, path, byId.status])
      const { request_id: _, ...expected } = byId.body
      if (typeof byRef.body === 'object') expect(byRef.body).toMatchObject(expected)
      expect([method, path, unknown.status, unknown.body.code]).toEqual([method, path, 404, 'unknown_user'])
      const wrong = await call(method, urlOf('ref:a%20b'), options)
      expect([method, path, wrong.status, wrong.body.errors?.[0].path]).toEqual([method, path, 400, 'user_id'])
    }
  })

  test('and the answer to a sender carries both', async () => {
    const { user, ref } = await named()
    await ask('consume', { user_id: user, id: 'm', units: 1 })
    const { body } = await call('GET', `${SENDER}/reservations/ref:${ref}/m`, { token: all })
    expect(body).toMatchObject({ user_id: user, user_ref: ref, committed: 1 })
  })

  test('only from callers who may use the route', async () => {
    const { ref } = await named()
    for (const token of [all, await service.userToken(7), null]) {
      const { status } = await call('GET', `${ADMIN}/users/ref:${ref}`, { token })
      expect(status).toBe(token === null ? 401 : 403)
    }
  })
})

test('each query and body that has a user takes a reference', async () => {
  const { user, ref } = await named()
  await ask('consume', { user_id: user, id: 'm', units: 1 })
  const period = 'from=2026-03-01T00:00:00Z&to=2026-03-16T00:00:00Z'
  const reads = operations.filter(
    ({ method, parameters }) =>
      method === 'GET' && parameters.some(({ in: part, name }) => part === 'query' && name === 'user_id'),
  )
  expect(reads.length).toBeGreaterThanOrEqual(10)
  for (const { template: path, parameters } of reads) {
    expect([path, parameters.some(({ name }) => name === 'user_ref')]).toEqual([path, true])
    const further = path.includes('/usage') ? `&${period}${path.includes('/export/') ? '' : '&interval=day'}` : ''
    const token = path.startsWith('/api/sms/sender/') ? all : service.adminToken
    const get = (query: string) => call('GET', `${path}?${query}${further}`, { token })
    const [byId, byRef] = [await get(`user_id=${user}`), await get(`user_ref=${ref}`)]
    const { next_cursor: _one, ...expected } = byId.body
    expect([path, byId.status]).toEqual([path, 200])
    expect([path, byRef.status]).toEqual([path, 200])
    if (typeof byRef.body === 'object') expect(byRef.body).toMatchObject(expected)
    const unknown = await get('user_ref=no-user')
    expect([path, unknown.status, unknown.body.code]).toEqual([path, 404, 'unknown_user'])
    const both = await get(`user_ref=${ref}&user_id=${user}`)
    expect([path, both.status]).toEqual([path, 400])
    expect((await get('user_ref=a%20b')).status).toBe(400)
  }
  const made = await call('POST', `${ADMIN}/quota`, { body: { user_ref: ref, limit: 5 } })
  expect([made.status, made.body.user_id]).toEqual([201, user])
  const checked = await call('POST', `${ADMIN}/quota/check`, { body: { user_ref: ref, units: 1 } })
  expect(checked.body).toMatchObject({ granted: true, user_id: user, user_ref: ref })
  for (const path of ['', '/check']) {
    const body = path === '' ? { limit: 5 } : { units: 1 }
    const unknown = await call('POST', `${ADMIN}/quota${path}`, { body: { ...body, user_ref: 'no-user' } })
    expect([unknown.status, unknown.body.code]).toEqual([404, 'unknown_user'])
    const both = await call('POST', `${ADMIN}/quota${path}`, { body: { ...body, user_ref: ref, user_id: user } })
    expect([both.status, both.body.errors[0].path]).toEqual([400, '/user_ref'])
  }
})

test('no log line and no metric has a reference', async () => {
  const { ref } = await named('SecretReference')
  await ask('check', { user_ref: ref, units: 1 })
  await ask('check', { user_ref: 'SecretUnknown', units: 1 })
  await call('GET', `${ADMIN}/users/ref:${ref}`)
  await call('GET', `${ADMIN}/quota/list?user_ref=${ref}`)
  const metrics = await app.inject('/metrics')
  for (const text of [metrics.body, logged.join('\n')]) expect(text).not.toMatch(/Secret(?:Reference|Unknown)/)
})

test('references are found by the key of their table', async () => {
  const rows = await db.query<{ plan: string }>({
    text: sql`select shard from user_ref where ref = 'soon'`,
  })
  expect(rows).toEqual([{ shard: shardOfReference('soon') }])
})
