import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createDefaultPlan } from './admin/plans/default-plan.ts'
import { createJobs, type JobsBase } from './background.ts'
import { type Clock, createClock, type Machine, synchronize } from './clock.ts'
import type { Config } from './config/config.ts'
import { assertRestored } from './db/backup/restore.ts'
import { findCluster } from './db/cluster/topology.ts'
import { type Database, type DatabaseOptions, openDatabase } from './db/connection/database.ts'
import { assertOwnSessions } from './db/connection/own-sessions.ts'
import { untilReachable } from './db/connection/reachable.ts'
import { readServerVersions } from './db/connection/server-versions.ts'
import { assertConnectionsFit, assertTrustworthy } from './db/connection/trust.ts'
import { startEmbedded } from './db/embedded/embedded.ts'
import { freeRatioOf } from './db/embedded/folders.ts'
import { assertNotRestoring } from './db/embedded/restoring.ts'
import { assertMigrated, migrate } from './db/schema/migrate.ts'
import { writeNames } from './db/users/principal-names.ts'
import { usersByReference } from './db/users/profiles.ts'
import type { EpochMs } from './domain/time/time.ts'
import { trustedTime } from './engine/completion.ts'
import { createEngine, ENGINE_CONNECTIONS, type Engine, type EngineOptions } from './engine/engine.ts'
import { createPauses, type Pauses } from './engine/pauses.ts'
import { createRates, type Rates } from './engine/rates.ts'
import { createFeed, type Feed } from './events/feed.ts'
import { type Authenticator, createAuthenticator } from './http/auth/authenticator.ts'
import { createNameWriter } from './http/auth/name-writer.ts'
import { createSenderUsers } from './http/auth/sender-users.ts'
import { createListener, type HttpListener } from './http/listener.ts'
import { createMetricsPage, createMetricsServer, type MetricsPage } from './http/platform/metrics-page.ts'
import { createRoom } from './http/platform/rate-limiter.ts'
import { createSlots } from './http/platform/slots.ts'
import { createSlowDown } from './http/platform/slow-down.ts'
import { createUserReferences, type UserReferences, usersOfReferences } from './http/references/references.ts'
import { createServer } from './http/server.ts'
import { createJobRunner, idleMsOn, type Job, type JobRunner } from './jobs/runner.ts'
import { createDispatcher, type Dispatcher, type DispatcherOptions } from './jobs/webhook-dispatcher.ts'
import type { PoolName } from './metrics/pools.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { provideSecrets, type Secrets } from './secrets.ts'
import { startTracing, type Tracer, type TracingOptions } from './tracing.ts'
import { TIME_ZONES, VERSION } from './version.ts'

/**
 * Connections of the jobs and the webhooks, apart from those of people: slow statements of one cannot keep the other
 * waiting. Readiness, the clock and the reader of pauses have one of their own.
 */
const JOB_CONNECTIONS = 4
const PING_CONNECTIONS = 1

/** Half of people's connections: an export uses one nearly all the time, and lists must still be answered. */
const maxExportsOf = (connections: number) => Math.max(1, Math.floor(connections / 2))

/** Limits of the connection for readiness, in milliseconds: a check must fail before the next but one is due. */
const PING_LIMITS = { statementTimeout: 1_500, connectTimeout: 2_000 }

/** The service: all parts are started, and requests that arrive at its server are answered. */
export interface App {
  server: FastifyInstance
  /** Serves `/metrics` if that has a separate port. */
  metricsServer: FastifyInstance | undefined
  /** The parts behind the server, for tests. */
  parts: { db: Database; jobsDb: Database; engine: Engine; webhooks: Dispatcher; metrics: Metrics }
  /** Answers the requests under way, then stops all parts, its own database last. It never rejects. */
  close(): Promise<void>
}

/** The choices of the process, and of tests, beside the configuration. */
export interface Overrides {
  /** The time of the service, instead of its clock's. */
  now?: () => EpochMs
  /** The clocks of the machine. */
  machine?: Machine
  /** Milliseconds that never go back, by which references and users of the default plan are forgotten, and room for new users comes again. */
  monotonicMs?: () => number
  /** When a page of metrics is stale, by milliseconds that never go back. */
  metricsClock?: () => number
  /** The server that listens already. Tests leave it out, and let the framework listen. */
  listener?: HttpListener
  /** Of the connections of calls and jobs. */
  limits?: Pick<DatabaseOptions, 'statementTimeout' | 'connectTimeout'>
  /** Ends the wait for the database: the start then rejects with its reason. */
  stopping?: AbortSignal
  /** False starts no job; true if left out. */
  runJobs?: boolean
  engine?: Pick<EngineOptions, 'connections' | 'queueCommands' | 'giveUpMs'>
  tracing?: Pick<TracingOptions, 'sendEveryMs'>
  webhooks?: Pick<DispatcherOptions, 'timeoutMs'>
}

/** Ends one part. */
type Stop = () => Promise<void>

/** What the parts below have in common. */
interface Base extends JobsBase, Secrets {
  rates: Rates
  tracer: Tracer | undefined
}

type Watched = { clock: Clock; pauses: Pauses; feed: Feed; listener: HttpListener }
type PoolLimits = Omit<DatabaseOptions, 'url' | 'log'>

/** The maximum number of connections of this process to the database, without the two of a migration at its start. */
export function connectionsOf({ databasePoolSize }: Config): number {
  return databasePoolSize + JOB_CONNECTIONS + PING_CONNECTIONS + ENGINE_CONNECTIONS
}

/** Wires all parts, in the order in which they need each other. If one cannot start, those before it are stopped. */
export async function createApp(config: Config, log: FastifyBaseLogger, overrides: Overrides = {}): Promise<App> {
  const stops: Stop[] = []
  const close = () => stopAll(stops.splice(0).reverse(), log)
  try {
    const url = await provideDatabase(config, log, stops)
    const metrics = createMetrics()
    const open = (pool: PoolName, options: PoolLimits) => openPool(pool, { url, log, ...options }, metrics, stops)
    const db = open('calls', { maxConnections: config.databasePoolSize, ...overrides.limits })
    if (config.databaseUrl === null) metrics.watchDisk(() => freeRatioOf(config.dataDir))
    const pingDb = open('checks', { maxConnections: PING_CONNECTIONS, ...PING_LIMITS })
    await untilReachable(pingDb, { ms: config.databaseWaitSeconds * 1_000, log, signal: overrides.stopping })
    await assertOwnSessions(db, pingDb)
    await assertTrustworthy(db)
    await assertRestored(db)
    await assertConnectionsFit(db, connectionsOf(config))
    await (config.migrate === 'auto' ? migrate({ url, log }) : assertMigrated({ url }))
    metrics.build({ version: VERSION, node: process.version, timeZones: TIME_ZONES, ...(await readServerVersions(db)) })
    const secrets = await provideSecrets(config, db, log)
    const jobsDb = open('jobs', { maxConnections: JOB_CONNECTIONS, ...overrides.limits })
    const clock = createClock(overrides.machine)
    await synchronize(clock, pingDb)
    const now = overrides.now ?? (() => trustedTime(clock))
    const tracer = await provideTracer(config, overrides.tracing, stops)
    const cluster = await findCluster(jobsDb)
    const rates = createRates(pingDb)
    const pauses = createPauses({ db: pingDb, now, rates })
    await pauses.read()
    const base = { config, log, jobsDb, now, metrics, pauses, rates, ...secrets, tracer, idleMs: idleMsOn(cluster) }

    const engine = startEngine(base, { url, cluster }, overrides, stops)
    const webhooks = createWebhookDispatcher(base, overrides.webhooks)
    const jobs = provideJobs([...createJobs(base, engine), webhooks], base, stops)
    if (overrides.runJobs ?? true) jobs.start()

    const feed = createFeed(db)
    const people = provideReferences(db, base, overrides)
    const { listener = createListener() } = overrides
    watch(metrics, { clock, pauses, feed, listener })
    const metricsPage = createMetricsPage(metrics, overrides.metricsClock)
    const server = await createServer({
      db,
      engine,
      pauses,
      ...people,
      feed,
      webhooks,
      addressCodes: secrets.addressCodes,
      secretKeys: secrets.secretKeys,
      now,
      log,
      metrics,
      tracer,
      metricsPage: config.metricsPort === null ? metricsPage : null,
      authenticator: await provideAuthenticator(base, people.references, stops),
      listener,
      settings: config,
      exportSlots: createSlots(maxExportsOf(config.databasePoolSize), 'exports'),
      oidc: config.consoleOidc,
    })
    stops.push(() => server.close())
    const metricsServer = provideMetricsServer(config, metricsPage, stops)
    await server.ready()
    stops.push(() => listener.readiness.stop())
    await listener.readiness.watch(() => whyNotReady(clock, pingDb, engine), log)
    return { server, metricsServer, parts: { db, jobsDb, engine, webhooks, metrics }, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What forgets by the process's own clock, unless a test moves it. */
const clockOf = ({ monotonicMs }: Overrides) => (monotonicMs === undefined ? {} : { monotonicMs })

/** Stops the parts one after the other. A part that fails to stop does not keep the others running. */
async function stopAll(stops: readonly Stop[], log: FastifyBaseLogger): Promise<void> {
  for (const stop of stops) await stop().catch(error => log.error({ err: error }, 'app: a part did not stop properly'))
}

/** The address of the configured database, or of the service's own, which it starts. */
async function provideDatabase(config: Config, log: FastifyBaseLogger, stops: Stop[]): Promise<string> {
  if (config.databaseUrl !== null) return config.databaseUrl
  await assertNotRestoring(config.dataDir)
  const embedded = await startEmbedded({ dataDir: config.dataDir, log })
  stops.push(() => embedded.stop())
  return embedded.url
}

async function provideTracer({ tracing: { endpoint, ratio } }: Config, options: Overrides['tracing'], stops: Stop[]) {
  if (endpoint === null) return undefined
  const tracing = await startTracing({ endpoint, ratio, version: VERSION, ...options })
  stops.push(() => tracing.close())
  return tracing
}

function openPool(pool: PoolName, options: DatabaseOptions, metrics: Metrics, stops: Stop[]): Database {
  const db = openDatabase({ ...options, onWait: ms => metrics.poolWait(pool, ms) })
  metrics.watchPool(pool, () => db.pool)
  stops.push(() => db.close())
  return db
}

function startEngine(
  { config, log, jobsDb, now, metrics, pauses, rates, tracer, valueKey }: Base,
  store: Pick<EngineOptions, 'url' | 'cluster'>,
  overrides: Overrides,
  stops: Stop[],
): Engine {
  const engine = createEngine({
    ...store,
    valueKey,
    now,
    log,
    observe: config.enforcement === 'observe',
    pauses,
    rates,
    newcomers: createDefaultPlan({
      db: jobsDb,
      now,
      room: createRoom(config.defaultPlanUsersPerMinute, overrides.monotonicMs),
      ...clockOf(overrides),
    }),
    onQueueReport(report) {
      metrics.queued(report)
      tracer?.record('engine batch', report.ranMs, {
        'sms_quota.batch.commands': report.size,
        'sms_quota.batch.queued_ms': report.queuedMs,
      })
    },
    onBatchReport: metrics.batch,
    ...overrides.engine,
  })
  stops.push(() => engine.close())
  metrics.watchQueue(() => engine.queue)
  return engine
}

function createWebhookDispatcher(
  { config, log, jobsDb: db, now, metrics, secretKeys: keys, addressCodes, tracer, idleMs }: Base,
  options: Overrides['webhooks'],
): Dispatcher {
  return createDispatcher({
    db,
    keys,
    now,
    log,
    tracer,
    idleMs,
    allowPrivate: config.webhookAllowPrivate,
    mail: config.mail,
    publicUrl: config.publicUrl,
    addressCodes: config.userNotifications ? addressCodes : null,
    onDelivery: metrics.delivery,
    onPending: metrics.pendingDeliveries,
    ...options,
  })
}

/** What finds users by references, and makes them for senders. */
function provideReferences(db: Database, { config, now }: Base, overrides: Overrides) {
  const references = createUserReferences({ read: refs => usersByReference(db, refs), ...clockOf(overrides) })
  const parts = { references, db, now, settings: config }
  return { references, senderUsers: createSenderUsers(parts, overrides.monotonicMs) }
}

async function provideAuthenticator(
  { config, now, log, jobsDb, metrics }: Base,
  references: UserReferences,
  stops: Stop[],
): Promise<Authenticator> {
  const usersOf = (refs: readonly string[]) => usersOfReferences(references, refs)
  const names = createNameWriter({ usersOf, write: (seen, at) => writeNames(jobsDb, seen, at), log })
  stops.push(() => names.stop())
  return createAuthenticator(config, { now, log, onKeysFetched: metrics.keysFetched, onVerified: names.note })
}

function provideJobs(jobs: readonly Job[], { log, metrics }: Base, stops: Stop[]): JobRunner {
  const runner = createJobRunner(jobs, { log, onStart: metrics.jobStarted, onStep: metrics.jobStep })
  stops.push(() => runner.stop())
  return runner
}

/** Tells the metrics what they read at each scrape. */
function watch(metrics: Metrics, { clock, pauses, feed, listener }: Watched): void {
  metrics.watchClock(() => clock.aheadMs)
  metrics.watchPauses(() => pauses.ageMs)
  metrics.watchFeed(() => feed.waiting)
  metrics.watchReadiness(() => listener.readiness.reason === null)
  if (listener.certificate !== undefined) metrics.watchCertificate(() => listener.certificate?.expiresAt ?? Number.NaN)
}

/** The server of `METRICS_PORT`. It counts its callers by itself, so no flood of the other port keeps the monitoring from it. */
function provideMetricsServer(
  { metricsPort, authFailuresPerMinute }: Config,
  page: MetricsPage,
  stops: Stop[],
): FastifyInstance | undefined {
  if (metricsPort === null) return undefined
  const server = createMetricsServer(page, createSlowDown(authFailuresPerMinute))
  stops.push(() => server.close())
  return server
}

/** Why requests cannot be served now; null if they can. Rejects if the database does not answer. */
async function whyNotReady(clock: Clock, db: Database, engine: Engine): Promise<string | null> {
  const { isReadOnly } = await synchronize(clock, db)
  if (clock.now() === null) return 'the clock and the database have jumped apart; waiting until they agree'
  if (isReadOnly) return 'the database is read-only: it is a standby, or default_transaction_read_only is on'
  return engine.isDiskFull ? 'the disk of the database is full' : null
}
