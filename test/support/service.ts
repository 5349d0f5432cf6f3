import type { FastifyInstance } from 'fastify'
import { SignJWT } from 'jose'
import pino from 'pino'
import { expect } from 'vitest'
import { createApp, type Overrides } from '../../src/app.ts'
import type { Machine } from '../../src/clock.ts'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { findCluster } from '../../src/db/cluster/topology.ts'
import type { Database } from '../../src/db/connection/database.ts'
import type { EpochMs } from '../../src/domain/time/time.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createListener } from '../../src/http/listener.ts'
import type { Certificate } from '../../src/http/tls.ts'
import type { Dispatcher, DispatcherOptions } from '../../src/jobs/webhook-dispatcher.ts'
import type { Metrics } from '../../src/metrics.ts'
import { whenDone } from './cleanup.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'
import { createAnswerCheck } from './openapi-check.ts'

const SECRET = 'a secret for tests only, long enough for HS256'

export interface Answer {
  status: number
  headers: Record<string, string | undefined>
  /** The parsed JSON. It is checked against the OpenAPI document already. */
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
  /** What `/metrics` answers. No job runs by itself; tests pass its reports on to this. */
  metrics: Metrics
  /** Sends nothing by itself; tests call `dispatchOnce`. */
  webhooks: Dispatcher
  /** The clock of the service. It stands still until a test moves it. */
  clock: { now: EpochMs }
  adminToken: string
  /** A sender's that may also force. */
  senderToken: string
  userToken(userId: number): Promise<string>
  token(claims: Record<string, unknown>): Promise<string>
  /**
   * Calls the service, as the administrator if no token is given, and checks the answer against the service's own
   * OpenAPI document. A body that is a string is sent as it is.
   */
  call(method: string, url: string, options?: CallOptions): Promise<Answer>
}

let answerCheck: ReturnType<typeof createAnswerCheck> | undefined

/** Made of the first service's document and kept, because every service of a run has the same one. */
function answerCheckOf(server: FastifyInstance) {
  answerCheck ??= createAnswerCheck(server.swagger())
  return answerCheck
}

/** Of users, and of receivers of transfers. */
const NAMES = [
  ['user_ref', 'user_name'],
  ['to_user_ref', 'to_user_name'],
]

/** Of an object that JSON.parse revives, without the names of a user that has none. */
function withoutNoNames(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = new Map<string, unknown>(Object.entries(value))
  const absent = NAMES.filter(names => names.every(name => fields.get(name) === null)).flat()
  for (const name of absent) fields.delete(name)
  return absent.length === 0 ? value : Object.fromEntries(fields)
}

export const START = Date.parse('2026-03-15T12:00:00.000Z')

export interface ServiceOptions {
  /** The time at its start. Tokens hold for five years from then on. */
  start?: EpochMs
  /** The one to run on; a fresh one if left out. */
  database?: Promise<FreshDatabase>
  /** Further variables; they replace those below, the database's and the secret. */
  env?: Record<string, string>
  /** 0, no limit, if left out. */
  rateLimitPerMinute?: number
  requireCountry?: boolean
  requireRecipient?: boolean
  observe?: boolean
  /** On a cluster, of each lane. */
  queueCommands?: number
  /** How long senders' calls wait for a database that is away, in milliseconds. */
  giveUpMs?: number
  /** How long other calls wait for a connection, in milliseconds. */
  connectTimeout?: number
  webhooks?: Pick<DispatcherOptions, 'allowPrivate' | 'timeoutMs'>
  tracing?: Overrides['tracing']
  /** Gets each line of the log, from `LOG_LEVEL` on. */
  onLogLine?: (line: string) => void
  /** The clocks of the machine. */
  machine?: Machine
  /** By which references and users of the default plan are forgotten, and room for new users comes again. */
  monotonicMs?: () => number
  /** Whether bodies keep the names of users that have none. Left out: no, so that tests of other things need not list them. */
  showsNoNames?: boolean
  /** How long a client may make no progress, in milliseconds. */
  stallMs?: number
  /** Of a service that speaks HTTPS. */
  certificate?: Certificate
}

/** The pages of a list that is read by cursor: from that of the URL, which names a size or takes the default, to the last one. */
export async function pagesOf(
  { call, adminToken }: Service,
  url: string,
  token = adminToken,
): Promise<Answer['body'][]> {
  const pages = []
  for (let next = url; ; ) {
    const { status, body } = await call('GET', next, { token })
    expect(status, JSON.stringify(body)).toBe(200)
    pages.push(body)
    if (body.next_cursor === null) return pages
    next = `${url.split('?')[0]}?page_size=${body.page_size}&cursor=${body.next_cursor}`
  }
}

/**
 * The whole service on a database of its own, without its jobs and with a clock that stands still until it is moved.
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { url, db } = await (options.database ?? freshDatabase())
  const lanes = (await findCluster(db))?.lanes.length ?? 1
  const clock = { now: options.start ?? START }
  let scrapes = 0
  const { allowPrivate = false, ...webhooks } = options.webhooks ?? {}
  const loaded = loadConfig({
    AUTH_SECRET: SECRET,
    DATABASE_URL: url,
    RATE_LIMIT_PER_MINUTE: String(options.rateLimitPerMinute ?? 0),
    REQUIRE_COUNTRY: String(options.requireCountry ?? false),
    REQUIRE_RECIPIENT: String(options.requireRecipient ?? false),
    ENFORCEMENT: options.observe === true ? 'observe' : 'enforce',
    WEBHOOK_ALLOW_PRIVATE: String(allowPrivate),
    ...options.env,
  })
  if ('issues' in loaded) throw new ConfigError(loaded.issues)
  const { queueCommands, giveUpMs, connectTimeout, tracing, onLogLine, machine, monotonicMs, stallMs, certificate } =
    options
  const log =
    onLogLine === undefined
      ? pino({ level: 'silent' })
      : pino({ base: null, level: loaded.config.logLevel }, { write: onLogLine })
  const { server, parts, close } = await createApp(loaded.config, log, {
    now: () => clock.now,
    runJobs: false,
    // A statement takes a hundred times as long on a machine that is busy with something else.
    limits: { statementTimeout: 120_000, ...(connectTimeout === undefined ? {} : { connectTimeout }) },
    engine: {
      connections: 4,
      ...(queueCommands === undefined ? {} : { queueCommands: queueCommands * lanes }),
      ...(giveUpMs === undefined ? {} : { giveUpMs }),
    },
    ...(tracing === undefined ? {} : { tracing }),
    webhooks,
    // Each page of metrics is up to date.
    metricsClock: () => scrapes++ * 60_000,
    ...(machine === undefined ? {} : { machine }),
    ...(monotonicMs === undefined ? {} : { monotonicMs }),
    listener: createListener(certificate, stallMs === undefined ? {} : { stallMs }),
  })
  whenDone(close)
  await server.ready()
  const check = answerCheckOf(server)

  const token = (claims: Record<string, unknown>) =>
    new SignJWT({ exp: Math.floor(clock.now / 1000) + 5 * 365 * 86_400, ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(SECRET))
  const adminToken = await token({ sub: '1', roles: ['sms-quota:admin'] })

  return {
    ...parts,
    app: server,
    databaseUrl: url,
    clock,
    adminToken,
    senderToken: await token({ sub: 'gateway', roles: ['sms-quota:sender', 'sms-quota:force'] }),
    userToken: userId => token({ sub: String(userId) }),
    token,
    async call(method, url, { token: bearer = adminToken, body, headers = {} } = {}) {
      const answer = await server.inject({
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
        body:
          contentType.includes('ndjson') || !contentType.includes('json')
            ? answer.body
            : JSON.parse(answer.body, options.showsNoNames === true ? undefined : withoutNoNames),
      }
    },
  }
}
