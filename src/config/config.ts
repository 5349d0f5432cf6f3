/**
 * The configuration of the service. One table of variables (variables.ts) defines how they are parsed, their issues,
 * their help and the printed settings. This module reads only the texts that its callers pass in, so that a test of any
 * rule is one call.
 */
import { type ConfigIssue, issuesBetween, type TextOf } from './combinations.ts'
import { isRefusal, type Refusal } from './parse.ts'
import type { Enforcement } from './sender-variables.ts'
import { type Machine, type Texts, thisMachine } from './variable.ts'
import {
  type ClientAddressMode,
  type LogLevel,
  type MigrateMode,
  NAMES,
  type Name,
  row,
  type SegmentsConfig,
  type TlsMode,
  type VARIABLES,
} from './variables.ts'

/**
 * A key that verifies tokens. `previous`: a key that is being replaced, and still accepted. `own`: a secret that the
 * service makes in its data folder.
 */
export type AuthKey =
  | { kind: 'secret'; secret: string; previous: string | null }
  | { kind: 'public-key'; file: string; previous: string | null }
  | { kind: 'jwks'; url: string }
  | { kind: 'own' }

export interface AuthConfig {
  key: AuthKey
  /** The `iss` that a token must have; null: any. Never null with a JWKS. */
  issuer: string | null
  /** The value that a token's `aud` must contain; null: any. Never null with a JWKS. */
  audience: string | null
  /** The `typ` that a token must have in its header; null: any. */
  tokenType: string | null
  /** Null: no token names its user by id. */
  userClaim: string | null
  /** Null: no token names its user by a reference. */
  userRefClaim: string | null
  rolesClaim: string
  adminRole: string
  senderRole: string
  auditorRole: string
  supportRole: string
  forceRole: string
  /** The claim that lists the users that a sender may name; null: each sender may name all. */
  senderUsersClaim: string | null
}

/** The settings of signing in to the console through a provider. The console is a public client: it has no secret. */
export interface OidcConfig {
  /** Exactly as in the provider's tokens. */
  issuer: string
  clientId: string
  scope: string
}

/** The paths of the certificate chain and its private key. */
export interface TlsConfig {
  certFile: string
  keyFile: string
}

export interface Config {
  host: string
  /** 0: any free port. */
  port: number
  /** 0: any free port. Null: metrics are served on `port`. */
  metricsPort: number | null
  /** Null: the service speaks HTTP. */
  tls: TlsConfig | null
  /** The addresses and networks of proxies whose `X-Forwarded-For` counts; null: none. */
  trustProxy: string[] | null
  /** How long the service still serves after a stop signal, in seconds. */
  shutdownDelaySeconds: number
  /** Null: the service runs its own PostgreSQL in `dataDir`. */
  databaseUrl: string | null
  /** The maximum number of connections, without those of the engine. */
  databasePoolSize: number
  /** The longest that a start waits for a database that cannot be reached yet, in seconds. */
  databaseWaitSeconds: number
  /** Whether connections to other machines must be encrypted. */
  databaseTls: TlsMode
  /** Whether a start applies missing migrations, or refuses to start without them. */
  migrate: MigrateMode
  /** An absolute path; it need not exist yet. */
  dataDir: string
  auth: AuthConfig
  /** Null: people sign in by pasting a token. */
  consoleOidc: OidcConfig | null
  /** The units by which the support role moves the limits of a user in a day, and the percentage of a limit that users get without a person, at most; 0: none. */
  supportAdjustLimit: number
  requestAutoApprovePercent: number
  /** Whether a send beyond its quota is denied, or granted and reported. */
  enforcement: Enforcement
  /** Whether senders must name the destination, and the recipient. */
  requireCountry: boolean
  requireRecipient: boolean
  /** Whether senders make users by naming references that no user has. */
  autoUsers: boolean
  breaker: { messageTypes: readonly string[]; intervalSeconds: number }
  /** How the segments of texts are counted. */
  segments: SegmentsConfig
  /** The maximum number of users per minute that get the default plan with their first reservation, and that `autoUsers` makes, each. */
  defaultPlanUsersPerMinute: number
  /** The maximum number of calls per minute on user and admin paths for each principal; 0: no limit. */
  rateLimitPerMinute: number
  /** The maximum number of operations per second of each sender; 0: no limit. */
  senderOperationsPerSecond: number
  /** How many calls per minute of one address may come without a valid token; 0: no limit. */
  authFailuresPerMinute: number
  /** The maximum number of open connections. */
  maxConnections: number
  /** How many days a settled reservation is kept after its last change. */
  retentionDays: number
  /** How many days a past window is kept; null: for ever. */
  historyRetentionDays: number | null
  /** How many days a deleted quota is kept; null: for ever. */
  deletedQuotaRetentionDays: number | null
  /** How many days an administrator's change is kept; null: for ever. */
  auditRetentionDays: number | null
  /** How many days a denial is kept in the log. */
  denialRetentionDays: number
  /** How many days an event is kept. */
  eventRetentionDays: number
  /** The time zone of the days and months that usage is compacted into. */
  usageTimeZone: string
  /** Whether webhooks may be sent to addresses that are not on the public internet. */
  webhookAllowPrivate: boolean
  /** The SMTP server of webhooks that send e-mail, and their sender. Null: there is none. */
  mail: { url: string; from: string } | null
  /** Where people reach the service. Null: messages to them have no links. */
  publicUrl: string | null
  /** Who helps users that cannot send, and where they reach them. */
  contact: { text: string | null; url: string | null }
  /** Whether users may have messages about their own events sent to an address that they confirm. */
  userNotifications: boolean
  /** What webhook secrets are encrypted with. Null: a key in `dataDir`, or nothing with `databaseUrl`. */
  secretsKey: Uint8Array | 'off' | null
  /** What decrypts them, too. */
  secretsKeyPrevious: Uint8Array | null
  /** Without an endpoint nothing is traced. `ratio` is the part of the traces that is kept. */
  tracing: { endpoint: string | null; ratio: number }
  logLevel: LogLevel
  logClientAddress: ClientAddressMode
}

/** The configuration cannot be used. The message names every issue, one a line. */
export class ConfigError extends Error {
  readonly issues: readonly ConfigIssue[]

  constructor(issues: readonly ConfigIssue[]) {
    super(issues.map(issue => `${issue.variable}: ${issue.message}`).join('\n'))
    this.name = 'ConfigError'
    this.issues = issues
  }
}

type Parsed<N extends Name> = Exclude<ReturnType<(typeof VARIABLES)[N]['parse']>, Refusal>
type Value<N extends Name> = (typeof VARIABLES)[N]['fallback'] extends null ? Parsed<N> | null : Parsed<N>

export interface LoadOptions {
  /** The variables of an `--env-file`. Those of the environment take precedence. */
  file?: Texts
  /** Whether tokens will be verified or minted, default true. A migration needs no key, and should not be given one. */
  needsKey?: boolean
  machine?: Machine
}

/**
 * Reads the configuration from texts; an empty text counts as not set. It opens no file and uses no network.
 * Returns the configuration, or all issues, in the order of the table.
 */
export function loadConfig(env: Texts, options: LoadOptions = {}): { config: Config } | { issues: ConfigIssue[] } {
  const { file = {}, needsKey = true, machine = thisMachine() } = options
  const textOf = (name: Name): string | undefined => env[name] || file[name] || undefined
  const { values, issues } = parseValues(textOf, env, machine)
  issues.push(...issuesBetween(textOf, values, needsKey))
  return issues.length > 0 ? { issues } : { config: configOf(values) }
}

function parseValues(textOf: TextOf, env: Texts, machine: Machine) {
  const values = new Map<Name, unknown>()
  const issues: ConfigIssue[] = []
  for (const name of NAMES) {
    const { parse, accepts, fallback, mask } = row(name)
    const text = textOf(name) ?? (typeof fallback === 'function' ? fallback(env, machine) : fallback)
    const value = text === null ? null : parse(text)
    if (isRefusal(value)) {
      const shown = mask === undefined ? `${quote(text ?? '')} ` : ''
      issues.push({ variable: name, message: `${shown}${value.why}; accepted: ${accepts}` })
    } else {
      values.set(name, value)
    }
  }
  return { values, issues }
}

function configOf(values: ReadonlyMap<Name, unknown>): Config {
  // Each value is what the parser of its row returned, or null if the row has no fallback.
  const get = <N extends Name>(name: N): Value<N> => values.get(name) as Value<N>
  return {
    host: get('HOST'),
    port: get('PORT'),
    metricsPort: get('METRICS_PORT'),
    tls: tlsConfig(get('TLS_CERT_FILE'), get('TLS_KEY_FILE')),
    trustProxy: get('TRUST_PROXY'),
    shutdownDelaySeconds: get('SHUTDOWN_DELAY_SECONDS'),
    databaseUrl: get('DATABASE_URL'),
    databasePoolSize: get('DATABASE_POOL_SIZE'),
    databaseWaitSeconds: get('DATABASE_WAIT_SECONDS'),
    databaseTls: get('DATABASE_TLS'),
    migrate: get('MIGRATE'),
    dataDir: get('DATA_DIR'),
    auth: {
      key: authKey(get),
      issuer: get('AUTH_ISSUER'),
      audience: get('AUTH_AUDIENCE'),
      tokenType: get('AUTH_TOKEN_TYPE'),
      userClaim: get('AUTH_USER_CLAIM') ?? (get('AUTH_USER_REF_CLAIM') === null ? 'sub' : null),
      userRefClaim: get('AUTH_USER_REF_CLAIM'),
      rolesClaim: get('AUTH_ROLES_CLAIM'),
      adminRole: get('AUTH_ADMIN_ROLE'),
      senderRole: get('AUTH_SENDER_ROLE'),
      auditorRole: get('AUTH_AUDITOR_ROLE'),
      supportRole: get('AUTH_SUPPORT_ROLE'),
      forceRole: get('AUTH_FORCE_ROLE'),
      senderUsersClaim: get('AUTH_SENDER_USERS_CLAIM'),
    },
    consoleOidc: oidcConfig(get('CONSOLE_OIDC_ISSUER'), get('CONSOLE_OIDC_CLIENT_ID'), get('CONSOLE_OIDC_SCOPE')),
    ...{ supportAdjustLimit: get('SUPPORT_ADJUST_LIMIT'), autoUsers: get('AUTO_USERS') },
    requestAutoApprovePercent: get('REQUEST_AUTO_APPROVE_PERCENT'),
    enforcement: get('ENFORCEMENT'),
    ...{ requireCountry: get('REQUIRE_COUNTRY'), requireRecipient: get('REQUIRE_RECIPIENT') },
    breaker: { messageTypes: get('BREAKER_MESSAGE_TYPES'), intervalSeconds: get('BREAKER_INTERVAL_SECONDS') },
    segments: segmentsConfig(get),
    defaultPlanUsersPerMinute: get('DEFAULT_PLAN_USERS_PER_MINUTE'),
    rateLimitPerMinute: get('RATE_LIMIT_PER_MINUTE'),
    senderOperationsPerSecond: get('SENDER_OPERATIONS_PER_SECOND'),
    authFailuresPerMinute: get('AUTH_FAILURES_PER_MINUTE'),
    maxConnections: get('MAX_CONNECTIONS'),
    retentionDays: get('RETENTION_DAYS'),
    historyRetentionDays: get('HISTORY_RETENTION_DAYS'),
    deletedQuotaRetentionDays: get('DELETED_QUOTA_RETENTION_DAYS'),
    auditRetentionDays: get('AUDIT_RETENTION_DAYS'),
    denialRetentionDays: get('DENIAL_RETENTION_DAYS'),
    eventRetentionDays: get('EVENT_RETENTION_DAYS'),
    usageTimeZone: get('USAGE_TIME_ZONE'),
    webhookAllowPrivate: get('WEBHOOK_ALLOW_PRIVATE'),
    mail: mailConfig(get('SMTP_URL'), get('MAIL_FROM')),
    ...{ publicUrl: get('PUBLIC_URL'), userNotifications: get('USER_NOTIFICATIONS') },
    contact: { text: get('CONTACT_TEXT'), url: get('CONTACT_URL') },
    secretsKey: get('SECRETS_KEY'),
    secretsKeyPrevious: get('SECRETS_KEY_PREVIOUS'),
    tracing: { endpoint: get('OTEL_EXPORTER_OTLP_ENDPOINT'), ratio: get('OTEL_TRACES_SAMPLER_ARG') },
    logLevel: get('LOG_LEVEL'),
    logClientAddress: get('LOG_CLIENT_ADDRESS'),
  }
}

function segmentsConfig(get: <N extends Name>(name: N) => Value<N>): SegmentsConfig {
  const shiftTables = get('SMS_SHIFT_TABLES') ?? []
  return { split: get('SEGMENTATION'), referenceBits: get('SMS_REFERENCE_BITS'), shiftTables }
}

function authKey(get: <N extends Name>(name: N) => Value<N>): AuthKey {
  const [secret, file, url] = [get('AUTH_SECRET'), get('AUTH_PUBLIC_KEY_FILE'), get('AUTH_JWKS_URL')]
  if (secret !== null) return { kind: 'secret', secret, previous: get('AUTH_SECRET_PREVIOUS') }
  if (file !== null) return { kind: 'public-key', file, previous: get('AUTH_PUBLIC_KEY_FILE_PREVIOUS') }
  return url === null ? { kind: 'own' } : { kind: 'jwks', url }
}

function tlsConfig(certFile: string | null, keyFile: string | null): TlsConfig | null {
  return certFile === null || keyFile === null ? null : { certFile, keyFile }
}

function mailConfig(url: string | null, from: string | null): Config['mail'] {
  return url === null || from === null ? null : { url, from }
}

function oidcConfig(issuer: string | null, clientId: string | null, scope: string): OidcConfig | null {
  return issuer === null || clientId === null ? null : { issuer, clientId, scope }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
