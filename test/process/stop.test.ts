import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import pino from 'pino'
import { afterAll, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { addressOf, createListener, DRAIN_MS } from '../../src/http/listener.ts'
import { STOP_MS } from '../../src/main.ts'
import { freshDatabase } from '../support/database.ts'
import { createSite, type Service } from '../support/process.ts'

const site = await createSite({ prepared: true })
const external = await freshDatabase()
const EXTERNAL = { DATABASE_URL: external.url, AUTH_SECRET: 'a secret for tests only, long enough for HS256' }

/** Keeps connections alive, as gateways do. An idle connection must not delay the shutdown either. */
const agent = new Agent({ keepAlive: true })
afterAll(() => agent.destroy())

const BODY = JSON.stringify({ user_id: 7, limit: 5 })

/** Begins a request to create a quota: the service has read its header, and waits for its body. */
async function beginCreation({ url, token }: Pick<Service, 'url' | 'token'>): Promise<ClientRequest> {
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

/** Waits until the service accepts no new connections, and so has handled the signal. */
async function untilClosed({ url }: Service): Promise<void> {
  const { hostname, port } = new URL(url)
  const accepts = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(Number(port), hostname, () => resolve(true))
      socket.on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
  await expect.poll(accepts).toBe(false)
}

/** Begins the same on a connection of its own, and resolves to a function that ends it and sends a further request. */
async function beginOnSocket({ url, token }: Service): Promise<() => Promise<string[] | null>> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const answers = text(socket)
  const head = (line: string) => `${line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`
  socket.write(
    `${head('POST /api/sms/admin/quota')}content-type: application/json\r\ncontent-length: ${BODY.length}\r\nexpect: 100-continue\r\n\r\n`,
  )
  await once(socket, 'readable')
  return async () => {
    socket.write(`${BODY}${head('GET /api/sms/admin/quota/list')}\r\n`)
    return (await answers).match(/HTTP\/1.1 \d+/g)
  }
}

// Other tests send SIGTERM to a service with the embedded database.
test.each([
  ['Ctrl-C twice, sent to the whole process group', 'the embedded database, which stops last', {}],
  ['SIGTERM', 'an external database', EXTERNAL],
] as const)('%s, with %s: requests in flight are answered, then all processes exit', async (signals, _which, env) => {
  const service = await site.start(env)
  expect((await service.call('GET', '/readyz')).status).toBe(200)
  const creations = await Promise.all([1, 2].map(() => beginCreation(service)))
  const finishOnSocket = await beginOnSocket(service)
  const signal = () => (signals === 'SIGTERM' ? service.signal(signals) : process.kill(-service.pid, 'SIGINT'))
  signal()
  const begin = Date.now()
  await untilClosed(service)
  if (signals !== 'SIGTERM') signal()
  for (const { status, body } of await Promise.all(creations.map(finish))) expect(status, body).toBe(201)
  expect(await finishOnSocket()).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201', 'HTTP/1.1 200'])
  expect(await service.ended).toMatchObject({ code: 0, stderr: '' })
  // Without waiting for the timeout of unfinished requests.
  expect(Date.now() - begin).toBeLessThan(20_000)
  expect(service.stdout()).toMatch(/"msg":"service: stopped"\}\n$/)
  expect(service.stdout()).not.toContain('embedded database: lost')
  expect(await site.postmaster()).toBeUndefined()
})

test('writes answered during the shutdown are stored, and an external database keeps running', async () => {
  expect(await external.db.query({ text: sql`select count(*) as quotas from quota` })).toEqual([{ quotas: 3 }])
  const embedded = await startEmbedded({ dataDir: site.dataDir, log: { info() {}, warn() {}, error() {} } })
  const db = openDatabase({ url: embedded.url })
  expect(await db.query({ text: sql`select count(*) as quotas from quota` })).toEqual([{ quotas: 3 }])
  await db.close()
  await embedded.stop()
})

test('an unfinished request delays the shutdown for a time that is shorter than that of the process', async () => {
  expect(DRAIN_MS).toBeLessThan(STOP_MS)
  const loaded = loadConfig(EXTERNAL)
  if ('issues' in loaded) throw new Error('the configuration of the test is invalid')
  const listener = createListener(undefined, { drainMs: 200 })
  const app = await createApp(loaded.config, pino({ enabled: false }), { listener, runJobs: false })
  await listener.listen('127.0.0.1', 0)
  const token = await site.token(EXTERNAL)
  const creation = await beginCreation({ url: addressOf(listener).url, token })
  const cut = once(creation, 'error')
  await app.close()
  await cut
})

test('a signal during the start stops the service', async () => {
  const starting = site.launch(['serve'])
  await expect.poll(starting.stdout).toContain('embedded database: started')
  expect(await starting.stop()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/"msg":"service: stopped"\}\n$/),
  })
  expect(await site.postmaster()).toBeUndefined()
})
