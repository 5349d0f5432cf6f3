/** What needs no token is cheap to answer, or refused: floods of such calls must not keep senders waiting. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { OPEN_PATHS } from '../../bench/open-paths.ts'
import { createFiles } from '../../src/http/platform/documents.ts'
import { createMetricsPage, createMetricsServer } from '../../src/http/platform/metrics-page.ts'
import { createSlowDown } from '../../src/http/platform/slow-down.ts'
import { whenDone } from '../support/cleanup.ts'
import { watchRoutes } from '../support/routes.ts'
import { startService } from '../support/service.ts'

const LIMIT = 2

/** Each route of the server that answers GET without a token. */
const open = new Set<string>()
const limited = await watchRoutes(
  ({ method, url }) => {
    if (!url.startsWith('/api/') && [method].flat().includes('GET')) open.add(url)
  },
  () => startService({ env: { AUTH_FAILURES_PER_MINUTE: String(LIMIT) } }),
)
const { app } = await startService({ env: { AUTH_FAILURES_PER_MINUTE: '0' } })
const get = (url: string, headers = {}) => app.inject({ url, headers })

test('the routes without a token are those that floods are measured with', () => {
  expect(Object.keys(OPEN_PATHS).toSorted()).toEqual([...open].toSorted())
})

test('above the rate of an address, each is refused with 429', async () => {
  // At the same time, because each refusal waits.
  const refusals = Object.values(OPEN_PATHS).map(async (url, n) => {
    const ask = () => limited.app.inject({ url, remoteAddress: `2001:db8:1:${n}::1` })
    for (let below = 0; below < LIMIT; below++) expect((await ask()).statusCode, url).not.toBe(429)
    const refused = await ask()
    expect([url, refused.statusCode, refused.json().code]).toEqual([url, 429, 'rate_limited'])
    expect(Number(refused.headers['retry-after']), url).toBeGreaterThan(0)
  })
  await Promise.all(refusals)
})

test.each(['/openapi.json', '/docs/json', '/docs/yaml', '/docs/errors', '/docs/static/swagger-ui.css'])(
  '%s is made once, comes compressed if that is accepted, and not again if the client has it',
  async url => {
    const plain = await get(url)
    expect(plain.statusCode).toBe(200)
    expect(plain.headers['content-encoding']).toBeUndefined()
    const br = await get(url, { 'accept-encoding': 'gzip;q=0.5, br' })
    expect(br.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' })
    expect(brotliDecompressSync(br.rawPayload).equals(plain.rawPayload)).toBe(true)
    const gzip = await get(url, { 'accept-encoding': 'br;q=0, gzip' })
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(gzip.rawPayload).equals(plain.rawPayload)).toBe(true)

    const etag = String(plain.headers.etag)
    expect([br.headers.etag, gzip.headers.etag, plain.headers['cache-control']]).toEqual([etag, etag, 'no-cache'])
    for (const known of [etag, `"other", ${etag.slice(2)}`, '*']) {
      const answer = await get(url, { 'if-none-match': known })
      expect([answer.statusCode, answer.body]).toEqual([304, ''])
    }
    expect((await get(url, { 'if-none-match': '"other"' })).statusCode).toBe(200)
    const head = await app.inject({ method: 'HEAD', url })
    expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, '', etag])
  },
)

test('the document is the same as JSON and as YAML', async () => {
  const [json, yaml] = [await get('/openapi.json'), await get('/docs/yaml')]
  expect(json.json().openapi).toBe('3.1.0')
  expect(yaml.headers['content-type']).toBe('application/yaml')
  expect(yaml.body).toBe(json.body)
})

test('a file is found by all that ask for it at a time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sms-quota-files-'))
  whenDone(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'one.js'), 'one')
  const clock = { now: 0 }
  const server = Fastify()
  whenDone(() => server.close())
  const sendFile = createFiles(folder, () => clock.now)
  server.get('/*', (request, reply) => sendFile(request, reply))
  const ask = async (name: string) => (await server.inject(`/${name}`)).statusCode
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('one.js')))
  expect(new Set(answers)).toEqual(new Set([200]))

  await writeFile(join(folder, 'two.js'), 'two')
  expect(await ask('two.js')).not.toBe(200)
  clock.now += 1_000
  expect(await ask('two.js')).toBe(200)
})

test('files outside of the folder of the documentation are not found', async () => {
  for (const name of ['nothing.js', '..%2fpackage.json', '..%2findex.js', '', '.']) {
    expect((await get(`/docs/static/${name}`)).statusCode, name).not.toBe(200)
  }
})

/** Metrics whose page is made when the test lets it. */
function slowMetrics() {
  const makings: PromiseWithResolvers<string>[] = []
  const metrics = {
    contentType: 'text/plain',
    text() {
      const making = Promise.withResolvers<string>()
      makings.push(making)
      return making.promise
    },
  }
  const clock = { now: 0 }
  const server = createMetricsServer(
    createMetricsPage(metrics, () => clock.now),
    createSlowDown(0),
  )
  whenDone(() => server.close())
  return { makings, clock, read: async () => (await server.inject('/metrics')).body }
}

test('metrics are made once for all that ask at a time, and at most once a second', async () => {
  const { makings, clock, read } = slowMetrics()
  const reading = Array.from({ length: 10 }, read)
  await expect.poll(() => makings.length).toBe(1)
  makings[0]?.resolve('one')
  expect(new Set(await Promise.all(reading))).toEqual(new Set(['one']))
  clock.now += 999
  expect(await read()).toBe('one')
  expect(makings).toHaveLength(1)

  clock.now += 1
  const next = [read(), read()]
  await expect.poll(() => makings.length).toBe(2)
  clock.now += 5_000
  // While a page is made, no other is.
  next.push(read())
  makings[1]?.resolve('two')
  expect(await Promise.all(next)).toEqual(['two', 'two', 'two'])
  expect(makings).toHaveLength(2)
})

test('a page of metrics that fails is made again', async () => {
  const { makings, read } = slowMetrics()
  const failing = read()
  await expect.poll(() => makings.length).toBe(1)
  makings[0]?.reject(new Error('a bug'))
  expect(await failing).toContain('500')
  const next = read()
  await expect.poll(() => makings.length).toBe(2)
  makings[1]?.resolve('two')
  expect(await next).toBe('two')
})

test('the port of the metrics refuses calls above the rate, those of unknown paths too', async () => {
  const page = createMetricsPage({ contentType: 'text/plain', text: async () => 'one' })
  const server = createMetricsServer(page, createSlowDown(LIMIT))
  whenDone(() => server.close())
  for (let n = 0; n < LIMIT; n++) expect((await server.inject('/metrics')).statusCode).toBe(200)
  for (const url of ['/metrics', '/nothing']) {
    const { statusCode, headers } = await server.inject(url)
    expect([url, statusCode, headers['retry-after']]).toEqual([url, 429, '30'])
  }
})
