import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { ERRORS } from '../../src/errors.ts'
import { createMetricsPage, createMetricsServer } from '../../src/http/platform/metrics-page.ts'
import { createSlowDown } from '../../src/http/platform/slow-down.ts'
import { createEventCounter } from '../../src/jobs/event-counter.ts'
import { createJobRunner } from '../../src/jobs/runner.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { createMetrics } from '../../src/metrics.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { call, app, adminToken, senderToken, metrics, db } = service
const anonymous = { token: null }

describe('health', () => {
  test('livez and readyz need no token', async () => {
    for (const url of ['/livez', '/readyz']) {
      expect(await call('GET', url, anonymous)).toMatchObject({ status: 200, body: { status: 'ok' } })
    }
  })
})

describe('metrics', () => {
  test('count requests and commands by kind, and name no user', async () => {
    await call('POST', '/api/sms/admin/quota', { body: { user_id: 4711, limit: 5 } })
    await call('POST', '/api/sms/sender/quota/consume', {
      token: senderToken,
      body: { user_id: 4711, id: 'm', units: 1 },
    })
    await call('POST', '/api/sms/sender/quota/consume', {
      token: senderToken,
      body: { user_id: 4711, id: 'n', units: 9 },
    })
    const { status, headers, body } = await call('GET', '/metrics', anonymous)
    expect(status).toBe(200)
    expect(headers['content-type']).toMatch(/^text\/plain/)
    expect(body).toContain('sms_quota_commands_total{op="consume",outcome="granted"} 1')
    expect(body).toContain('sms_quota_commands_total{op="consume",outcome="denied",reason="quota_exhausted"} 1')
    expect(body).toMatch(
      /sms_quota_request_seconds_count\{route="\/api\/sms\/sender\/quota\/consume",method="POST",status="2xx"\} 2/,
    )
    expect(body).toContain('sms_quota_queue_commands 0')
    expect(body).not.toMatch(/\{[^}\n]*4711/)
  })

  /** The value of a line of the answer; NaN if there is none. */
  async function metricOf(series: string): Promise<number> {
    const { body } = await call('GET', '/metrics', anonymous)
    const lines: string[] = body.split('\n')
    const found = lines.find(line => line.startsWith(`${series} `))
    return Number(found?.slice(series.length + 1) ?? Number.NaN)
  }

  test('count the usage that is rolled up, and the batches that are pending', async () => {
    const log = { info() {}, warn() {}, error() {} }
    const reported = Promise.withResolvers<void>()
    for (const id of ['f1', 'f2']) {
      const body = { user_id: 4712, id, units: 1 }
      await call('POST', '/api/sms/sender/quota/consume', { token: senderToken, body })
    }
    const [before] = await db.query<{ count: number }>({ text: sql`select count(*) as count from usage_pending` })
    const rollup = createUsageRollup({
      db,
      log,
      onRollup(report) {
        metrics.rollup(report)
        reported.resolve()
      },
    })
    const jobs = createJobRunner([rollup], { log })
    jobs.start()
    await reported.promise
    await jobs.stop()
    expect(await metricOf('sms_quota_usage_rollup_batches_total')).toBe(before?.count)
    const [after] = await db.query<{ count: number }>({ text: sql`select count(*) as count from usage` })
    expect(await metricOf('sms_quota_usage_rollup_rows_total')).toBe(after?.count)
    expect(await metricOf('sms_quota_usage_pending_batches')).toBe(0)
  })

  test('count events by type, each once, from the start on', async () => {
    const eventCounter = createEventCounter({ db, onEvents: metrics.events })
    await eventCounter.countOnce()
    expect(await metricOf('sms_quota_events_total{type="quota.created"}')).toBeNaN()
    const { body } = await call('POST', '/api/sms/admin/quota', { body: { user_id: 4713, limit: 5 } })
    await call('POST', '/api/sms/admin/quota', { body: { user_id: 4714, limit: 5 } })
    await call('DELETE', `/api/sms/admin/quota/${body.id}`)
    expect(await eventCounter.countOnce()).toBe(false)
    await eventCounter.countOnce()
    expect(await metricOf('sms_quota_events_total{type="quota.created"}')).toBe(2)
    expect(await metricOf('sms_quota_events_total{type="quota.deleted"}')).toBe(1)
    // No label contains a user id.
    expect((await call('GET', '/metrics', anonymous)).body).not.toMatch(/\{[^}\n]*471[1-4]/)
  })

  test('count the requests that wait for the feed', async () => {
    expect(await metricOf('sms_quota_feed_waiting')).toBe(0)
    const waiting = call('GET', '/api/sms/admin/events?after=latest&wait_seconds=30')
    await expect.poll(() => metricOf('sms_quota_feed_waiting')).toBe(1)
    await call('POST', '/api/sms/admin/quota', { body: { user_id: 4715, limit: 5 } })
    expect((await waiting).body.items).toHaveLength(1)
    expect(await metricOf('sms_quota_feed_waiting')).toBe(0)
  })

  test('can have a separate port', async () => {
    const server = createMetricsServer(createMetricsPage(createMetrics()), createSlowDown(0))
    expect((await server.inject('/metrics')).statusCode).toBe(200)
    expect((await server.inject('/livez')).statusCode).toBe(404)
    await server.close()
  })
})

describe('the OpenAPI document', async () => {
  const { body: document } = await call('GET', '/openapi.json', anonymous)
  const operations: [
    string,
    string,
    { operationId: string; responses: Record<string, object>; security?: object[] },
  ][] = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as object).map(([method, operation]) => [method, path, operation] as never),
  )

  test('is valid OpenAPI 3.1 for an independent validator', async () => {
    const result = await new Validator().validate(structuredClone(document))
    expect(result.errors ?? []).toEqual([])
    expect(result.valid).toBe(true)
    expect(document.openapi).toMatch(/^3\.1\./)
  })

  test('has the seven required endpoints', () => {
    const required = [
      ['get', '/api/sms/quota/list'],
      ['get', '/api/sms/quota/summary'],
      ['get', '/api/sms/admin/quota/list'],
      ['get', '/api/sms/admin/quota/summary'],
      ['post', '/api/sms/admin/quota'],
      ['put', '/api/sms/admin/quota/{id}'],
      ['delete', '/api/sms/admin/quota/{id}'],
    ]
    const present = operations.map(([method, path]) => `${method} ${path}`)
    for (const [method, path] of required) expect(present).toContain(`${method} ${path}`)
  })

  test('has a unique id for every operation, and refers to components by name', () => {
    const ids = operations.map(([, , operation]) => operation.operationId)
    expect(ids.every(id => /^[a-z][A-Za-z]+$/.test(id))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
    expect(Object.keys(document.components.schemas).filter(name => /^def-/.test(name))).toEqual([])
    const body = document.paths['/api/sms/admin/quota'].post.requestBody.content['application/json'].schema
    expect(body).toEqual({ $ref: '#/components/schemas/CreateQuotaReq' })
  })

  test('says which operations need a token, and lists its errors with examples', () => {
    for (const [method, path, operation] of operations) {
      const isOpen = operation.security?.length === 0
      // The links of messages are proof enough.
      expect(isOpen, `${method} ${path}`).toBe(!path.startsWith('/api/') || /\/(confirm|stop)$/.test(path))
      if (isOpen) continue
      for (const status of ['401', '400', '429', '500', '503']) {
        expect(operation.responses, `${method} ${path}`).toHaveProperty(status)
      }
      // Every role may read the own identity.
      expect('403' in operation.responses, `${method} ${path}`).toBe(path !== '/api/sms/me')
    }
    const { $ref } = document.paths['/api/sms/admin/quota/{id}'].put.responses['422']
    expect($ref).toBe('#/components/responses/ImmutableFieldOrBelowUsageOrTooManyQuotas')
    const unprocessable = document.components.responses[$ref.split('/').at(-1)]
    expect(Object.keys(unprocessable.content['application/problem+json'].examples)).toEqual([
      'immutable_field',
      'below_usage',
      'too_many_quotas',
    ])
  })
})

describe('the documentation pages', () => {
  test.each(['/docs', '/docs/'])(
    '%s loads all its files from this service, and its policy allows no others',
    async url => {
      const html = await app.inject({ url })
      expect(html.statusCode).toBe(200)
      const policy = String(html.headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self'")
      const sources = [...html.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(match => match[1] ?? '')
      expect(sources.length).toBeGreaterThan(3)
      for (const source of sources) {
        expect(source).not.toMatch(/^(https?:)?\/\//)
        const file = await app.inject({ url: new URL(source, `http://host${url}`).pathname })
        expect(file.statusCode, source).toBe(200)
      }
    },
  )

  test('every error code is explained where `type` points', async () => {
    const { body, headers } = await call('GET', '/docs/errors', anonymous)
    expect(headers['content-type']).toMatch(/^text\/html/)
    for (const code of Object.keys(ERRORS)) expect(body).toContain(`<dt id="${code}">`)
  })
})

describe('every answer', () => {
  test.each([
    ['GET', '/api/sms/admin/quota/list', adminToken],
    ['GET', '/api/sms/admin/quota/list', null],
    ['GET', '/nowhere', null],
    ['GET', '/livez', null],
    ['GET', '/api/sms/admin/quota/%ff', adminToken],
  ])('%s %s has a request id, must not be stored and does not name the server software', async (method, url, token) => {
    const { headers } = await call(method, url, { token })
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['cross-origin-opener-policy']).toBe('same-origin')
    expect(headers.server ?? headers['x-powered-by']).toBeUndefined()
  })

  test('to a sender must not be stored either, and has no headers for browsers', async () => {
    const body = { user_id: 1, units: 1 }
    const { headers } = await call('POST', '/api/sms/sender/quota/check', { token: senderToken, body })
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    expect(headers['content-security-policy']).toBe(undefined)
  })

  test("repeats the client's request id if it is well-formed", async () => {
    const ask = async (id: string) =>
      (await call('GET', '/livez', { token: null, headers: { 'x-request-id': id } })).headers['x-request-id']
    expect(await ask('abc-123.X:y_z')).toBe('abc-123.X:y_z')
    for (const id of ['a b', '<script>', 'x'.repeat(129), 'é']) expect(await ask(id)).toMatch(/^[0-9a-f-]{36}$/)
  })
})
