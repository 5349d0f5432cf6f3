import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Clock, createClock, MAX_OFFSET_MS } from './clock.ts'
import type { Config } from './config/config.ts'
import { assertTrustworthy, type Database, openDatabase } from './db/database.ts'
import { startEmbedded } from './db/embedded/embedded.ts'
import { migrate } from './db/migrate.ts'
import { DAY_MS, type EpochMs } from './domain/time.ts'
import { createEngine } from './engine/engine.ts'
import { createFeed } from './events/feed.ts'
import { createAuthenticator } from './http/auth/authenticator.ts'
import { createMetricsServer } from './http/operations/routes.ts'
import { createServer } from './http/server.ts'
import { createEventCounter } from './jobs/event-counter.ts'
import { createExpiryNotifier } from './jobs/expiry-notifier.ts'
import { createRetention } from './jobs/retention.ts'
import { createSweeper } from './jobs/sweeper.ts'
import { createUsageRollup } from './jobs/usage-rollup.ts'
import { createDispatcher } from './jobs/webhook-dispatcher.ts'
import { createMetrics } from './metrics.ts'

/** How often the machine's clock is compared with the database's. */
const COMPARE_CLOCKS_MS = 10_000

/** How long a stop waits for callers who have not sent or read everything yet. */
const DRAIN_MS = 5_000

export interface App {
  server: FastifyInstance
  /** Where `/metrics` is answered if it has a port of its own. */
  metricsServer: FastifyInstance | undefined
  /** Answers what has come in, then lets go of everything, last of all the database of its own. */
  close(): Promise<void>
}

/** What tests pass in. */
interface Overrides {
  now?: () => EpochMs
}

/**
 * Wires the parts, in the order in which they need each other. Ends with everything started but nobody listening; if
 * a part cannot start, those before it are stopped again.
 */
export async function createApp(config: Config, log: FastifyBaseLogger, overrides: Overrides = {}): Promise<App> {
  const stops: (() => Promise<void>)[] = []
  const close = () => stopAll(stops.splice(0).reverse(), log)
  try {
    const url = await provideDatabase(config, log, stops)
    const db = openDatabase({ url, maxConnections: config.databasePoolSize, log })
    stops.push(() => db.close())
    await assertTrustworthy(db)
    await migrate({ url, log })

    const clock = createClock()
    await compareClocks(clock, db)
    const comparing = setInterval(() => compareClocks(clock, db).catch(() => {}), COMPARE_CLOCKS_MS).unref()
    stops.push(async () => clearInterval(comparing))

    const now = overrides.now ?? clock.now
    const metrics = createMetrics()
    const observe = config.enforcement === 'observe'
    const engine = createEngine({ url, now, log, observe, onLaneReport: metrics.lane, onBatchReport: metrics.batch })
    metrics.watchQueue(() => engine.queue)
    stops.push(() => engine.close())

    const sweeper = createSweeper({ db, engine, now, log })
    const retention = createRetention({ db, now, log, retentionMs: config.retentionDays * DAY_MS })
    const webhooks = createDispatcher({
      db,
      now,
      log,
      allowPrivate: config.webhookAllowPrivate,
      keepMs: config.retentionDays * DAY_MS,
      onDelivery: metrics.delivery,
      onPending: metrics.pendingDeliveries,
    })
    const expiries = createExpiryNotifier({ db, now, log })
    const folding = createUsageRollup({ db, log, onRollup: metrics.rollup })
    const eventCounter = createEventCounter({ db, log, onEvents: metrics.events })
    for (const loop of [sweeper, retention, expiries, folding, eventCounter, webhooks]) {
      loop.start()
      stops.push(() => loop.stop())
    }

    const feed = createFeed(db)
    metrics.watchFeed(() => feed.waiting)
    const authenticator = await createAuthenticator(config, { now })
    const server = await createServer({
      db,
      engine,
      feed,
      webhooks,
      now,
      log,
      metrics,
      servesMetrics: config.metricsPort === null,
      authenticator,
      readiness: () => whyNotReady(clock, db),
      rateLimitPerMinute: config.rateLimitPerMinute,
      requireCountry: config.requireCountry,
      oidc: config.consoleOidc,
    })
    stops.push(() => closeServer(server))
    const metricsServer = config.metricsPort === null ? undefined : createMetricsServer(metrics)
    if (metricsServer !== undefined) stops.push(() => metricsServer.close())
    return { server, metricsServer, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Stops the parts one after the other. One that fails to does not keep the others running. */
async function stopAll(stops: readonly (() => Promise<void>)[], log: FastifyBaseLogger): Promise<void> {
  for (const stop of stops) await stop().catch(error => log.error({ err: error }, 'a part did not stop properly'))
}

/** The database that is configured, or one of its own. */
async function provideDatabase(
  config: Config,
  log: FastifyBaseLogger,
  stops: (() => Promise<void>)[],
): Promise<string> {
  if (config.databaseUrl !== null) return config.databaseUrl
  const embedded = await startEmbedded({ dataDir: config.dataDir, log })
  stops.push(() => embedded.stop())
  return embedded.url
}

/** Answers the requests that are under way. A caller who does not get on with theirs cannot hold up the stop. */
async function closeServer(app: FastifyInstance): Promise<void> {
  // Connections that callers keep alive fall idle one by one, as their last requests are answered.
  const parting = setInterval(() => app.server.closeIdleConnections(), 50)
  const cutting = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
  try {
    await app.close()
  } finally {
    clearInterval(parting)
    clearTimeout(cutting)
  }
}

async function compareClocks(clock: Clock, db: Database): Promise<void> {
  const asked = Date.now()
  clock.compare(asked, await db.ping(), Date.now())
}

async function whyNotReady(clock: Clock, db: Database): Promise<string[]> {
  try {
    await compareClocks(clock, db)
  } catch {
    return ['the database does not answer']
  }
  const offset = Math.abs(clock.offset())
  return offset > MAX_OFFSET_MS ? [`the machine's clock is ${offset} ms off the database's`] : []
}
