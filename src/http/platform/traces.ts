import type { FastifyInstance } from 'fastify'
import type { Tracer } from '../../tracing.ts'

/**
 * A span per request. It names the route, and nothing of the path, the query or the body. An authenticated caller's trace is
 * continued, and kept if the caller keeps it. All others get a trace of their own, of which the configured part is kept: else
 * anyone could fill the collector. That is known only later, so the span is made at the end.
 */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { traceparent } = request.headers
    const isCallers = request.principal !== null && typeof traceparent === 'string'
    const route = request.routeOptions.url ?? 'none'
    const span = tracer.start(`${request.method} ${route}`, 'server', {
      traceparent: isCallers ? traceparent : undefined,
      startTime: Date.now() - reply.elapsedTime,
    })
    span.end(reply.statusCode >= 500, {
      'http.request.method': request.method,
      'http.route': route,
      'http.response.status_code': reply.statusCode,
      'sms_quota.request_id': request.id,
    })
    done()
  })
}
