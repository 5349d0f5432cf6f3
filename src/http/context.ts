import type { FastifyBaseLogger } from 'fastify'
import type { OidcConfig } from '../config/config.ts'
import type { Database } from '../db/database.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Engine } from '../engine/engine.ts'
import type { Feed } from '../events/feed.ts'
import type { Dispatcher } from '../jobs/webhook-dispatcher.ts'
import type { Metrics } from '../metrics.ts'
import type { Authenticator } from './auth/authenticator.ts'

/** What routes work with. */
export interface RouteContext {
  db: Database
  /** Whatever moves units goes through it. */
  engine: Pick<Engine, 'enqueue'>
  /** What has happened, and what comes. */
  feed: Feed
  webhooks: Pick<Dispatcher, 'test' | 'allowPrivate'>
  /** The service's clock, which agrees with the database's and never steps back. */
  now: () => EpochMs
}

export interface ServerParts extends RouteContext {
  authenticator: Authenticator
  log: FastifyBaseLogger
  metrics: Metrics
  /** Whether `/metrics` is answered here; if not, it has a port of its own. */
  servesMetrics: boolean
  /** Why the service is not ready; empty when it is. */
  readiness: () => Promise<string[]>
  /** Calls a minute that one principal may make on user and admin paths; 0 is no limit. */
  rateLimitPerMinute: number
  /** Whether senders must tell the destination. */
  requireCountry: boolean
  /** Whom people may sign in to the console through; null: they paste a token. */
  oidc: OidcConfig | null
}
