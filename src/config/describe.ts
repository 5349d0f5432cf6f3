/** The table of variables and the settings in effect, for people. */
import type { Config } from './config.ts'
import type { PEOPLE_VARIABLES } from './people-variables.ts'
import { type Machine, type Texts, thisMachine } from './variable.ts'
import { NAMES, type Name, row } from './variables.ts'

/** A variable as help shows it. `fallback` is null if there is none; `unset` then says what applies. */
interface VariableHelp {
  name: string
  means: string
  accepts: string
  fallback: string | null
  unset: string | null
}

/** The table of variables for help, with the defaults of this machine. */
export function configVariables(env: Texts = process.env, machine: Machine = thisMachine()): VariableHelp[] {
  return NAMES.map(name => {
    const { means, accepts: value, fallback, unset = null, secret } = row(name)
    const accepts = secret ? `${value}; or ${name}_FILE: the path of a file that contains it` : value
    return { name, means, accepts, fallback: typeof fallback === 'function' ? fallback(env, machine) : fallback, unset }
  })
}

/** The variables with a secret: NAME_FILE can name a file that contains the value. */
export const SECRET_VARIABLES: readonly string[] = NAMES.filter(name => row(name).secret)

/**
 * The settings in effect, in the order of the table, with secrets masked; null: not set, and `unset` says what applies.
 */
export function describeConfig(config: Config): { name: string; value: string | null; unset: string | null }[] {
  const { auth, breaker, consoleOidc } = config
  const values: Record<Name, string | number | boolean | null> = {
    HOST: config.host,
    PORT: config.port,
    METRICS_PORT: config.metricsPort,
    TLS_CERT_FILE: config.tls?.certFile ?? null,
    TLS_KEY_FILE: config.tls?.keyFile ?? null,
    TRUST_PROXY: config.trustProxy?.toString() ?? null,
    SHUTDOWN_DELAY_SECONDS: config.shutdownDelaySeconds,
    DATABASE_URL: config.databaseUrl,
    DATABASE_POOL_SIZE: config.databasePoolSize,
    DATABASE_WAIT_SECONDS: config.databaseWaitSeconds,
    DATABASE_TLS: config.databaseTls,
    MIGRATE: config.migrate,
    DATA_DIR: config.dataDir,
    AUTH_SECRET: auth.key.kind === 'secret' ? auth.key.secret : null,
    AUTH_SECRET_PREVIOUS: auth.key.kind === 'secret' ? auth.key.previous : null,
    AUTH_PUBLIC_KEY_FILE: auth.key.kind === 'public-key' ? auth.key.file : null,
    AUTH_PUBLIC_KEY_FILE_PREVIOUS: auth.key.kind === 'public-key' ? auth.key.previous : null,
    AUTH_JWKS_URL: auth.key.kind === 'jwks' ? auth.key.url : null,
    AUTH_ISSUER: auth.issuer,
    AUTH_AUDIENCE: auth.audience,
    AUTH_TOKEN_TYPE: auth.tokenType,
    AUTH_USER_CLAIM: auth.userClaim,
    AUTH_USER_REF_CLAIM: auth.userRefClaim,
    AUTH_ROLES_CLAIM: auth.rolesClaim,
    AUTH_ADMIN_ROLE: auth.adminRole,
    AUTH_SENDER_ROLE: auth.senderRole,
    AUTH_AUDITOR_ROLE: auth.auditorRole,
    AUTH_SUPPORT_ROLE: auth.supportRole,
    AUTH_FORCE_ROLE: auth.forceRole,
    AUTH_SENDER_USERS_CLAIM: auth.senderUsersClaim,
    SUPPORT_ADJUST_LIMIT: config.supportAdjustLimit,
    CONSOLE_OIDC_ISSUER: consoleOidc?.issuer ?? null,
    CONSOLE_OIDC_CLIENT_ID: consoleOidc?.clientId ?? null,
    CONSOLE_OIDC_SCOPE: consoleOidc?.scope ?? null,
    ENFORCEMENT: config.enforcement,
    ...{ REQUIRE_COUNTRY: config.requireCountry, REQUIRE_RECIPIENT: config.requireRecipient },
    AUTO_USERS: config.autoUsers,
    ...{ BREAKER_MESSAGE_TYPES: breaker.messageTypes.join(','), BREAKER_INTERVAL_SECONDS: breaker.intervalSeconds },
    SEGMENTATION: config.segments.split,
    SMS_REFERENCE_BITS: config.segments.referenceBits,
    SMS_SHIFT_TABLES: config.segments.shiftTables.join(',') || null,
    DEFAULT_PLAN_USERS_PER_MINUTE: config.defaultPlanUsersPerMinute,
    RATE_LIMIT_PER_MINUTE: config.rateLimitPerMinute,
    SENDER_OPERATIONS_PER_SECOND: config.senderOperationsPerSecond,
    AUTH_FAILURES_PER_MINUTE: config.authFailuresPerMinute,
    ...{ REQUEST_AUTO_APPROVE_PERCENT: config.requestAutoApprovePercent, MAX_CONNECTIONS: config.maxConnections },
    RETENTION_DAYS: config.retentionDays,
    HISTORY_RETENTION_DAYS: config.historyRetentionDays,
    DELETED_QUOTA_RETENTION_DAYS: config.deletedQuotaRetentionDays,
    AUDIT_RETENTION_DAYS: config.auditRetentionDays,
    DENIAL_RETENTION_DAYS: config.denialRetentionDays,
    EVENT_RETENTION_DAYS: config.eventRetentionDays,
    USAGE_TIME_ZONE: config.usageTimeZone,
    WEBHOOK_ALLOW_PRIVATE: config.webhookAllowPrivate,
    ...peopleValues(config),
    SECRETS_KEY: config.secretsKey && String(config.secretsKey),
    SECRETS_KEY_PREVIOUS: config.secretsKeyPrevious && String(config.secretsKeyPrevious),
    OTEL_EXPORTER_OTLP_ENDPOINT: config.tracing.endpoint,
    OTEL_TRACES_SAMPLER_ARG: config.tracing.ratio,
    ...{ LOG_LEVEL: config.logLevel, LOG_CLIENT_ADDRESS: config.logClientAddress },
  }
  return NAMES.map(name => {
    const { mask = String, unset = null } = row(name)
    const value = values[name]
    return { name, value: value === null ? null : mask(String(value)), unset }
  })
}

function peopleValues({
  mail,
  publicUrl,
  userNotifications,
  contact,
}: Config): Record<keyof typeof PEOPLE_VARIABLES, string | null> {
  return {
    SMTP_URL: mail?.url ?? null,
    MAIL_FROM: mail?.from ?? null,
    PUBLIC_URL: publicUrl,
    USER_NOTIFICATIONS: String(userNotifications),
    CONTACT_TEXT: contact.text,
    CONTACT_URL: contact.url,
  }
}
