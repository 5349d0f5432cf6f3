import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { ERRORS, Problem } from '../errors.ts'
import { guard } from './auth/guard.ts'
import { createProvider } from './auth/provider.ts'
import { callerRoute } from './auth/routes.ts'
import { consoleRoutes } from './console/routes.ts'
import type { ServerParts } from './context.ts'
import { eventRoutes } from './events/routes.ts'
import { docsRoutes } from './operations/docs-routes.ts'
import { opsRoutes } from './operations/routes.ts'
import { FORMATS } from './platform/formats.ts'
import { describeApi } from './platform/openapi.ts'
import { problemBody, problemOf } from './platform/problems.ts'
import { logRequests } from './platform/request-log.ts'
import { compileValidator } from './platform/validation.ts'
import { adjustRoute } from './quotas/adjust-route.ts'
import { adminRoutes } from './quotas/admin-routes.ts'
import { alertsRoute } from './quotas/alerts-route.ts'
import { adminRecordRoutes, userRecordRoutes } from './quotas/history-routes.ts'
import { userRoutes } from './quotas/user-routes.ts'
import { senderRoutes } from './sender/routes.ts'
import { adminUsageRoutes, userUsageRoutes } from './usage/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

interface Scope {
  prefix: string
  /** Who may call. Senders are held back by the queue, all others by a rate. */
  caller: Parameters<typeof guard>[2]
  routes: ((scope: FastifyInstance, parts: ServerParts) => void)[]
}

/** The API: where its routes stand, and for whom. */
const API: readonly Scope[] = [
  { prefix: '/api/sms/quota', caller: 'user', routes: [userRoutes, userUsageRoutes, userRecordRoutes] },
  {
    prefix: '/api/sms/admin/quota',
    caller: 'admin',
    routes: [adminRoutes, adminUsageRoutes, adjustRoute, alertsRoute, adminRecordRoutes],
  },
  { prefix: '/api/sms/admin/events', caller: 'admin', routes: [eventRoutes] },
  { prefix: '/api/sms/admin/webhooks', caller: 'admin', routes: [webhookRoutes] },
  { prefix: '/api/sms/sender/quota', caller: 'sender', routes: [senderRoutes] },
  { prefix: '/api/sms/me', caller: 'anyone', routes: [callerRoute] },
]

/** The most a body may hold, in bytes. */
const BODY_LIMIT = 64 * 1024

const PLAIN_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
/** With what only browsers heed: machines that send are spared it, thousands of times a second. */
const SECURITY_HEADERS = {
  ...PLAIN_HEADERS,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** Builds the HTTP side: it knows how to answer, not where to listen. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: parts.log,
    // Answers are logged by logRequests, once and without what callers keep to themselves.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: BODY_LIMIT,
    // A caller who sends slowly holds a connection, not the service.
    requestTimeout: 30_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // Who still gets a word in during a stop is served like the others: everything that it takes is there to the end.
    return503OnClosing: false,
    genReqId: request => saneRequestId(request.headers['x-request-id']) ?? randomUUID(),
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: answerError,
    // The serializer only writes; it need not know what our formats mean.
    serializerOpts: { ajv: { formats: Object.fromEntries(Object.keys(FORMATS).map(name => [name, true])) } },
    schemaController: { compilersFactory: { buildSerializer } },
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 200 },
  })
  app.setValidatorCompiler(compileValidator)
  app.decorateRequest('principal', null)

  app.addHook('onRequest', (request, reply, done) => {
    const isForMachines = request.routeOptions.config?.isForMachines === true
    reply.headers(isForMachines ? PLAIN_HEADERS : SECURITY_HEADERS).header('x-request-id', request.id)
    done()
  })
  logRequests(app)
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    parts.metrics.request(route, request.method, reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
  app.setNotFoundHandler(() => {
    throw new Problem('not_found', 'There is no such route.')
  })
  app.setErrorHandler(answerError)
  app.removeContentTypeParser('text/plain')

  await describeApi(app)
  await app.register(rateLimit, {
    global: false,
    hook: 'preHandler',
    timeWindow: 60_000,
    max: parts.rateLimitPerMinute,
    keyGenerator: request => request.principal?.subject ?? request.ip,
    addHeadersOnExceeding: {},
    addHeaders: { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false },
    errorResponseBuilder: (_request, { ttl }) =>
      new Problem('rate_limited', `At most ${parts.rateLimitPerMinute} calls a minute.`, {
        headers: { 'retry-after': String(Math.ceil(ttl / 1000)) },
      }),
  })
  for (const { prefix, caller, routes } of API) {
    await app.register(
      async scope => {
        if (caller !== 'sender' && parts.rateLimitPerMinute > 0) scope.addHook('preHandler', scope.rateLimit())
        guard(scope, parts.authenticator, caller)
        for (const add of routes) add(scope, parts)
      },
      { prefix },
    )
  }
  opsRoutes(app, parts)
  await docsRoutes(app)
  await app.register(consoleRoutes, {
    prefix: '/console',
    provider: parts.oidc && createProvider(parts.oidc, parts.now),
  })
  return app
}

/**
 * Answers have the fields of their schemas and no others. Problems are made from one table and need no such care: to
 * compile a serializer for each of some three hundred that routes can answer would take most of the service's start.
 */
const buildSerializer: ReturnType<typeof SerializerSelector> = (schemas, options) => {
  const compile = SerializerSelector()(schemas, options)
  return route => (Number(route.httpStatus) >= 400 ? JSON.stringify : compile(route))
}

/** The caller's own request id, if it can be repeated in a header and a log without harm. */
function saneRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(header) ? header : undefined
}

/** Answers a request with what went wrong. A path that cannot be decoded comes here before any hook has run. */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const problem = problemOf(error, request.routeOptions.bodyLimit ?? BODY_LIMIT)
  const { status } = ERRORS[problem.code]
  if (status >= 500) {
    // When the queue is full or the store away, a line for each of a sender's calls would only add to it.
    const isOneOfMany = problem.code !== 'internal' && request.routeOptions.config?.isForMachines === true
    request.log[isOneOfMany ? 'debug' : 'error']({ err: problem.cause ?? error }, 'could not answer')
  }
  return reply
    .code(status)
    .headers({ ...SECURITY_HEADERS, ...problem.headers, 'x-request-id': request.id })
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(problemBody(problem, request.id))
}

/** Answers what is not even HTTP, and closes. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const requestId = randomUUID()
  const problem = new Problem(
    'invalid_request',
    'The request is not valid HTTP, its headers are too large, or it came too slowly.',
  )
  const body = JSON.stringify(problemBody(problem, requestId))
  const headers = {
    ...SECURITY_HEADERS,
    'x-request-id': requestId,
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
}
