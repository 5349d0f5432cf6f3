/** The table of variables: the meaning of each, the values that it accepts, and what applies when it is not set. */
import { isAbsolute, join } from 'node:path'
import { AUTH_VARIABLES } from './auth-variables.ts'
import { LIMIT_VARIABLES } from './limit-variables.ts'
import {
  MASK,
  maskUrl,
  parseDatabaseUrl,
  parseFolder,
  parseHost,
  parseHttpUrl,
  parseIssuerUrl,
  parseKey,
  parseRatio,
  parseReferenceBits,
  parseScope,
  parseShiftTables,
  parseTimeZone,
  SHIFT_TABLES,
  type ShiftTable,
} from './parse.ts'
import { PEOPLE_VARIABLES } from './people-variables.ts'
import { parseProxies } from './proxies.ts'
import { SENDER_VARIABLES } from './sender-variables.ts'
import { flag, keyPath, type Machine, oneOf, type Texts, text, type Variable, wholeNumber } from './variable.ts'

/** How the log shows the addresses of clients: whole, as the network that they belong to, or not at all. */
const CLIENT_ADDRESS_MODES = ['full', 'prefix', 'off'] as const
export type ClientAddressMode = (typeof CLIENT_ADDRESS_MODES)[number]

/** Where a part of a long text may end. */
const SEGMENTATIONS = ['graphemes', 'code-units'] as const
/** The rules by which the gateway or carrier cuts texts into SMS. */
export interface SegmentsConfig {
  split: (typeof SEGMENTATIONS)[number]
  referenceBits: 8 | 16
  shiftTables: readonly ShiftTable[]
}

export const VARIABLES = {
  HOST: {
    means: 'the address to listen on',
    accepts: 'an IP address (IPv6 without brackets) or a host name',
    fallback: '127.0.0.1',
    parse: parseHost,
  },
  PORT: {
    means: 'the port to listen on; 0 takes any free one',
    ...wholeNumber(0, 65_535),
    fallback: '8080',
  },
  METRICS_PORT: {
    means: 'a separate port for /metrics, so that clients of the API cannot reach it; 0 takes any free one',
    ...wholeNumber(0, 65_535),
    unset: '/metrics is served on PORT',
  },
  TLS_CERT_FILE: {
    means:
      'the file of the certificate of the service, followed by those between it and the root; read again when it changes',
    accepts: 'the path of a PEM file',
    unset: 'the service speaks HTTP; required with TLS_KEY_FILE',
    ...keyPath,
  },
  TLS_KEY_FILE: {
    means: 'the file of the private key of that certificate',
    accepts: 'the path of a PEM file without a passphrase',
    ...keyPath,
  },
  TRUST_PROXY: {
    means: 'the proxies before the service: they say in X-Forwarded-For which address a call comes from',
    accepts:
      'addresses and networks separated by commas, such as 10.0.0.7,fd00::/8 or loopback, linklocal, uniquelocal',
    unset: 'the address of a call is that of its connection',
    parse: parseProxies,
  },
  SHUTDOWN_DELAY_SECONDS: {
    means:
      'how many seconds the service still serves after a stop signal, while /readyz is 503, so that load balancers stop sending to it',
    ...wholeNumber(0, 300),
    fallback: '0',
  },
  DATABASE_URL: {
    means: 'the PostgreSQL database (version 15 or later) to use',
    accepts:
      'postgres://user:password@host:5432/database, with special characters of the password percent-encoded, and several hosts separated by commas (a:5432,b:5432) of which the one that takes writes is used',
    unset: 'the service runs its own PostgreSQL in DATA_DIR',
    mask: maskUrl,
    secret: true,
    parse: parseDatabaseUrl,
  },
  DATABASE_POOL_SIZE: {
    means:
      'the maximum number of pooled connections to PostgreSQL for people; senders, jobs and readiness use up to 13 more',
    ...wholeNumber(1, 1_000),
    fallback: '10',
  },
  DATABASE_WAIT_SECONDS: {
    means:
      'how many seconds a start waits for a database that cannot be reached yet, or still starts; the port answers health meanwhile',
    ...wholeNumber(0, 3_600),
    fallback: '60',
  },
  DATABASE_TLS: {
    means:
      'whether connections to a database on another machine must be encrypted, with a verified certificate; off is for networks that you trust',
    ...oneOf(['required', 'off']),
    fallback: 'required',
  },
  MIGRATE: {
    means:
      'what a start does with a database that lacks migrations: auto applies them, off refuses to start until sms-quota migrate has',
    ...oneOf(['auto', 'off']),
    fallback: 'auto',
  },
  DATA_DIR: {
    means: 'the folder of the PostgreSQL and the secret that the service makes itself',
    accepts: 'an absolute path',
    fallback: defaultDataDir,
    parse: parseFolder,
  },
  ...AUTH_VARIABLES,
  CONSOLE_OIDC_ISSUER: {
    means: 'the issuer of the OpenID Connect provider that people use to sign in to the console',
    accepts: 'an https URL without user, password, query and fragment (http only for the local machine)',
    unset: 'people sign in by pasting a token',
    mask: maskUrl,
    parse: parseIssuerUrl,
  },
  CONSOLE_OIDC_CLIENT_ID: {
    means: 'the client id of the console at the provider: a public client that redirects to /console/signed-in',
    ...text,
    unset: 'required with CONSOLE_OIDC_ISSUER',
  },
  CONSOLE_OIDC_SCOPE: {
    means: 'the scopes that the console requests from the provider',
    accepts: 'scopes separated by one space, including openid',
    fallback: 'openid',
    parse: parseScope,
  },
  ...SENDER_VARIABLES,
  SEGMENTATION: {
    means:
      'where the parts of a long text in UCS-2 end, when the service counts them: between graphemes, as most providers cut; or after any 16-bit unit, also within an emoji, as Jasmin and Kannel do. Agents need the same value, as of the two below',
    ...oneOf(SEGMENTATIONS),
    fallback: 'graphemes',
  },
  SMS_REFERENCE_BITS: {
    means:
      'the size of the number that joins the parts of a text: with 8 bits, a part holds 153 septets (GSM-7) or 67 units (UCS-2); with 16 bits, 152 or 66',
    accepts: '8 or 16',
    fallback: '8',
    parse: parseReferenceBits,
  },
  SMS_SHIFT_TABLES: {
    means:
      'the national single shift tables that the carrier sends with: a text that needs letters of one of them is counted in GSM-7, 155 septets or 149 in each part (148 with 16 bits), and these letters take two',
    accepts: `${SHIFT_TABLES.join(', ')}, or several of them separated by commas`,
    unset: 'a text with letters that GSM-7 lacks is UCS-2',
    parse: parseShiftTables,
  },
  ...LIMIT_VARIABLES,
  RETENTION_DAYS: {
    means:
      'how many days after its last change a settled reservation is kept, with its id; also for webhook deliveries',
    ...wholeNumber(1, 3_650),
    fallback: '35',
  },
  HISTORY_RETENTION_DAYS: {
    means: "how many days a quota's past window is kept after its end, longer while a reservation of that time is kept",
    ...wholeNumber(1, 36_500),
    unset: 'past windows are kept for ever',
  },
  DELETED_QUOTA_RETENTION_DAYS: {
    means:
      'how many days a deleted quota is kept, with its history and past windows, longer while a reservation from before its deletion is kept',
    ...wholeNumber(1, 36_500),
    unset: 'deleted quotas are kept for ever',
  },
  AUDIT_RETENTION_DAYS: {
    means:
      "how many days an administrator's change of a quota, a webhook or a plan is kept. Without the changes of a quota, verify cannot prove all of it. Names that no token had for that time are removed, too. Records of erasures are kept",
    ...wholeNumber(1, 36_500),
    unset: 'changes are kept for ever, those of a deleted quota as long as the quota',
  },
  DENIAL_RETENTION_DAYS: {
    means: 'how many days a denial is kept in the log of denials; up to 1.7 million a day and process are written',
    ...wholeNumber(1, 365),
    fallback: '7',
  },
  EVENT_RETENTION_DAYS: {
    means:
      'how many days an event is kept in the feed; longer while an enabled webhook has not received it. A disabled webhook keeps the events that it misses for so long, too',
    ...wholeNumber(7, 3_650),
    fallback: '90',
  },
  USAGE_TIME_ZONE: {
    means:
      'the time zone of the days and months that usage is compacted into after 35 days; reports of earlier days are exact in it only',
    accepts: 'an IANA time zone, such as Europe/Berlin',
    fallback: 'UTC',
    parse: parseTimeZone,
  },
  WEBHOOK_ALLOW_PRIVATE: {
    means: 'whether webhooks may be sent to the local machine and to private networks',
    ...flag,
  },
  ...PEOPLE_VARIABLES,
  SECRETS_KEY: {
    means:
      'the key that webhook secrets are encrypted with in the database; off leaves them as plain text, also those that were encrypted',
    accepts: '32 bytes in base64, for example the output of `openssl rand -base64 32`, or off',
    unset: 'a key that the service makes in DATA_DIR; plain text with DATABASE_URL',
    mask: maskKey,
    secret: true,
    parse: (text: string) => (text === 'off' ? text : parseKey(text)),
  },
  SECRETS_KEY_PREVIOUS: {
    means: 'the key before SECRETS_KEY, which still decrypts while secrets are encrypted again with the new one',
    accepts: '32 bytes in base64',
    mask: maskKey,
    secret: true,
    parse: parseKey,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    means: 'the OpenTelemetry collector that traces are sent to, by OTLP over HTTP',
    accepts: 'an http or https URL without a user; /v1/traces is appended',
    unset: 'nothing is traced',
    mask: maskUrl,
    parse: parseHttpUrl,
  },
  OTEL_TRACES_SAMPLER_ARG: {
    means: 'the part of the traces that is kept, where no caller with a valid token has decided by traceparent',
    accepts: 'a number from 0 to 1',
    fallback: '0.01',
    parse: parseRatio,
  },
  LOG_LEVEL: {
    means: 'the least severe level that is logged',
    ...oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'is not a level'),
    fallback: 'info',
  },
  LOG_CLIENT_ADDRESS: {
    means:
      'how the log shows the addresses of clients: full; prefix, the first 24 bits of IPv4 and 48 of IPv6; or off. Addresses are personal data',
    ...oneOf(CLIENT_ADDRESS_MODES, 'is none of them'),
    fallback: 'full',
  },
} as const satisfies Record<string, Variable<unknown>>

function maskKey(text: string): string {
  return text === 'off' ? text : MASK
}

export type Name = keyof typeof VARIABLES
/** All names, in the order of the table. */
export const NAMES = Object.keys(VARIABLES) as Name[]
export const row = (name: Name): Variable<unknown> => VARIABLES[name]

/** Under root, PostgreSQL runs as another user, which cannot reach a folder in the home of root. */
function defaultDataDir(env: Texts, { platform, isRoot, home }: Machine): string {
  if (isRoot) return '/var/lib/sms-quota'
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'sms-quota')
  const xdg = env.XDG_DATA_HOME ?? ''
  return join(isAbsolute(xdg) ? xdg : join(home, '.local', 'share'), 'sms-quota')
}
