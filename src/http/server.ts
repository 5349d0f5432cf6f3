import { randomUUID } from 'node:crypto'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import Fastify, { type FastifyInstance, LogController } from 'fastify'
import { Problem } from '../errors.ts'
import type { Tracer } from '../tracing.ts'
import { auditRoutes } from './audit/routes.ts'
import type { Access } from './auth/authenticator.ts'
import { createVerificationLimit, guard, identifyUsers, limitPrincipals, type VerificationLimit } from './auth/guard.ts'
import { createProvider } from './auth/provider.ts'
import { breakerRoutes } from './breaker/routes.ts'
import { breakerSettingsRoutes } from './breaker/settings-routes.ts'
import { callerRoutes, nameRoutes } from './callers/routes.ts'
import { createSteps } from './changes/step-pacer.ts'
import { consoleRoutes } from './console/routes.ts'
import type { ServerParts } from './context.ts'
import { customerRoutes } from './customers/routes.ts'
import { adminDenialRoutes, userDenialRoutes } from './denials/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { exportRoutes } from './exports/routes.ts'
import { adminRequestRoutes, userRequestRoutes } from './increase-requests/routes.ts'
import { notificationLinkRoutes, notificationRoutes } from './notifications/routes.ts'
import { docsRoutes } from './operations/docs-routes.ts'
import { operationsRoutes } from './operations/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { pauseRoutes } from './pauses/routes.ts'
import { rollOutRoutes } from './plans/roll-out-routes.ts'
import { planRoutes } from './plans/routes.ts'
import { userPlanRoutes } from './plans/user-routes.ts'
import { createBodyReader, MAX_UNFINISHED_BYTES } from './platform/body-reader.ts'
import { createAddressOf } from './platform/client-address.ts'
import { createErrorAnswers } from './platform/error-answers.ts'
import { FORMATS } from './platform/formats.ts'
import { clientRequestId, PLAIN_HEADERS, SECURITY_HEADERS } from './platform/headers.ts'
import { checkQueryEncoding, parseJsonBodies } from './platform/json-body.ts'
import { describeApi } from './platform/openapi.ts'
import { createRateLimiter } from './platform/rate-limiter.ts'
import { chargeReads } from './platform/reads.ts'
import { createReportLine, lineUpReports } from './platform/report-line.ts'
import {
  type AnsweredRequest,
  createRequestLog,
  logRequests,
  type ReportAnswer,
  type RequestLog,
} from './platform/request-log.ts'
import { refuseUnknownRoutes } from './platform/routing.ts'
import { createSlowDown, slowDownCalls } from './platform/slow-down.ts'
import { compileValidator } from './platform/validation.ts'
import { quotaChangeRoutes, quotaStepRoutes } from './quotas/change-routes.ts'
import { quotaHistoryRoutes } from './quotas/history-routes.ts'
import { adminQuotaRoutes, quotaCheckRoutes, userQuotaRoutes } from './quotas/routes.ts'
import { rateCardRoutes } from './rates/routes.ts'
import { showUserNames } from './references/user-names.ts'
import { adminReservationRoutes, userReservationRoutes } from './reservations/routes.ts'
import { searchRoutes } from './search/routes.ts'
import { createSenderLimit } from './sender/admission.ts'
import { createPlainCalls } from './sender/plain-calls.ts'
import { senderRoutes } from './sender/routes.ts'
import { transferRoute, transferRoutes } from './transfers/routes.ts'
import { adminUsageRoutes, userUsageRoutes } from './usage/routes.ts'
import { acceptReferences } from './users/named-users.ts'
import { erasureRoutes, profileRoutes, userDataRoutes, userRoutes } from './users/routes.ts'
import { deliveryRoutes } from './webhooks/delivery-routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

interface Scope {
  prefix: string
  /**
   * What the routes need unless they declare another `access`: under `read`, those that are not GET need `change`. Senders
   * are limited by the queue and by their operations, all others by their calls.
   */
  access: Access
  /** Whether answers show the names of users; left out: those that are read by administrators do. */
  namesUsers?: boolean
  routes: ((scope: FastifyInstance, parts: ServerParts) => void)[]
}

/** The API: the routes under each prefix, and what a token must allow. */
const API: readonly Scope[] = [
  {
    prefix: '/api/sms/quota',
    access: 'own',
    routes: [
      userQuotaRoutes,
      userUsageRoutes,
      userReservationRoutes,
      userDenialRoutes,
      userRequestRoutes,
      notificationRoutes,
    ],
  },
  {
    prefix: '/api/sms/admin/quota',
    access: 'read',
    routes: [
      adminQuotaRoutes,
      quotaCheckRoutes,
      quotaChangeRoutes,
      quotaStepRoutes,
      transferRoute,
      quotaHistoryRoutes,
      adminReservationRoutes,
      adminUsageRoutes,
    ],
  },
  { prefix: '/api/sms/admin/transfers', access: 'read', routes: [transferRoutes] },
  {
    prefix: '/api/sms/admin/users',
    access: 'read',
    routes: [userRoutes, profileRoutes, userPlanRoutes, userDataRoutes, erasureRoutes],
  },
  { prefix: '/api/sms/admin/customers', access: 'read', routes: [customerRoutes] },
  { prefix: '/api/sms/admin/plans', access: 'read', routes: [planRoutes, rollOutRoutes] },
  { prefix: '/api/sms/admin/rate-cards', access: 'read', routes: [rateCardRoutes] },
  { prefix: '/api/sms/admin/requests', access: 'read', routes: [adminRequestRoutes] },
  { prefix: '/api/sms/admin/pauses', access: 'read', routes: [pauseRoutes] },
  { prefix: '/api/sms/admin/breaker', access: 'read', routes: [breakerRoutes, breakerSettingsRoutes] },
  { prefix: '/api/sms/admin/export', access: 'export', routes: [exportRoutes] },
  { prefix: '/api/sms/admin/search', access: 'read', routes: [searchRoutes] },
  { prefix: '/api/sms/admin/denials', access: 'read', routes: [adminDenialRoutes] },
  { prefix: '/api/sms/admin/events', access: 'read', namesUsers: false, routes: [eventRoutes] },
  { prefix: '/api/sms/admin/audit', access: 'read', routes: [auditRoutes] },
  { prefix: '/api/sms/admin/overview', access: 'read', namesUsers: false, routes: [overviewRoutes] },
  { prefix: '/api/sms/admin/names', access: 'read', routes: [nameRoutes] },
  { prefix: '/api/sms/admin/webhooks', access: 'read', routes: [webhookRoutes, deliveryRoutes] },
  { prefix: '/api/sms/sender/quota', access: 'send', routes: [senderRoutes] },
  { prefix: '/api/sms/me', access: 'anyone', routes: [callerRoutes] },
]

/** The maximum size of a body, in bytes; batches have their own. */
const MAX_BODY_BYTES = 64 * 1024

/** Builds the API behind the server that owns the port, which serves it as soon as it is ready. */
export async function createServer(given: Omit<ServerParts, 'steps' | 'senderLimit'>): Promise<FastifyInstance> {
  const parts: ServerParts = { ...given, steps: createSteps(), senderLimit: createSenderLimit(given.settings) }
  let serve = () => {}
  const { logClientAddress, authFailuresPerMinute, trustProxy, maxConnections } = parts.settings
  const addressOf = createAddressOf(trustProxy)
  const requestLog = createRequestLog({ log: parts.log, clientAddress: logClientAddress, addressOf })
  const slowDown = createSlowDown(authFailuresPerMinute, addressOf)
  const errors = createErrorAnswers(requestLog, slowDown, MAX_BODY_BYTES)
  const reportAnswer = createReport(parts, requestLog)
  const mayVerify = createVerificationLimit(parts.settings.authFailuresPerMinute, addressOf)
  const takePlainCall = parts.settings.senderDoor
    ? createPlainCalls({ ...parts, verifications: mayVerify, errors, reportAnswer })
    : undefined
  const app = Fastify({
    loggerInstance: parts.log,
    // logRequests logs each response once, without private data.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: MAX_BODY_BYTES,
    serverFactory(handler) {
      serve = () => parts.listener.serve(handler, slowDown, takePlainCall)
      return parts.listener.server
    },
    forceCloseConnections: 'idle',
    // Requests that arrive during a stop are still served: the database and the engine close last.
    return503OnClosing: false,
    genReqId: request => clientRequestId(request.headers) ?? randomUUID(),
    clientErrorHandler: errors.answerBroken,
    frameworkErrors: errors.answer,
    // The serializer ignores formats; only their names must be known.
    serializerOpts: { ajv: { formats: Object.fromEntries(Object.keys(FORMATS).map(name => [name, true])) } },
    schemaController: { compilersFactory: { buildSerializer } },
    // Schemas check the parts of a path. The server's limit on headers bounds its length.
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: Number.MAX_SAFE_INTEGER },
  })
  app.server.maxConnections = maxConnections
  app.setValidatorCompiler(compileValidator)
  app.decorateRequest('principal', null)
  app.decorateRequest('userRef', null)
  app.addHook('onReady', async () => serve())
  app.addHook('onClose', () => parts.listener.close())

  app.addHook('onRequest', (request, reply, done) => {
    const isForMachines = request.routeOptions.config?.isForMachines === true
    reply.headers(isForMachines ? PLAIN_HEADERS : SECURITY_HEADERS).header('x-request-id', request.id)
    done()
  })
  refuseUnknownRoutes(app)
  app.addHook('preValidation', (request, _reply, done) => {
    checkQueryEncoding(request.url)
    done()
  })
  logRequests(app, requestLog, reportAnswer)
  // For the routes that serve files.
  app.setNotFoundHandler(() => {
    throw new Problem('not_found', 'There is no such file.')
  })
  app.setErrorHandler(errors.answer)
  app.decorate('bodyReader', createBodyReader(MAX_UNFINISHED_BYTES))
  parseJsonBodies(app, app.bodyReader, MAX_BODY_BYTES)

  await describeApi(app)
  await registerApi(app, parts, mayVerify)
  await app.register(async scope => {
    slowDownCalls(scope, slowDown)
    await registerOpenRoutes(scope, parts)
  })
  return app
}

/** Registers the routes of the API with their guards and limits. */
async function registerApi(app: FastifyInstance, parts: ServerParts, mayVerify: VerificationLimit): Promise<void> {
  const { rateLimitPerMinute } = parts.settings
  const calls = createRateLimiter({ perMinute: rateLimitPerMinute })
  const reportLine = createReportLine()
  for (const { prefix, access, namesUsers = access === 'read', routes } of API) {
    await app.register(
      async scope => {
        guard(scope, parts.authenticator, access, mayVerify)
        acceptReferences(scope, parts, access)
        if (namesUsers) showUserNames(scope, parts.db)
        if (access !== 'send') limitPrincipals(scope, calls, `${rateLimitPerMinute} calls per minute`)
        if (access === 'own' || access === 'anyone') identifyUsers(scope, parts.references)
        if (access !== 'send') {
          lineUpReports(scope, reportLine)
          chargeReads(scope, calls, rateLimitPerMinute)
        }
        for (const add of routes) add(scope, parts)
      },
      { prefix },
    )
  }
}

/** Registers the routes that need no token. */
async function registerOpenRoutes(app: FastifyInstance, parts: ServerParts): Promise<void> {
  operationsRoutes(app, parts)
  await app.register(scope => notificationLinkRoutes(scope, parts), { prefix: '/api/sms/quota/notifications' })
  await docsRoutes(app)
  app.get('/', { schema: { hide: true } }, (_request, reply) => reply.redirect('/console/'))
  await app.register(consoleRoutes, {
    prefix: '/console',
    provider: parts.oidc && createProvider(parts.oidc, parts.now),
    segments: parts.settings.segments,
    contact: parts.settings.contact,
  })
}

/**
 * Compiles serializers, so that responses have exactly the fields of their schemas. That takes a quarter of the start time,
 * so only those for senders are compiled at the start; each of the others with its first response. Problems come from one
 * table and use JSON.stringify.
 */
const buildSerializer: ReturnType<typeof SerializerSelector> = (schemas, options) => {
  // Each scope of routes has a builder of its own, and the schemas are those of the whole API.
  let compileKnown: ReturnType<typeof buildSerializer> | undefined
  const compile: ReturnType<typeof buildSerializer> = route => {
    const schema = withOpenValues(route.schema)
    const text = JSON.stringify(schema)
    const known = compiled.get(text)
    if (known !== undefined) return known
    compileKnown ??= SerializerSelector()(withOpenValues(schemas), options)
    const serialize = compileKnown({ ...route, schema })
    compiled.set(text, serialize)
    return serialize
  }
  return route => {
    if (Number(route.httpStatus) >= 400) return JSON.stringify
    if (route.url.startsWith('/api/sms/sender/')) return compile(route)
    let serialize: ReturnType<typeof compile> | undefined
    return value => {
      serialize ??= compile(route)
      return serialize(value)
    }
  }
}

/** By the text of their schemas: routes with the same answer share one, and so do all services of a process. */
const compiled = new Map<string, ReturnType<ReturnType<typeof buildSerializer>>>()

/**
 * Schemas for a serializer whose nullable fields take any text where this version knows some values: one that a newer version
 * has stored is shown as it is. Of a union, the serializer would find no part that fits, and fail.
 */
function withOpenValues<Schema>(schemas: Schema): Schema {
  const isNull = (part: object) => 'type' in part && part.type === 'null'
  return JSON.parse(JSON.stringify(schemas), (key, value) =>
    key === 'anyOf' && value.some(isNull)
      ? value.map((part: object) => ('enum' in part ? { type: 'string' } : part))
      : value,
  )
}

/** Says of each answer what it was: to the traces, the log and the metrics. */
function createReport({ tracer, metrics }: Pick<ServerParts, 'tracer' | 'metrics'>, log: RequestLog): ReportAnswer {
  return request => {
    const { route, method, status, ms, problem } = request
    if (tracer !== undefined) traceAnswer(tracer, request)
    log.answered(request)
    metrics.request(route, method, status, ms / 1_000)
    if (problem) metrics.problem(problem)
  }
}

/**
 * A span per request. It names the route, and nothing of the path, the query or the body. An authenticated caller's trace is
 * continued, and kept if the caller keeps it. All others get a trace of their own, of which the configured part is kept: else
 * anyone could fill the collector. That is known only later, so the span is made at the end.
 */
function traceAnswer(tracer: Tracer, { id, method, route, principal, status, ms, traceparent }: AnsweredRequest): void {
  const span = tracer.start(`${method} ${route ?? 'none'}`, 'server', {
    traceparent: principal === null ? undefined : traceparent,
    startTime: Date.now() - ms,
  })
  span.end(status >= 500, {
    'http.request.method': method,
    'http.route': route ?? 'none',
    'http.response.status_code': status,
    'sms_quota.request_id': id,
  })
}
