/**
 * Spans of calls by OpenTelemetry, if the process has `@opentelemetry/api`. Its types stay in this file, so that those of the
 * package need nothing to be installed.
 */
import type { Span as ApiSpan } from '@opentelemetry/api'

export interface Span {
  /** The W3C header with which the service continues the trace; undefined if there is no trace, or fetch adds its own. */
  readonly traceparent: string | undefined
  /** Runs what belongs to the span, and ends it. */
  run<T>(work: () => Promise<T>): Promise<T>
}

let api: typeof import('@opentelemetry/api') | undefined
let loading: Promise<void> | undefined

/** Until it has resolved, calls have no spans. */
export function loadTracing(): Promise<void> {
  // Bundlers leave it to the runtime, because it need not be there.
  const found = () => import(/* webpackIgnore: true */ /* @vite-ignore */ '@opentelemetry/api')
  loading ??= found().then(
    module => {
      api = module
    },
    () => {},
  )
  return loading
}

const apiSpans = new WeakMap<Span, ApiSpan>()

/**
 * Starts the span of a call, in the trace of its caller.
 *
 * @param parts the spans of the operations in a batch, to which its own span, in a trace of its own, is linked
 * @returns undefined without OpenTelemetry
 */
export function startSpan(operation: string, parts?: readonly (Span | undefined)[]): Span | undefined {
  if (api === undefined) return undefined
  const { context, SpanKind, SpanStatusCode, trace } = api
  const links = parts?.flatMap(part => {
    const linked = part && apiSpans.get(part)
    return linked === undefined ? [] : [{ context: linked.spanContext() }]
  })
  const span = trace
    .getTracer('sms-quota-client')
    .startSpan(`sms-quota ${operation}`, { kind: SpanKind.CLIENT, ...(links && { links, root: true }) })
  const active = trace.setSpan(context.active(), span)
  const started: Span = {
    traceparent: isFetchTraced() ? undefined : headerOf(span),
    async run(work) {
      try {
        return await context.with(active, work)
      } catch (error) {
        const { name, message } = error instanceof Error ? error : new Error(String(error))
        span.setAttribute('error.type', name)
        span.setStatus({ code: SpanStatusCode.ERROR, message })
        throw error
      } finally {
        span.end()
      }
    },
  }
  apiSpans.set(started, span)
  return started
}

function headerOf(span: ApiSpan): string | undefined {
  const { traceId, spanId, traceFlags } = span.spanContext()
  if (api?.trace.isSpanContextValid(span.spanContext()) !== true) return undefined
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** Instrumentations of fetch in Node.js add the header themselves, and two of them would be none. */
function isFetchTraced(): boolean {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  const channels = process?.getBuiltinModule?.('diagnostics_channel')
  if (typeof channels !== 'object' || channels === null || !('hasSubscribers' in channels)) return false
  return typeof channels.hasSubscribers === 'function' && channels.hasSubscribers('undici:request:create') === true
}
