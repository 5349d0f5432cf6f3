import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Clock, createClock, MAX_OFFSET_MS } from './clock.ts'
import type { Config } from './config.ts'
import { assertTrustworthy, type Database, openDatabase } from './db/database.ts'
import { startEmbedded } from './db/embedded.ts'
import { migrate } from './db/migrate.ts'
import type { Instant } from './domain/time.ts'
import { createAuthenticator } from './http/auth.ts'
import { createServer } from './http/server.ts'

/** How often the machine's clock is compared with the database's. */
const COMPARE_CLOCKS_MS = 10_000

export interface App {
  server: FastifyInstance
  /** Answers what has come in, then lets go of everything, last of all the database of its own. */
  close(): Promise<void>
}

/** What tests pass in. */
interface Overrides {
  now?: () => Instant
}

/**
 * Wires the parts, in the order in which they need each other. Ends with everything started but nobody listening; if
 * a part cannot start, those before it are stopped again.
 */
export async function createApp(config: Config, log: FastifyBaseLogger, overrides: Overrides = {}): Promise<App> {
  const stops: (() => Promise<void>)[] = []
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
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
    const authenticator = await createAuthenticator(config, { now })
    const server = await createServer({
      db,
      now,
      log,
      authenticator,
      readiness: () => whyNotReady(clock, db),
      rateLimitPerMinute: config.rateLimitPerMinute,
    })
    stops.push(() => server.close())
    return { server, close }
  } catch (error) {
    await close()
    throw error
  }
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
