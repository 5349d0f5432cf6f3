/** Traces, as a collector receives them by OTLP over HTTP. */
import { expect, test } from 'vitest'
import { sql } from '../src/db/connection/sql.ts'
import { createDispatcher } from '../src/jobs/webhook-dispatcher.ts'
import { startTracing } from '../src/tracing.ts'
import { createCollector } from './support/collector.ts'
import { createReceiver } from './support/receiver.ts'
import { PLAIN } from './support/secrets.ts'
import { startService } from './support/service.ts'

interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  status: { code?: number }
  attributes: { key: string; value: Record<string, unknown> }[]
}

interface Export {
  resourceSpans: { resource: { attributes: ReceivedSpan['attributes'] }; scopeSpans: { spans: ReceivedSpan[] }[] }[]
}

const { endpoint, exports } = await createCollector<Export>()

const [KEEP_ALL, KEEP_NONE] = ['1', '0']
const tracesOf = (ratio: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: ratio })
const tracing = { sendEveryMs: 20 }
const service = await startService({ env: tracesOf(KEEP_ALL), tracing })
const receiver = await createReceiver()
const { call, senderToken } = service

const spans = () =>
  exports.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(scope => scope.spans)),
  )
const valuesOf = (attributes: ReceivedSpan['attributes']) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
const spanOf = (name: string) => expect.poll(() => spans().find(span => span.name === name))

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CHECK = 'POST /api/sms/sender/quota/check'
const check = (headers: Record<string, string> = {}) =>
  call('POST', '/api/sms/sender/quota/check', { token: senderToken, body: { user_id: 4711, units: 1 }, headers })

test('a request is a span of the caller’s trace, and a batch is one of its own', async () => {
  await check({ traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, 'x-request-id': 'traced' })
  await spanOf(CHECK).toMatchObject({ traceId: TRACE, parentSpanId: '00f067aa0ba902b7', kind: 2 })
  const span = spans().find(({ name }) => name === CHECK)
  expect(valuesOf(span?.attributes ?? [])).toEqual({
    'http.request.method': 'POST',
    'http.route': '/api/sms/sender/quota/check',
    'http.response.status_code': 200,
    'sms_quota.request_id': 'traced',
  })
  await spanOf('engine batch').toMatchObject({ kind: 1 })
  const batch = spans().find(({ name }) => name === 'engine batch')
  expect(batch?.traceId).not.toBe(TRACE)
  expect(valuesOf(batch?.attributes ?? [])).toMatchObject({ 'sms_quota.batch.commands': 1 })
  const [resource] = exports[0]?.resourceSpans ?? []
  expect(valuesOf(resource?.resource.attributes ?? [])).toMatchObject({ 'service.name': 'sms-quota' })
  // No span names a user or a token.
  expect(JSON.stringify(exports)).not.toMatch(/4711|Bearer/)
})

test('a caller that does not sample is not traced, and a malformed header begins a new trace', async () => {
  const other = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
  await check({ traceparent: `00-${other}-00f067aa0ba902b7-00` })
  await call('GET', '/api/sms/me', { headers: { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` } })
  await spanOf('GET /api/sms/me').toBeDefined()
  expect(spans().filter(({ traceId }) => traceId === other)).toEqual([])
  const me = spans().find(({ name }) => name === 'GET /api/sms/me')
  expect(me?.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/)
  expect(me?.parentSpanId ?? '').toBe('')
})

test('who is not authenticated neither begins nor hides a trace', async () => {
  const ids = ['c', 'd'].map(digit => digit.repeat(32))
  for (const [index, flags] of ['01', '00'].entries()) {
    const headers = { traceparent: `00-${ids[index]}-00f067aa0ba902b7-${flags}` }
    await call('GET', '/api/sms/admin/users', { token: null, headers })
  }
  const found = () => spans().filter(({ name }) => name === 'GET /api/sms/admin/users')
  await expect.poll(found).toHaveLength(2)
  for (const { traceId, parentSpanId } of found()) {
    expect(ids).not.toContain(traceId)
    expect(parentSpanId ?? '').toBe('')
  }
})

test('an answer of 500 or more is an error', async () => {
  await service.db.query({ text: sql`alter table webhook rename to elsewhere` })
  await call('GET', '/api/sms/admin/webhooks')
  await service.db.query({ text: sql`alter table elsewhere rename to webhook` })
  await spanOf('GET /api/sms/admin/webhooks').toMatchObject({ status: { code: 2 } })
})

test('an attempt at a webhook carries the header of its span', async () => {
  const tracing = await startTracing({ endpoint, ratio: 1, version: '1.0.0' })
  await call('POST', '/api/sms/admin/webhooks', { body: { url: 'https://receiver.invalid/hook' } })
  await service.db.query({ text: sql`update webhook set url = $1`, values: [receiver.url] })
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 5, limit: 5 } })
  const dispatcher = createDispatcher({
    keys: PLAIN,
    db: service.db,
    now: () => service.clock.now,
    log: { info() {}, warn() {}, error() {} },
    allowPrivate: true,
    tracer: tracing,
  })
  await dispatcher.dispatchOnce(service.clock.now)
  await dispatcher.idle()
  await dispatcher.finish()
  await tracing.close()
  const [delivery] = receiver.deliveries
  const span = spans().find(({ name }) => name === 'webhook quota.created')
  expect(span).toMatchObject({ kind: 3 })
  expect(delivery?.headers.traceparent).toBe(`00-${span?.traceId}-${span?.spanId}-01`)
  expect(valuesOf(span?.attributes ?? [])).toMatchObject({
    'http.response.status_code': 204,
    'webhook.id': delivery?.headers['webhook-id'],
  })
})

test('with a ratio of 0 only the traces of callers that sample are kept', async () => {
  const quiet = await startService({ env: tracesOf(KEEP_NONE), tracing })
  await quiet.call('GET', '/api/sms/me')
  const trace = 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` }
  // Not those of anyone who reaches the port: a flood of spans would need no token.
  for (const path of ['/readyz', '/nowhere', '/api/sms/me', '/docs/errors']) {
    await quiet.call('GET', path, { token: null, headers })
  }
  await quiet.call('GET', '/api/sms/me', { token: 'forged', headers })
  await quiet.call('GET', '/api/sms/quota/summary', { token: quiet.senderToken, headers })
  await expect
    .poll(() =>
      spans()
        .filter(({ traceId }) => traceId === trace)
        .map(({ name }) => name),
    )
    .toEqual(['GET /api/sms/quota/summary'])
  expect(spans().filter(({ name }) => name === 'GET /api/sms/me')).toHaveLength(1)
})
