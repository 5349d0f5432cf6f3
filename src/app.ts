import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Clock, createClock, type Machine } from './clock.ts'
import type { Config } from './config/config.ts'
import { assertTrustworthy, type Database, openDatabase } from './db/database.ts'
import { startEmbedded } from './db/embedded/embedded.ts'
import { assertMigrated, migrate } from './db/migrate.ts'
import { DAY_MS, type EpochMs } from './domain/time.ts'
import { createEngine, type Engine, type EngineOptions } from './engine/engine.ts'
import { Unavailable } from './engine/failures.ts'
import { createFeed } from './events/feed.ts'
import { createAuthenticator } from './http/auth/authenticator.ts'
import { createMetricsServer } from './http/operations/routes.ts'
import { createServer } from './http/server.ts'
import { createAlertCleaner } from './jobs/alert-cleaner.ts'
import { createDenialRetention } from './jobs/denial-retention.ts'
import { createEraser } from './jobs/erasure.ts'
import { createEventCounter } from './jobs/event-counter.ts'
import { createEventRetention } from './jobs/event-retention.ts'
import { createExpiryNotifier } from './jobs/expiry-notifier.ts'
import { createRetention } from './jobs/retention.ts'
import { createJobRunner, type Job } from './jobs/runner.ts'
import { createSweeper } from './jobs/sweeper.ts'
import { createUsageCompaction } from './jobs/usage-compaction.ts'
import { createUsageRollup } from './jobs/usage-rollup.ts'
import { createDispatcher, type Dispatcher, type DispatcherOptions } from './jobs/webhook-dispatcher.ts'
import { createWebhookRetention } from './jobs/webhook-retention.ts'
import { createMetrics, type Metrics } from './metrics.ts'

/** How often the clock is synchronized with the database's, and how often while it is not trusted. */
const SYNCHRONIZE_MS = 10_000
const SYNCHRONIZE_DOUBTED_MS = 1_000

/**
 * Connections of the jobs and the webhooks, apart from those of people: slow statements of one cannot keep the other
 * waiting. Readiness and the clock have one of their own.
 */
const JOB_CONNECTIONS = 4
const PING_CONNECTIONS = 1

/** How long a stop waits for clients that have not sent their request or read their response completely. */
const DRAIN_MS = 5_000

/** The service: all parts are started, and nothing listens yet. */
export interface App {
  server: FastifyInstance
  /** Serves `/metrics` if that has a separate port. */
  metricsServer: FastifyInstance | undefined
  /** The parts behind the server, for tests. */
  parts: { db: Database; jobsDb: Database; engine: Engine; webhooks: Dispatcher; metrics: Metrics }
  /** Answers the requests under way, then stops all parts, its own database last. It never rejects. */
  close(): Promise<void>
}

/** What tests choose beside the configuration. */
export interface Overrides {
  /** The time of the service, instead of its clock's. */
  now?: () => EpochMs
  /** The clocks of the machine. */
  machine?: Machine
  /** False starts no job; true if left out. */
  runJobs?: boolean
  engine?: Pick<EngineOptions, 'connections' | 'queueCommands'>
  webhooks?: Pick<DispatcherOptions, 'timeoutMs'>
}

/** Ends one part. */
type Stop = () => Promise<void>

/** What the parts below have in common. */
interface Base {
  config: Config
  log: FastifyBaseLogger
  jobsDb: Database
  now: () => EpochMs
  metrics: Metrics
}

/** Wires all parts, in the order in which they need each other. If one cannot start, those before it are stopped. */
export async function createApp(config: Config, log: FastifyBaseLogger, overrides: Overrides = {}): Promise<App> {
  const stops: Stop[] = []
  const close = () => stopAll(stops.splice(0).reverse(), log)
  try {
    const url = await provideDatabase(config, log, stops)
    const open = (maxConnections: number) => openPool(url, maxConnections, log, stops)
    const db = open(config.databasePoolSize)
    await assertTrustworthy(db)
    await (config.migrate === 'auto' ? migrate({ url, log }) : assertMigrated({ url }))
    const jobsDb = open(JOB_CONNECTIONS)
    const pingDb = open(PING_CONNECTIONS)
    const clock = await startClock(pingDb, overrides.machine, log, stops)
    const now = overrides.now ?? (() => trustedTime(clock))
    const metrics = createMetrics()
    const base = { config, log, jobsDb, now, metrics }

    const engine = startEngine(base, url, overrides.engine, stops)
    const webhooks = createWebhookDispatcher(base, overrides.webhooks)
    const jobs = createJobRunner([...createJobs(base, engine), webhooks], { log })
    stops.push(() => jobs.stop())
    if (overrides.runJobs ?? true) jobs.start()

    const feed = createFeed(db)
    metrics.watchFeed(() => feed.waiting)
    const server = await createServer({
      db,
      engine,
      feed,
      webhooks,
      now,
      log,
      metrics,
      servesMetrics: config.metricsPort === null,
      authenticator: await createAuthenticator(config, { now }),
      readiness: () => whyNotReady(clock, pingDb),
      rateLimitPerMinute: config.rateLimitPerMinute,
      authFailuresPerMinute: config.authFailuresPerMinute,
      maxConnections: config.maxConnections,
      requireCountry: config.requireCountry,
      oidc: config.consoleOidc,
    })
    stops.push(() => closeServer(server))
    const metricsServer = config.metricsPort === null ? undefined : createMetricsServer(metrics)
    if (metricsServer !== undefined) stops.push(() => metricsServer.close())
    return { server, metricsServer, parts: { db, jobsDb, engine, webhooks, metrics }, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Stops the parts one after the other. A part that fails to stop does not keep the others running. */
async function stopAll(stops: readonly Stop[], log: FastifyBaseLogger): Promise<void> {
  for (const stop of stops) await stop().catch(error => log.error({ err: error }, 'app: a part did not stop properly'))
}

/** The address of the configured database, or of the service's own, which it starts. */
async function provideDatabase(config: Config, log: FastifyBaseLogger, stops: Stop[]): Promise<string> {
  if (config.databaseUrl !== null) return config.databaseUrl
  const embedded = await startEmbedded({ dataDir: config.dataDir, log })
  stops.push(() => embedded.stop())
  return embedded.url
}

function openPool(url: string, maxConnections: number, log: FastifyBaseLogger, stops: Stop[]): Database {
  const db = openDatabase({ url, maxConnections, log })
  stops.push(() => db.close())
  return db
}

async function startClock(
  db: Database,
  machine: Machine | undefined,
  log: FastifyBaseLogger,
  stops: Stop[],
): Promise<Clock> {
  const clock = createClock(machine)
  await clock.synchronize(() => db.ping())
  let wasTrusted = true
  let lastAt = performance.now()
  const synchronizing = setInterval(async () => {
    const isTrusted = clock.now() !== null
    if (isTrusted && performance.now() - lastAt < SYNCHRONIZE_MS) return
    lastAt = performance.now()
    await clock.synchronize(() => db.ping()).catch(() => {})
    if (wasTrusted && clock.now() === null) log.error('clock: jumped apart from the database, serving nothing')
    if (!wasTrusted && clock.now() !== null) log.info('clock: agrees with the database, serving again')
    wasTrusted = clock.now() !== null
  }, SYNCHRONIZE_DOUBTED_MS).unref()
  stops.push(async () => clearInterval(synchronizing))
  return clock
}

/** @throws Unavailable while the clock is not trusted: no request is served, and no job runs */
function trustedTime(clock: Clock): EpochMs {
  const now = clock.now()
  if (now === null) throw new Unavailable(new Error('the clock and the database have jumped apart'))
  return now
}

function startEngine(
  { config, log, now, metrics }: Base,
  url: string,
  options: Overrides['engine'],
  stops: Stop[],
): Engine {
  const engine = createEngine({
    url,
    now,
    log,
    observe: config.enforcement === 'observe',
    onQueueReport: metrics.queued,
    onBatchReport: metrics.batch,
    ...options,
  })
  stops.push(() => engine.close())
  metrics.watchQueue(() => engine.queue)
  return engine
}

function createWebhookDispatcher(
  { config, log, jobsDb: db, now, metrics }: Base,
  options: Overrides['webhooks'],
): Dispatcher {
  return createDispatcher({
    db,
    now,
    log,
    allowPrivate: config.webhookAllowPrivate,
    onDelivery: metrics.delivery,
    onPending: metrics.pendingDeliveries,
    ...options,
  })
}

/** All jobs except the webhook dispatcher, which routes use, too. */
function createJobs({ config, log, jobsDb: db, now, metrics }: Base, engine: Engine): Job[] {
  return [
    createSweeper({ db, engine, now, log }),
    createRetention({
      db,
      now,
      retentionMs: config.retentionDays * DAY_MS,
      historyRetentionMs: daysInMs(config.historyRetentionDays),
      deletedQuotaRetentionMs: daysInMs(config.deletedQuotaRetentionDays),
    }),
    createEraser({ db, engine, now }),
    createDenialRetention({ db, now, retentionMs: config.denialRetentionDays * DAY_MS }),
    createEventRetention({ db, now, retentionMs: config.eventRetentionDays * DAY_MS }),
    createExpiryNotifier({ db, now }),
    createAlertCleaner({ db, now }),
    createUsageRollup({ db, log, onRollup: metrics.rollup }),
    createWebhookRetention({ db, now, keepMs: config.retentionDays * DAY_MS }),
    createUsageCompaction({ db, log, now, timeZone: config.usageTimeZone, onCompaction: metrics.compaction }),
    createEventCounter({ db, onEvents: metrics.events }),
  ]
}

const daysInMs = (days: number | null) => (days === null ? null : days * DAY_MS)

/** Answers the requests under way. Clients that stop sending or reading do not delay the shutdown beyond `DRAIN_MS`. */
async function closeServer(server: FastifyInstance): Promise<void> {
  // Connections that clients keep alive become idle one by one, as their last requests are answered.
  const closingIdle = setInterval(() => server.server.closeIdleConnections(), 50)
  const closingAll = setTimeout(() => server.server.closeAllConnections(), DRAIN_MS)
  try {
    await server.close()
  } finally {
    clearInterval(closingIdle)
    clearTimeout(closingAll)
  }
}

/** Why requests cannot be served now; empty if they can. */
async function whyNotReady(clock: Clock, db: Database): Promise<string[]> {
  try {
    await clock.synchronize(() => db.ping())
  } catch {
    return ['the database does not answer']
  }
  return clock.now() === null ? ['the clock and the database have jumped apart; waiting until they agree'] : []
}
