import type { FastifyInstance } from 'fastify'
import type { Span, Tracer } from '../../tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's span; null without tracing. */
    span: Span | null
  }
}

/** A span per request, in the caller's trace. It names the route, and nothing of the path, the query or the body. */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.decorateRequest('span', null)

  app.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers
    const name = `${request.method} ${request.routeOptions.url ?? 'none'}`
    request.span = tracer.start(name, 'server', typeof traceparent === 'string' ? traceparent : undefined)
    done()
  })

  app.addHook('onResponse', (request, reply, done) => {
    request.span?.end(reply.statusCode >= 500, {
      'http.request.method': request.method,
      'http.route': request.routeOptions.url ?? 'none',
      'http.response.status_code': reply.statusCode,
      'sms_quota.request_id': request.id,
    })
    done()
  })
}
