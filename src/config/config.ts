/**
 * The configuration of the service. One table of variables (variables.ts) defines how they are parsed, their issues,
 * their help and the printed settings. This module reads only the texts that its callers pass in, so that a test of any
 * rule is one call.
 */
import { type ConfigIssue, issuesBetween, type TextOf } from './combinations.ts'
import { isRefusal, type Refusal } from './parse.ts'
import { type Machine, type Texts, thisMachine } from './variable.ts'
import { NAMES, type Name, row, type SegmentsConfig, type VARIABLES } from './variables.ts'

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

/** Settings of several variables, as they go together. */
interface Groups {
  /** Null: the service speaks HTTP. */
  tls: TlsConfig | null
  auth: AuthConfig
  /** Null: people sign in by pasting a token. */
  consoleOidc: OidcConfig | null
  breaker: { messageTypes: readonly string[]; intervalSeconds: number }
  /** How the segments of texts are counted. */
  segments: SegmentsConfig
  /** The SMTP server of webhooks that send e-mail, and their sender. Null: there is none. */
  mail: { url: string; from: string } | null
  /** Who helps users that cannot send, and where they reach them. */
  contact: { text: string | null; url: string | null }
  /** Without an endpoint nothing is traced. `ratio` is the part of the traces that is kept. */
  tracing: { endpoint: string | null; ratio: number }
}

type Grouped = keyof ReturnType<typeof groupedValues>

/** The name of the setting of a variable: `metricsPort` is that of METRICS_PORT. */
type SettingOf<N extends string> = N extends `${infer Word}_${infer Words}`
  ? `${Lowercase<Word>}${Capitalize<SettingOf<Words>>}`
  : Lowercase<N>

/** A setting for each other variable: null where it is not set and has no default. */
type Settings = { [N in Exclude<Name, Grouped> as SettingOf<N>]: Value<N> }

export interface Config extends Groups, Settings {}

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
type Value<N extends Name> = (typeof VARIABLES)[N] extends { fallback: unknown } ? Parsed<N> : Parsed<N> | null

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
    const value = text === undefined ? null : parse(text)
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
  const groups: Groups = {
    tls: tlsConfig(get('TLS_CERT_FILE'), get('TLS_KEY_FILE')),
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
    breaker: { messageTypes: get('BREAKER_MESSAGE_TYPES'), intervalSeconds: get('BREAKER_INTERVAL_SECONDS') },
    segments: segmentsConfig(get),
    mail: mailConfig(get('SMTP_URL'), get('MAIL_FROM')),
    contact: { text: get('CONTACT_TEXT'), url: get('CONTACT_URL') },
    tracing: { endpoint: get('OTEL_EXPORTER_OTLP_ENDPOINT'), ratio: get('OTEL_TRACES_SAMPLER_ARG') },
  }
  const grouped = groupedValues(groups)
  const settings = NAMES.filter(name => !(name in grouped)).map(name => [settingOf(name), get(name)])
  return { ...groups, ...(Object.fromEntries(settings) as Settings) }
}

/** The values of the variables that are parts of groups. */
function groupedValues({ tls, auth, consoleOidc, breaker, segments, mail, contact, tracing }: Groups) {
  const { key } = auth
  return {
    TLS_CERT_FILE: tls?.certFile ?? null,
    TLS_KEY_FILE: tls?.keyFile ?? null,
    AUTH_SECRET: key.kind === 'secret' ? key.secret : null,
    AUTH_SECRET_PREVIOUS: key.kind === 'secret' ? key.previous : null,
    AUTH_PUBLIC_KEY_FILE: key.kind === 'public-key' ? key.file : null,
    AUTH_PUBLIC_KEY_FILE_PREVIOUS: key.kind === 'public-key' ? key.previous : null,
    AUTH_JWKS_URL: key.kind === 'jwks' ? key.url : null,
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
    CONSOLE_OIDC_ISSUER: consoleOidc?.issuer ?? null,
    CONSOLE_OIDC_CLIENT_ID: consoleOidc?.clientId ?? null,
    CONSOLE_OIDC_SCOPE: consoleOidc?.scope ?? null,
    BREAKER_MESSAGE_TYPES: breaker.messageTypes,
    BREAKER_INTERVAL_SECONDS: breaker.intervalSeconds,
    SEGMENTATION: segments.split,
    SMS_REFERENCE_BITS: segments.referenceBits,
    SMS_SHIFT_TABLES: segments.shiftTables.length === 0 ? null : segments.shiftTables,
    SMTP_URL: mail?.url ?? null,
    MAIL_FROM: mail?.from ?? null,
    CONTACT_TEXT: contact.text,
    CONTACT_URL: contact.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: tracing.endpoint,
    OTEL_TRACES_SAMPLER_ARG: tracing.ratio,
  } satisfies { readonly [N in Name]?: unknown }
}

const settingOf = (name: Name) => name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** The value of each variable, as the configuration has it. */
export function valuesIn(config: Config): ReadonlyMap<Name, unknown> {
  const settings = new Map<string, unknown>(Object.entries(config))
  const grouped = new Map<string, unknown>(Object.entries(groupedValues(config)))
  return new Map(NAMES.map(name => [name, grouped.has(name) ? grouped.get(name) : settings.get(settingOf(name))]))
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
