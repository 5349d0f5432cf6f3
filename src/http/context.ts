import type { FastifyBaseLogger } from 'fastify'
import type { Config, OidcConfig } from '../config/config.ts'
import type { Database } from '../db/connection/database.ts'
import type { SecretKeys } from '../db/webhooks/secret-keys.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { Engine } from '../engine/engine.ts'
import type { Pauses } from '../engine/pauses.ts'
import type { AddressCodes } from '../events/address-codes.ts'
import type { Feed } from '../events/feed.ts'
import type { Dispatcher } from '../jobs/webhook-dispatcher.ts'
import type { Metrics } from '../metrics.ts'
import type { Tracer } from '../tracing.ts'
import type { Authenticator } from './auth/authenticator.ts'
import type { SenderUsers } from './auth/sender-users.ts'
import type { Steps } from './changes/step-pacer.ts'
import type { HttpListener } from './listener.ts'
import type { MetricsPage } from './platform/metrics-page.ts'
import type { RateLimiter } from './platform/rate-limiter.ts'
import type { Slots } from './platform/slots.ts'
import type { UserReferences } from './references/references.ts'

/** The settings that the server and its routes take as they are. */
type ServerSettings = Pick<
  Config,
  | 'trustProxy'
  | 'maxConnections'
  | 'logClientAddress'
  | 'rateLimitPerMinute'
  | 'senderOperationsPerSecond'
  | 'authFailuresPerMinute'
  | 'breaker'
  | 'requireCountry'
  | 'requireRecipient'
  | 'senderDoor'
  | 'autoUsers'
  | 'defaultPlanUsersPerMinute'
  | 'segments'
  | 'supportAdjustLimit'
  | 'contact'
  | 'requestAutoApprovePercent'
  | 'publicUrl'
>

/** The parts that the routes use. */
export interface RouteContext {
  settings: ServerSettings
  db: Database
  /** Executes all commands of senders. */
  engine: Pick<Engine, 'enqueue' | 'hasRoom'>
  /** The paused destinations, as this process obeys them. */
  pauses: Pick<Pauses, 'known' | 'read'>
  /** Finds the users that callers name by a reference. */
  references: UserReferences
  /** The same for senders, whose first messages may make users. */
  senderUsers: SenderUsers
  feed: Feed
  webhooks: Pick<Dispatcher, 'test' | 'allowPrivate' | 'canMail' | 'userMail'>
  /** What stands in the links of messages to users; null: the service has no key for it. */
  addressCodes: AddressCodes | null
  /** What encrypts the secrets of webhooks. */
  secretKeys: SecretKeys
  /** The service's clock: it follows the database's and never goes back. */
  now: () => EpochMs
  authenticator: Authenticator
  /** What imports and bulk changes share. */
  steps: Steps
  /** Bounds the exports that run at a time, of lists and of users. */
  exportSlots: Slots
}

export interface ServerParts extends RouteContext {
  log: FastifyBaseLogger
  metrics: Metrics
  /** Counts the operations of senders. */
  senderLimit: RateLimiter
  /** Undefined: nothing is traced. */
  tracer?: Tracer | undefined
  /** What `/metrics` answers; null if it has a port of its own. */
  metricsPage: MetricsPage | null
  /** The server that owns the port. */
  listener: HttpListener
  /** The identity provider for signing in to the console; null: users paste a token. */
  oidc: OidcConfig | null
}
