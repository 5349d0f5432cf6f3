import type { FastifyBaseLogger } from 'fastify'
import type { OidcConfig } from '../config/config.ts'
import type { ClientAddressMode } from '../config/variables.ts'
import type { Database } from '../db/database.ts'
import type { SecretKeys } from '../db/secret-keys.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Engine } from '../engine/engine.ts'
import type { Feed } from '../events/feed.ts'
import type { Dispatcher } from '../jobs/webhook-dispatcher.ts'
import type { Metrics } from '../metrics.ts'
import type { Tracer } from '../tracing.ts'
import type { Authenticator } from './auth/authenticator.ts'
import type { Front } from './front.ts'
import type { Slots } from './platform/slots.ts'

/** What the routes use. */
export interface RouteContext {
  db: Database
  /** Executes all commands of senders. */
  engine: Pick<Engine, 'enqueue' | 'hasRoom'>
  feed: Feed
  webhooks: Pick<Dispatcher, 'test' | 'allowPrivate'>
  /** What encrypts the secrets of webhooks. */
  secretKeys: SecretKeys
  /** The service's clock: it follows the database's and never goes back. */
  now: () => EpochMs
  authenticator: Authenticator
  /** The maximum number of units by which a token without `change` moves a limit in one call; 0: none. */
  supportAdjustLimit: number
  /** Bounds the exports that run at a time, of lists and of users. */
  exportSlots: Slots
  /** Whether senders must name the destination. */
  requireCountry: boolean
}

export interface ServerParts extends RouteContext {
  log: FastifyBaseLogger
  metrics: Metrics
  /** Undefined: nothing is traced. */
  tracer?: Tracer | undefined
  /** Whether this server answers `/metrics`; if not, it has a port of its own. */
  servesMetrics: boolean
  /** The proxies that say which address a request comes from; null: none. */
  trustProxy: string[] | null
  /** The server that owns the port. */
  front: Front
  /** Calls per minute that one principal may make on user and admin paths; 0 is no limit. */
  rateLimitPerMinute: number
  /** Operations per second of one sender; 0 is no limit. */
  senderOperationsPerSecond: number
  /** Calls per minute of one address that may come without a valid token; 0 is no limit. */
  authFailuresPerMinute: number
  /** How the log shows the addresses of clients. */
  logClientAddress: ClientAddressMode
  /** The maximum number of open connections. Further ones are closed at once. */
  maxConnections: number
  /** The identity provider for signing in to the console; null: users paste a token. */
  oidc: OidcConfig | null
}
