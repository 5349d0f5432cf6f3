/**
 * Traces by OpenTelemetry, sent to a collector by OTLP over HTTP. Its packages are loaded only if an endpoint is
 * configured, so all other parts know the few types here.
 */
import type { Span as ApiSpan, Attributes, Context } from '@opentelemetry/api'

type SpanKind = 'server' | 'client'

/** A span that is under way. */
interface Span {
  /** The W3C header with which a receiver continues the trace. */
  readonly traceparent: string
  end(isError: boolean, attributes: Attributes): void
}

interface SpanStart {
  /** Of a caller, whose trace the span continues if it is valid, and who decides whether it is kept. */
  traceparent?: string | undefined
  /** In milliseconds since 1970; default: now. */
  startTime?: number
}

export interface Tracer {
  /** Starts a span in a trace of its own. */
  start(name: string, kind: SpanKind, options?: SpanStart): Span
  /** Records a span of this many milliseconds that ends now. */
  record(name: string, ms: number, attributes: Attributes): void
}

export interface Tracing extends Tracer {
  /** Sends what is left. It rejects if the collector does not take it. */
  close(): Promise<void>
}

export interface TracingOptions {
  /** The collector's base URL; traces go to `/v1/traces` below it. */
  endpoint: string
  /** The part of the traces that is kept, from 0 to 1, where the caller has not decided. */
  ratio: number
  /** Of the service. */
  version: string
  /** How often spans are sent, in milliseconds; every second if left out. */
  sendEveryMs?: number
}

/** Spans that wait to be sent; beyond that they are dropped. */
const MAX_WAITING = 2_048
const SEND_EVERY_MS = 1_000
/** How long a collector may take, in milliseconds: a stop of the service waits as long. */
const SEND_TIMEOUT_MS = 3_000

export async function startTracing({
  endpoint,
  ratio,
  version,
  sendEveryMs = SEND_EVERY_MS,
}: TracingOptions): Promise<Tracing> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: SEND_TIMEOUT_MS,
  })
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'sms-quota', 'service.version': version }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_WAITING,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: SEND_TIMEOUT_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('sms-quota', version)

  function contextOf(traceparent: string | undefined): Context {
    const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? []
    if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return ROOT_CONTEXT
    const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
    return trace.setSpanContext(ROOT_CONTEXT, parent)
  }

  return {
    start(name, kind, { traceparent, startTime = Date.now() } = {}) {
      const options = { kind: kind === 'server' ? SpanKind.SERVER : SpanKind.CLIENT, startTime }
      const span = tracer.startSpan(name, options, contextOf(traceparent))
      return {
        traceparent: headerOf(span),
        end(isError, attributes) {
          span.setAttributes(attributes)
          if (isError) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    record(name, ms, attributes) {
      const end = Date.now()
      tracer.startSpan(name, { startTime: end - ms, attributes }, ROOT_CONTEXT).end(end)
    },
    close: () => provider.shutdown(),
  }
}

/** https://www.w3.org/TR/trace-context/: version, trace, parent, flags. Later versions may add fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

function headerOf(span: ApiSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}
