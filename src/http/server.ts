import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import rateLimit from '@fastify/rate-limit'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { type Database, isUnavailable } from '../db/database.ts'
import type { Instant } from '../domain/time.ts'
import { ERRORS, type ErrorCode, Problem } from '../errors.ts'
import { guard } from './access.ts'
import type { Authenticator } from './auth.ts'
import { FORMATS } from './formats.ts'
import { describeApi, problemType } from './openapi.ts'
import { adminRoutes } from './routes/admin.ts'
import { docsRoutes } from './routes/docs.ts'
import { opsRoutes } from './routes/ops.ts'
import { userRoutes } from './routes/user.ts'
import { compileValidator } from './validation.ts'

/** What routes work with. */
export interface RouteContext {
  db: Database
  /** The service's clock, which agrees with the database's and never steps back. */
  now: () => Instant
}

export interface ServerParts extends RouteContext {
  authenticator: Authenticator
  log: FastifyBaseLogger
  /** Why the service is not ready; empty when it is. */
  readiness: () => Promise<string[]>
  /** Calls a minute that one principal may make on user and admin paths; 0 is no limit. */
  rateLimitPerMinute: number
}

/** The most a body may hold, in bytes. */
const BODY_LIMIT = 64 * 1024

const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** Builds the HTTP side: it knows how to answer, not where to listen. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: parts.log,
    // Answers are logged below, once and without what callers keep to themselves.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: BODY_LIMIT,
    // A caller who sends slowly holds a connection, not the service.
    requestTimeout: 30_000,
    http: { headersTimeout: 10_000 },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    genReqId: request => saneRequestId(request.headers['x-request-id']) ?? randomUUID(),
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: answerError,
    // The serializer only writes; it need not know what our formats mean.
    serializerOpts: { ajv: { formats: Object.fromEntries(Object.keys(FORMATS).map(name => [name, true])) } },
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 200 },
  })
  app.setValidatorCompiler(compileValidator)
  app.decorateRequest('principal', null)

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id })
  })
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        subject: request.principal?.subject,
      },
      'answered',
    )
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
  await app.register(
    async scope => {
      limitRate(scope, parts.rateLimitPerMinute)
      guard(scope, parts.authenticator, 'user')
      userRoutes(scope, parts)
    },
    { prefix: '/api/sms/quota' },
  )
  await app.register(
    async scope => {
      limitRate(scope, parts.rateLimitPerMinute)
      guard(scope, parts.authenticator, 'admin')
      adminRoutes(scope, parts)
    },
    { prefix: '/api/sms/admin/quota' },
  )
  opsRoutes(app, parts)
  await docsRoutes(app)
  return app
}

function limitRate(scope: FastifyInstance, perMinute: number): void {
  if (perMinute > 0) scope.addHook('preHandler', scope.rateLimit())
}

/** The caller's own request id, if it can be repeated in a header and a log without harm. */
function saneRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(header) ? header : undefined
}

/** Faults that Fastify itself finds, by its codes. */
const FRAMEWORK_FAULTS: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', `The body is larger than ${BODY_LIMIT} bytes.`],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as Content-Type: application/json.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_request', 'The body is empty; a JSON object is needed.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_request', 'The body is not valid JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as Content-Length says.'],
}

/** Answers a request with what went wrong. A path that cannot be decoded comes here before any hook has run. */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const problem = problemOf(error)
  const { status } = ERRORS[problem.code]
  if (status >= 500) request.log.error({ err: problem.cause ?? error }, 'could not answer')
  return reply
    .code(status)
    .headers({ ...SECURITY_HEADERS, ...problem.headers, 'x-request-id': request.id })
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(bodyOf(problem, request.id))
}

/** What to tell the caller of anything that was thrown: never more than it has a code and words for. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isUnavailable(error)) {
    return new Problem('unavailable', 'The database cannot be reached. Nothing is known to be done; repeat the call.', {
      headers: { 'retry-after': '1' },
      cause: error,
    })
  }
  const { code, statusCode } = error as Partial<FastifyError>
  const fault = FRAMEWORK_FAULTS[code ?? '']
  if (fault !== undefined) return new Problem(fault[0], fault[1])
  // The JSON parser's own error and whatever else Fastify blames on the request.
  if (error instanceof SyntaxError || statusCode === 400) {
    return new Problem(
      'invalid_request',
      'The request cannot be read: the body is not valid JSON or the path is malformed.',
    )
  }
  return new Problem('internal', 'Something went wrong inside the service.', { cause: error })
}

function bodyOf(problem: Problem, requestId: string) {
  const { status, title } = ERRORS[problem.code]
  return {
    type: problemType(problem.code),
    title,
    status,
    code: problem.code,
    detail: problem.message,
    request_id: requestId,
    ...problem.members,
  }
}

/** Answers what is not even HTTP, and closes. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const requestId = randomUUID()
  const problem = new Problem(
    'invalid_request',
    'The request is not valid HTTP, its headers are too large, or it came too slowly.',
  )
  const body = JSON.stringify(bodyOf(problem, requestId))
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
