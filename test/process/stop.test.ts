import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { createSite, type Service } from '../support/process.ts'

const site = await createSite()
const outside = await freshDatabase()
const OUTSIDE = { DATABASE_URL: outside.url, AUTH_SECRET: 'a secret for tests only, long enough for HS256' }
const STOP_MS = 10_000

/** Kept alive, as gateways' connections are: an idle one must not hold up the stop either. */
const agent = new Agent({ keepAlive: true })
afterAll(() => agent.destroy())

const BODY = JSON.stringify({ user_id: 7, limit: 5 })

/** A creation that the service has begun to read, and that will not end before its body is sent. */
async function beginCreation({ url, token }: Service): Promise<ClientRequest> {
  const creation = request(`${url}/api/sms/admin/quota`, {
    method: 'POST',
    agent,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': BODY.length,
      expect: '100-continue',
    },
  })
  creation.flushHeaders()
  await once(creation, 'continue')
  return creation
}

async function finish(creation: ClientRequest): Promise<{ status: number | undefined; body: string }> {
  const answered = once(creation, 'response') as Promise<[IncomingMessage]>
  creation.end(BODY)
  const [answer] = await answered
  return { status: answer.statusCode, body: await text(answer) }
}

/** The service has heard the signal when nobody new gets in. */
async function closed({ url }: Service): Promise<void> {
  const { hostname, port } = new URL(url)
  const getsIn = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(Number(port), hostname, () => resolve(true))
      socket.on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
  await expect.poll(getsIn, { timeout: STOP_MS }).toBe(false)
}

describe.each([
  ['a database of its own', {}],
  ['an outside database', OUTSIDE],
] as const)('with %s', (_which, env) => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s: what is under way is answered, then all ends', async signal => {
    const service = await site.start(env)
    expect((await service.call('GET', '/readyz')).status).toBe(200)
    const creations = await Promise.all([1, 2, 3].map(() => beginCreation(service)))
    service.signal(signal)
    const begin = Date.now()
    await closed(service)
    for (const { status, body } of await Promise.all(creations.map(finish))) expect(status, body).toBe(201)
    expect(await service.ended).toMatchObject({ code: 0, stderr: '' })
    // Not by the patience for those who do not get on with theirs.
    expect(Date.now() - begin).toBeLessThan(4_000)
    expect(service.stdout()).toMatch(/"msg":"service: stopped"\}\n$/)
    expect(await site.postmaster()).toBeUndefined()
  })
})

test('what was answered during the stop is there, and an outside database is left alone', async () => {
  expect(await outside.db.query({ text: 'select count(*) as quotas from quota' })).toEqual([{ quotas: 6 }])
  const service = await site.start()
  expect((await service.call('GET', '/api/sms/admin/quota/list')).body.total).toBe(6)
  await service.stop()
})

test('Ctrl-C reaches the whole group, and some of it twice; the database still ends last', async () => {
  const service = await site.start()
  const creation = await beginCreation(service)
  process.kill(-service.pid, 'SIGINT')
  await closed(service)
  process.kill(-service.pid, 'SIGINT')
  expect(await finish(creation)).toMatchObject({ status: 201 })
  expect(await service.ended).toMatchObject({ code: 0, stderr: '' })
  expect(service.stdout()).not.toContain('the database went away')
  expect(await site.postmaster()).toBeUndefined()
})

test('a caller who never ends a request cannot hold up the stop', async () => {
  const service = await site.start()
  const creation = await beginCreation(service)
  const cut = once(creation, 'error')
  const begin = Date.now()
  expect(await service.stop()).toMatchObject({ code: 0 })
  expect(Date.now() - begin).toBeLessThan(STOP_MS)
  await cut
  expect(await site.postmaster()).toBeUndefined()
})

test('who gets a word in during the stop is served, too', async () => {
  const service = await site.start()
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  const answers = text(socket)
  const head = `POST /api/sms/admin/quota HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.token}\r\n`
  socket.write(
    `${head}content-type: application/json\r\ncontent-length: ${BODY.length}\r\nexpect: 100-continue\r\n\r\n`,
  )
  await once(socket, 'readable')
  service.signal('SIGTERM')
  await closed(service)
  socket.write(
    `${BODY}GET /api/sms/admin/quota/list HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.token}\r\n\r\n`,
  )
  const statuses = (await answers).match(/HTTP\/1.1 \d+/g)
  expect(statuses).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201', 'HTTP/1.1 200'])
  expect(await service.ended).toMatchObject({ code: 0 })
})

test('a signal that comes during the start is not forgotten', async () => {
  const starting = site.launch(['serve'])
  await expect.poll(starting.stdout, { timeout: STOP_MS }).toContain('database started')
  expect(await starting.stop()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/"msg":"service: stopped"\}\n$/),
  })
  expect(await site.postmaster()).toBeUndefined()
})
