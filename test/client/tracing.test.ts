import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, context, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterAll, expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { loadTracing } from '../../client/src/tracing.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })

/** As that of the Node.js packages of OpenTelemetry. */
const storage = new AsyncLocalStorage<Context>()
const contexts: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, work, self, ...parameters) => storage.run(active, () => work.apply(self, parameters)),
  bind: (_active, target) => target,
  enable: () => contexts,
  disable: () => contexts,
}
const exporter = new InMemorySpanExporter()
context.setGlobalContextManager(contexts)
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
afterAll(async () => {
  trace.disable()
  context.disable()
  await service.app.close()
})

const headers: (string | undefined)[] = []
const client = createClient({
  url,
  token: service.senderToken,
  fetch(input, init) {
    headers.push((init?.headers as Record<string, string> | undefined)?.traceparent)
    return fetch(input, init)
  },
})
await loadTracing()

function spans() {
  const finished = exporter.getFinishedSpans()
  exporter.reset()
  return finished
}

test('a call is a span in the trace of its caller, which the service continues', async () => {
  const work = trace.getTracer('test').startSpan('work')
  await context.with(trace.setSpan(context.active(), work), () => client.check({ userId: 1, units: 1 }))
  const [span] = spans()
  expect(span).toMatchObject({ name: 'sms-quota check', parentSpanContext: work.spanContext() })
  const { traceId, spanId } = span?.spanContext() ?? expect.unreachable()
  expect(headers.splice(0)).toEqual([`00-${traceId}-${spanId}-01`])
})

test('a batch is a trace of its own, linked to the calls in it', async () => {
  await Promise.all([client.check({ userId: 1, units: 1 }), client.check({ userId: 2, units: 1 })])
  const [batch, ...calls] = spans()
  expect(batch).toMatchObject({ name: 'sms-quota batch', links: calls.map(call => ({ context: call.spanContext() })) })
  expect(batch?.parentSpanContext).toBeUndefined()
  expect(calls.map(({ name }) => name)).toEqual(['sms-quota check', 'sms-quota check'])
  expect(headers.splice(0)).toEqual([expect.stringContaining(batch?.spanContext().traceId ?? '-')])
})

test('a refused call is a span with an error; a denied one is not', async () => {
  await expect(client.commit({ userId: 1, id: 'unknown' })).rejects.toThrow()
  await client.reserve({ userId: 1, id: 'denied', units: 1 })
  expect(spans()).toMatchObject([
    { status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'QuotaError' } },
    { status: { code: SpanStatusCode.UNSET } },
  ])
})
