/** The table of variables: what each means, what it accepts, and what holds when it is not set. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import {
  MASK,
  maskUrl,
  parseDatabaseUrl,
  parseFlag,
  parseFolder,
  parseHost,
  parseIssuerUrl,
  parseJwksUrl,
  parseScope,
  parseText,
  parseWord,
  Refusal,
  whole,
} from './parse.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const ENFORCEMENTS = ['enforce', 'observe'] as const
export type Enforcement = (typeof ENFORCEMENTS)[number]

/** What the defaults depend on. */
export interface Machine {
  platform: NodeJS.Platform
  isRoot: boolean
  home: string
}

export const thisMachine = (): Machine => ({
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  home: homedir(),
})

export type Texts = Readonly<Record<string, string | undefined>>

export interface Variable<T> {
  /** What it is, for people. */
  means: string
  /** What it accepts, to follow the words "accepted: ". */
  accepts: string
  /** The text that holds when nothing is set; null: there is none, and `unset` says what that means. */
  fallback: string | null | ((env: Texts, machine: Machine) => string)
  unset?: string
  /** How a value that can hold a secret is shown. A text of such a variable is not repeated in a issue. */
  mask?: (text: string) => string
  parse(text: string): T | Refusal
}

const anyText = 'a text without control characters'
const oneWord = 'one word: a text without spaces'

export const VARIABLES = {
  HOST: {
    means: 'the address to listen on',
    accepts: 'an IP address (IPv6 without brackets) or a host name',
    fallback: '127.0.0.1',
    parse: parseHost,
  },
  PORT: {
    means: 'the port to listen on; 0 takes any free one',
    accepts: 'a whole number from 0 to 65535',
    fallback: '8080',
    parse: whole(0, 65_535),
  },
  METRICS_PORT: {
    means: 'a port of its own for /metrics, so that it need not be open to callers; 0 takes any free one',
    accepts: 'a whole number from 0 to 65535',
    fallback: null,
    unset: '/metrics is answered on PORT',
    parse: whole(0, 65_535),
  },
  DATABASE_URL: {
    means: 'the PostgreSQL (15 or later) to use',
    accepts: 'postgres://user:password@host:5432/database, with %-escapes for special characters in the password',
    fallback: null,
    unset: 'a PostgreSQL of its own in DATA_DIR',
    mask: maskUrl,
    parse: parseDatabaseUrl,
  },
  DATABASE_POOL_SIZE: {
    means: 'how many connections to PostgreSQL at most',
    accepts: 'a whole number from 1 to 1000',
    fallback: '10',
    parse: whole(1, 1_000),
  },
  DATA_DIR: {
    means: 'the folder of its own PostgreSQL and of its own secret',
    accepts: 'an absolute path',
    fallback: defaultDataDir,
    parse: parseFolder,
  },
  AUTH_SECRET: {
    means: 'the HS256 secret that tokens are signed with',
    accepts: 'at least 32 bytes, for example what `openssl rand -base64 48` prints',
    fallback: null,
    unset: 'a secret that the service makes for itself in DATA_DIR, if no other key is set',
    mask: () => MASK,
    parse: (text: string) =>
      Buffer.byteLength(text) < 32 ? new Refusal(`has only ${Buffer.byteLength(text)} bytes`) : text,
  },
  AUTH_PUBLIC_KEY_FILE: {
    means: 'the file of the public key that tokens are checked with (RSA: RS256, P-256: ES256, Ed25519: EdDSA)',
    accepts: 'the path of a PEM public key, an X.509 certificate or a JWK',
    fallback: null,
    // People paste the key itself here; then it may be the private one, and must not be repeated.
    mask: (text: string) => text,
    parse: (text: string) =>
      /-----BEGIN|^\s*\{/.test(text) ? new Refusal('holds a key, not the path of its file') : parseText(text),
  },
  AUTH_JWKS_URL: {
    means: 'the key set of your identity provider, fetched again when its keys rotate',
    accepts: 'an https URL without user and password (http only for this machine itself)',
    fallback: null,
    mask: maskUrl,
    parse: parseJwksUrl,
  },
  AUTH_ISSUER: {
    means: 'the issuer (iss) a token must have',
    accepts: anyText,
    fallback: null,
    unset: 'any issuer',
    parse: parseText,
  },
  AUTH_AUDIENCE: {
    means: 'the audience (aud) a token must have',
    accepts: anyText,
    fallback: null,
    unset: 'any audience; required with AUTH_JWKS_URL',
    parse: parseText,
  },
  AUTH_USER_CLAIM: {
    means: 'the claim with the user id, by name or dotted path',
    accepts: anyText,
    fallback: 'sub',
    parse: parseText,
  },
  AUTH_ROLES_CLAIM: {
    means: 'the claim with the roles, by name or dotted path, such as realm_access.roles or scope',
    accepts: anyText,
    fallback: 'roles',
    parse: parseText,
  },
  AUTH_ADMIN_ROLE: {
    means: 'the role that may call /api/sms/admin',
    accepts: oneWord,
    fallback: 'sms-quota:admin',
    parse: parseWord,
  },
  AUTH_SENDER_ROLE: {
    means: 'the role that may call /api/sms/sender',
    accepts: oneWord,
    fallback: 'sms-quota:sender',
    parse: parseWord,
  },
  CONSOLE_OIDC_ISSUER: {
    means: 'the OpenID Connect provider that people sign in to the console with, by its issuer',
    accepts: 'an https URL without user, password, query and fragment (http only for this machine itself)',
    fallback: null,
    unset: 'people paste a token',
    mask: maskUrl,
    parse: parseIssuerUrl,
  },
  CONSOLE_OIDC_CLIENT_ID: {
    means: 'what the provider calls the console: a public client (no secret) that may return to /console/signed-in',
    accepts: anyText,
    fallback: null,
    unset: 'required with CONSOLE_OIDC_ISSUER',
    parse: parseText,
  },
  CONSOLE_OIDC_SCOPE: {
    means: 'the scopes to ask the provider for',
    accepts: 'words with one space between them, openid among them',
    fallback: 'openid',
    parse: parseScope,
  },
  ENFORCEMENT: {
    means: 'what becomes of a send past its quota: enforce denies it, observe grants it and says so (would_deny)',
    accepts: `one of ${ENFORCEMENTS.join(', ')}`,
    fallback: 'enforce',
    parse: (text: string) => ENFORCEMENTS.find(way => way === text) ?? new Refusal('is neither'),
  },
  REQUIRE_COUNTRY: {
    means: 'whether senders must tell the destination, so that no quota scoped to countries is passed by',
    accepts: 'true or false',
    fallback: 'false',
    parse: parseFlag,
  },
  RATE_LIMIT_PER_MINUTE: {
    means: 'calls a minute on user and admin paths for each principal; 0 turns it off',
    accepts: 'a whole number from 0 to 1000000',
    fallback: '6000',
    parse: whole(0, 1_000_000),
  },
  RETENTION_DAYS: {
    means: 'how many days a settled reservation is kept after its last change; then its id is forgotten',
    accepts: 'a whole number from 1 to 3650',
    fallback: '35',
    parse: whole(1, 3_650),
  },
  WEBHOOK_ALLOW_PRIVATE: {
    means: 'whether webhooks may be sent to this machine and into private networks',
    accepts: 'true or false',
    fallback: 'false',
    parse: parseFlag,
  },
  LOG_LEVEL: {
    means: 'how much is logged',
    accepts: `one of ${LOG_LEVELS.join(', ')}`,
    fallback: 'info',
    parse: (text: string) => LOG_LEVELS.find(level => level === text) ?? new Refusal('is none of the levels'),
  },
} as const satisfies Record<string, Variable<unknown>>

/** Under root, PostgreSQL runs as another user, who could not reach a folder below root's home. */
function defaultDataDir(env: Texts, { platform, isRoot, home }: Machine): string {
  if (isRoot) return '/var/lib/sms-quota'
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'sms-quota')
  const xdg = env.XDG_DATA_HOME ?? ''
  return join(isAbsolute(xdg) ? xdg : join(home, '.local', 'share'), 'sms-quota')
}
