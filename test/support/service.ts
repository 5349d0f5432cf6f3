import type { FastifyInstance } from 'fastify'
import { SignJWT } from 'jose'
import pino from 'pino'
import { afterAll } from 'vitest'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/db/database.ts'
import type { EpochMs } from '../../src/domain/time.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { createFeed } from '../../src/events/feed.ts'
import { createAuthenticator } from '../../src/http/auth/authenticator.ts'
import { createServer } from '../../src/http/server.ts'
import { createDispatcher, type Dispatcher, type DispatcherOptions } from '../../src/jobs/webhook-dispatcher.ts'
import { createMetrics, type Metrics } from '../../src/metrics.ts'
import { freshDatabase } from './database.ts'
import { createAnswerCheck } from './openapi-check.ts'

const SECRET = 'a secret for tests only, long enough for HS256'

export interface Answer {
  status: number
  headers: Record<string, string | undefined>
  /** Parsed JSON of whatever shape; the OpenAPI document has judged it already. */
  body: ReturnType<typeof JSON.parse>
}

interface CallOptions {
  token?: string | null
  body?: unknown
  headers?: Record<string, string>
}

export interface Service {
  app: FastifyInstance
  db: Database
  databaseUrl: string
  engine: Engine
  /** What `/metrics` tells; tests have the loops count into it. */
  metrics: Metrics
  /** Sends nothing by itself: tests have it dispatch. */
  webhooks: Dispatcher
  /** The moment the service believes it is; tests move it. */
  clock: { now: EpochMs }
  adminToken: string
  senderToken: string
  userToken(userId: number): Promise<string>
  token(claims: Record<string, unknown>): Promise<string>
  /**
   * Calls the service, as the administrator unless told otherwise, and checks the answer against the service's own
   * OpenAPI document. A body that is text is sent as it is.
   */
  call(method: string, url: string, options?: CallOptions): Promise<Answer>
}

export const START = Date.parse('2026-03-15T12:00:00.000Z')

export interface ServiceOptions {
  /** Variables beside the database's and the secret; they may take the secret away. */
  env?: Record<string, string>
  rateLimitPerMinute?: number
  requireCountry?: boolean
  observe?: boolean
  queueCommands?: number
  webhooks?: Partial<DispatcherOptions>
}

/** The real routes on a database of their own, with a clock that stands still until it is moved. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { db, url } = await freshDatabase()
  const clock = { now: START }
  const { rateLimitPerMinute = 0, requireCountry = false, webhooks: webhookOptions = {}, env = {}, ...rest } = options
  const loaded = loadConfig({ AUTH_SECRET: SECRET, DATABASE_URL: url, ...env })
  if ('issues' in loaded) throw new ConfigError(loaded.issues)
  const now = () => clock.now
  const log = pino({ level: 'silent' })
  const metrics = createMetrics()
  const watched = { onLaneReport: metrics.lane, onBatchReport: metrics.batch }
  const engine = createEngine({ url, now, log, connections: 4, ...watched, ...rest })
  metrics.watchQueue(() => engine.queue)
  const webhooks = createDispatcher({
    db,
    now,
    log,
    onDelivery: metrics.delivery,
    onPending: metrics.pendingDeliveries,
    ...webhookOptions,
  })
  const feed = createFeed(db)
  metrics.watchFeed(() => feed.waiting)
  const app = await createServer({
    db,
    engine,
    feed,
    webhooks,
    now,
    log,
    metrics,
    servesMetrics: true,
    authenticator: await createAuthenticator(loaded.config, { now }),
    readiness: () =>
      db.ping().then(
        () => [],
        () => ['the database does not answer'],
      ),
    rateLimitPerMinute,
    requireCountry,
    oidc: loaded.config.consoleOidc,
  })
  afterAll(async () => {
    await app.close()
    await webhooks.stop()
    await engine.close()
  })
  await app.ready()
  const check = createAnswerCheck(app.swagger())

  const token = (claims: Record<string, unknown>) =>
    new SignJWT({ exp: Math.floor(clock.now / 1000) + 100 * 365 * 86_400, ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(SECRET))
  const adminToken = await token({ sub: '1', roles: ['sms-quota:admin'] })

  return {
    app,
    db,
    databaseUrl: url,
    engine,
    metrics,
    webhooks,
    clock,
    adminToken,
    senderToken: await token({ sub: 'gateway', roles: ['sms-quota:sender'] }),
    userToken: userId => token({ sub: String(userId) }),
    token,
    async call(method, url, { token: bearer = adminToken, body, headers = {} } = {}) {
      const answer = await app.inject({
        method: method as 'GET',
        url,
        headers: {
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const contentType = String(answer.headers['content-type'] ?? '')
      check(method, url, answer.statusCode, contentType, answer.body)
      return {
        status: answer.statusCode,
        headers: answer.headers as Record<string, string | undefined>,
        body: contentType.includes('json') ? answer.json() : answer.body,
      }
    },
  }
}
