import { describe, expect, test } from 'vitest'
import { type Config, ConfigError, type LoadOptions, loadConfig } from '../src/config/config.ts'
import { configVariables, describeConfig, SECRET_VARIABLES } from '../src/config/describe.ts'
import { MASK } from '../src/config/parse.ts'
import type { Variable } from '../src/config/variable.ts'
import { VARIABLES } from '../src/config/variables.ts'

const MACHINE = { platform: 'linux', isRoot: false, home: '/home/ann' } as const
const SECRET = 'correct horse battery staple, twice'
const KEY = Buffer.alloc(32, 251)
const DATABASE = 'postgres://sms:pa%23ss@db.example:5433/quota?sslmode=require'

function load(env: Record<string, string>, options: LoadOptions = {}): Config {
  const result = loadConfig(env, { machine: MACHINE, ...options })
  if ('issues' in result) throw new ConfigError(result.issues)
  return result.config
}

function issuesOf(env: Record<string, string>, options: LoadOptions = {}): string[] {
  const result = loadConfig(env, { machine: MACHINE, ...options })
  return 'issues' in result ? result.issues.map(({ variable, message }) => `${variable}: ${message}`) : []
}

/** Each variable: the setting that it is, its default (left out: that of its group), a value, and what that means (left out: the text). */
const SETTINGS: [variable: string, path: string, fallback: unknown, value: string, meaning?: unknown][] = [
  ['HOST', 'host', '127.0.0.1', '::1'],
  ['PORT', 'port', 8080, '0', 0],
  ['METRICS_PORT', 'metricsPort', null, '9090', 9090],
  ['TLS_CERT_FILE', 'tls.certFile', undefined, '/etc/tls/cert.pem'],
  ['TLS_KEY_FILE', 'tls.keyFile', undefined, '/etc/tls/key.pem'],
  ['TRUST_PROXY', 'trustProxy', null, '10.0.0.1, fd00::/8,loopback', ['10.0.0.1', 'fd00::/8', 'loopback']],
  ['SHUTDOWN_DELAY_SECONDS', 'shutdownDelaySeconds', 0, '15', 15],
  ['DATABASE_URL', 'databaseUrl', null, DATABASE],
  ['DATABASE_POOL_SIZE', 'databasePoolSize', 10, '3', 3],
  ['DATABASE_WAIT_SECONDS', 'databaseWaitSeconds', 60, '0', 0],
  ['DATABASE_TLS', 'databaseTls', 'required', 'off'],
  ['MIGRATE', 'migrate', 'auto', 'off'],
  ['DATA_DIR', 'dataDir', '/home/ann/.local/share/sms-quota', '/srv/sms quota/../sms', '/srv/sms'],
  [
    'AUTH_JWKS_URL',
    'auth.key',
    { kind: 'own' },
    'https://id.example/keys',
    { kind: 'jwks', url: 'https://id.example/keys' },
  ],
  ['AUTH_ISSUER', 'auth.issuer', null, 'https://id.example'],
  ['AUTH_AUDIENCE', 'auth.audience', null, 'sms'],
  ['AUTH_TOKEN_TYPE', 'auth.tokenType', null, 'at+jwt'],
  ['AUTH_USER_CLAIM', 'auth.userClaim', 'sub', 'https://id.example/uid'],
  ['AUTH_USER_REF_CLAIM', 'auth.userRefClaim', null, 'sub'],
  ['AUTH_ROLES_CLAIM', 'auth.rolesClaim', 'roles', 'realm_access.roles'],
  ['AUTH_ADMIN_ROLE', 'auth.adminRole', 'sms-quota:admin', 'boss'],
  ['AUTH_SENDER_ROLE', 'auth.senderRole', 'sms-quota:sender', 'gateway'],
  ['AUTH_AUDITOR_ROLE', 'auth.auditorRole', 'sms-quota:auditor', 'auditor'],
  ['AUTH_SUPPORT_ROLE', 'auth.supportRole', 'sms-quota:support', 'helpdesk'],
  ['AUTH_FORCE_ROLE', 'auth.forceRole', 'sms-quota:force', 'forcer'],
  ['AUTH_SENDER_USERS_CLAIM', 'auth.senderUsersClaim', null, 'sms_users'],
  ['CONSOLE_OIDC_ISSUER', 'consoleOidc.issuer', undefined, 'https://id.example'],
  ['CONSOLE_OIDC_CLIENT_ID', 'consoleOidc.clientId', undefined, 'sms-console'],
  ['CONSOLE_OIDC_SCOPE', 'consoleOidc.scope', undefined, 'openid sms'],
  ['SUPPORT_ADJUST_LIMIT', 'supportAdjustLimit', 1000, '0', 0],
  ['ENFORCEMENT', 'enforcement', 'enforce', 'observe'],
  ['REQUIRE_COUNTRY', 'requireCountry', false, 'true', true],
  ['REQUIRE_RECIPIENT', 'requireRecipient', false, 'true', true],
  ['SENDER_DOOR', 'senderDoor', true, 'false', false],
  ['AUTO_USERS', 'autoUsers', false, 'true', true],
  ['BREAKER_MESSAGE_TYPES', 'breaker.messageTypes', ['otp'], 'otp, pin,otp', ['otp', 'pin']],
  ['BREAKER_INTERVAL_SECONDS', 'breaker.intervalSeconds', 15, '5', 5],
  ['SEGMENTATION', 'segments.split', 'graphemes', 'code-units'],
  ['SMS_REFERENCE_BITS', 'segments.referenceBits', 8, '16', 16],
  ['SMS_SHIFT_TABLES', 'segments.shiftTables', [], 'turkish, spanish', ['turkish', 'spanish']],
  ['DEFAULT_PLAN_USERS_PER_MINUTE', 'defaultPlanUsersPerMinute', 600, '50', 50],
  ['REQUEST_AUTO_APPROVE_PERCENT', 'requestAutoApprovePercent', 0, '10', 10],
  ['RATE_LIMIT_PER_MINUTE', 'rateLimitPerMinute', 6000, '0', 0],
  ['SENDER_OPERATIONS_PER_SECOND', 'senderOperationsPerSecond', 0, '500', 500],
  ['AUTH_FAILURES_PER_MINUTE', 'authFailuresPerMinute', 3000, '60', 60],
  ['MAX_CONNECTIONS', 'maxConnections', 10000, '100', 100],
  ['LOG_CLIENT_ADDRESS', 'logClientAddress', 'full', 'prefix'],
  ['LOG_LEVEL', 'logLevel', 'info', 'silent'],
  ['RETENTION_DAYS', 'retentionDays', 35, '90', 90],
  ['HISTORY_RETENTION_DAYS', 'historyRetentionDays', null, '400', 400],
  ['DELETED_QUOTA_RETENTION_DAYS', 'deletedQuotaRetentionDays', null, '3650', 3650],
  ['AUDIT_RETENTION_DAYS', 'auditRetentionDays', null, '800', 800],
  ['DENIAL_RETENTION_DAYS', 'denialRetentionDays', 7, '30', 30],
  ['EVENT_RETENTION_DAYS', 'eventRetentionDays', 90, '365', 365],
  ['USAGE_TIME_ZONE', 'usageTimeZone', 'UTC', 'europe/berlin', 'Europe/Berlin'],
  ['WEBHOOK_ALLOW_PRIVATE', 'webhookAllowPrivate', false, 'true', true],
  ['SMTP_URL', 'mail.url', undefined, 'smtp://quota:p%40ss@mail.example:587'],
  ['MAIL_FROM', 'mail.from', undefined, 'Quotas <quotas@sms.example>'],
  ['PUBLIC_URL', 'publicUrl', null, 'https://sms.example/', 'https://sms.example'],
  ['CONTACT_TEXT', 'contact.text', null, 'Your account manager.'],
  ['CONTACT_URL', 'contact.url', null, 'mailto:help@sms.example'],
  ['USER_NOTIFICATIONS', 'userNotifications', false, 'true', true],
  ['SECRETS_KEY', 'secretsKey', null, KEY.toString('base64'), KEY],
  ['SECRETS_KEY_PREVIOUS', 'secretsKeyPrevious', null, KEY.toString('base64url'), KEY],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'tracing.endpoint', null, 'http://collector:4318'],
  ['OTEL_TRACES_SAMPLER_ARG', 'tracing.ratio', 0.01, '0.25', 0.25],
]
/** The other kinds of keys, of which one is set. */
const OTHER_KEYS = ['AUTH_SECRET', 'AUTH_SECRET_PREVIOUS', 'AUTH_PUBLIC_KEY_FILE', 'AUTH_PUBLIC_KEY_FILE_PREVIOUS']

type Settings = { [name: string]: unknown }

/** The settings that the rows say, the others as given. */
function settingsOf(read: (row: (typeof SETTINGS)[number]) => unknown, settings: Settings = {}): Settings {
  for (const row of SETTINGS) {
    const [name = '', inner] = row[1].split('.')
    const value = read(row)
    if (inner === undefined) settings[name] = value
    else if (value !== undefined) settings[name] = { ...(settings[name] as Settings), [inner]: value }
  }
  return settings
}

describe('the settings in effect', () => {
  test('are the defaults without any variable, and come from every variable', () => {
    expect(load({})).toEqual(settingsOf(([, , fallback]) => fallback, { tls: null, consoleOidc: null, mail: null }))
    const env = Object.fromEntries(SETTINGS.map(([variable, , , value]) => [variable, value]))
    expect(load(env)).toEqual(settingsOf(([, , , value, meaning = value]) => meaning))
    expect([...Object.keys(env), ...OTHER_KEYS].toSorted()).toEqual(Object.keys(VARIABLES).toSorted())
  })

  test('come from the environment rather than the file, and an empty text counts as not set', () => {
    const file = { PORT: '1', HOST: 'localhost', LOG_LEVEL: '' }
    expect(load({ PORT: '2', HOST: '', OTHER: 'x' }, { file })).toMatchObject({
      port: 2,
      host: 'localhost',
      logLevel: 'info',
    })
  })

  test.each([
    [{ ...MACHINE, isRoot: true }, {}, '/var/lib/sms-quota'],
    [MACHINE, { XDG_DATA_HOME: '/data' }, '/data/sms-quota'],
    [MACHINE, { XDG_DATA_HOME: 'relative' }, '/home/ann/.local/share/sms-quota'],
    [
      { platform: 'darwin', isRoot: false, home: '/Users/ann' } as const,
      {},
      '/Users/ann/Library/Application Support/sms-quota',
    ],
  ])('the data folder on %j with %j is %s', (machine, env, expected) => {
    expect(load(env, { machine }).dataDir).toBe(expected)
  })

  test.each([
    'postgresql://localhost/sms',
    'postgres:///sms?host=/run/postgresql',
    'postgres://%2Frun%2Fpostgresql/sms',
    'postgres://u:p@[::1]:5432',
    'postgres://u:p,q@127.0.0.1:5432,localhost:5433/d',
    'postgres://u:p@db.example:5432,db2.example/d?sslmode=verify-full',
  ])('%s is a database', DATABASE_URL => {
    expect(load({ DATABASE_URL, AUTH_SECRET: SECRET }).databaseUrl).toBe(DATABASE_URL)
  })

  test.each(['http://127.0.0.1:9/keys', 'http://127.8.8.8/keys', 'http://localhost/keys', 'http://[::1]:9/keys'])(
    '%s is on the local machine and may be http',
    AUTH_JWKS_URL => {
      const provider = { AUTH_ISSUER: 'https://id.example', AUTH_AUDIENCE: 'sms' }
      expect(load({ AUTH_JWKS_URL, ...provider }).auth.key).toEqual({ kind: 'jwks', url: AUTH_JWKS_URL })
    },
  )

  test('a secret or a public key file', () => {
    const secret = { kind: 'secret', secret: SECRET, previous: null }
    expect(load({ AUTH_SECRET: SECRET }).auth.key).toEqual(secret)
    const previous = `${SECRET}, before`
    expect(load({ AUTH_SECRET: SECRET, AUTH_SECRET_PREVIOUS: previous }).auth.key).toEqual({ ...secret, previous })
    const file = { kind: 'public-key', file: 'a key.pem', previous: null }
    expect(load({ AUTH_PUBLIC_KEY_FILE: 'a key.pem' }).auth.key).toEqual(file)
    expect(load({ AUTH_PUBLIC_KEY_FILE: 'a key.pem', AUTH_PUBLIC_KEY_FILE_PREVIOUS: 'b.pem' }).auth.key).toEqual({
      ...file,
      previous: 'b.pem',
    })
  })
})

test.each(['', '?sslmode=no-verify', '?sslmode=disable', '?sslmode=require&uselibpqcompat=true'])(
  'a database on another machine needs TLS, or DATABASE_TLS=off: %s',
  parameters => {
    for (const hosts of ['db.example', '127.0.0.1,db.example']) {
      const env = { DATABASE_URL: `postgres://u:hunter2@${hosts}/d${parameters}`, AUTH_SECRET: SECRET }
      expect(issuesOf(env)).toEqual([expect.stringMatching(/^DATABASE_URL: would reach another machine without/)])
      expect(load({ ...env, DATABASE_TLS: 'off' }).databaseTls).toBe('off')
    }
  },
)

test('the password of a database with several hosts is masked', () => {
  const config = load({ DATABASE_URL: 'postgres://u:hunter2@a:1,b:2/d?sslmode=verify-full', AUTH_SECRET: SECRET })
  const shown = describeConfig(config).find(({ name }) => name === 'DATABASE_URL')?.value
  expect(shown).toBe('postgres://u:********@a:1,b:2/d?sslmode=verify-full')
})

describe('refused', () => {
  test('messages to users without what sends them, or what signs their links', () => {
    const wanted = { USER_NOTIFICATIONS: 'true' }
    const mail = { SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'a@b.example', PUBLIC_URL: 'https://sms.example' }
    expect(issuesOf(wanted)).toEqual(['USER_NOTIFICATIONS: requires SMTP_URL and MAIL_FROM and PUBLIC_URL'])
    const noKey =
      'USER_NOTIFICATIONS: requires SECRETS_KEY: the key that signs the links in messages is stored encrypted'
    expect(issuesOf({ ...wanted, ...mail, SECRETS_KEY: 'off' })).toEqual([noKey])
    expect(issuesOf({ ...wanted, ...mail, DATABASE_URL: DATABASE, AUTH_SECRET: SECRET })).toContain(noKey)
    expect(issuesOf({ ...wanted, ...mail })).toEqual([])
  })

  test.each([
    ['https://u:secret@mail.example', 'a@b.example', 'SMTP_URL: is not an SMTP URL'],
    ['smtp://u:secret@mail.example/?ignoreTLS=true', 'a@b.example', 'SMTP_URL: has a path, a query, a fragment'],
    ['smtp://u:sec#ret@mail.example', 'a@b.example', 'SMTP_URL: is not an SMTP URL'],
    [
      'smtp://u:secret@mail.example?tls=off',
      'a@b.example',
      'SMTP_URL: would send mail unencrypted beyond a private network',
    ],
    ['smtp://8.8.8.8:25?tls=off', 'a@b.example', 'beyond a private network'],
    ['smtp://172.32.0.1?tls=off', 'a@b.example', 'beyond a private network'],
    ['smtp://[2a00::1]?tls=off', 'a@b.example', 'beyond a private network'],
    ['smtp://localhost.evil.example?tls=off', 'a@b.example', 'beyond a private network'],
    ['smtps://10.0.0.5?tls=off', 'a@b.example', 'SMTP_URL: has a path, a query, a fragment'],
    ['smtp://10.0.0.5?tls=on', 'a@b.example', 'SMTP_URL: has a path, a query, a fragment'],
    ['smtp://mail.example', 'jürgen@b.example', 'MAIL_FROM: "jürgen@b.example" has letters beyond ASCII before the @'],
    ['smtp://mail.example', 'a@b.example, c@d.example', 'MAIL_FROM: "a@b.example, c@d.example" is no address'],
    ['smtp://mail.example', '', 'SMTP_URL, MAIL_FROM: each requires the other'],
  ])('SMTP_URL=%j MAIL_FROM=%j: %s', (url, from, words) => {
    const issues = issuesOf({ SMTP_URL: url, MAIL_FROM: from })
    expect(issues).toHaveLength(1)
    expect(issues[0]).toContain(words)
    expect(issues[0]).not.toMatch(/secret|sec#/)
  })

  test.each([
    '10.0.0.5:25',
    '172.31.0.1',
    '192.168.1.1',
    '127.0.0.1:1025',
    '[::1]',
    '[fd00::25]:25',
    'localhost',
    'postfix:25',
    'mail.internal',
    'postfix.mail.svc.cluster.local',
  ])('not a relay without TLS at %s', host => {
    expect(issuesOf({ SMTP_URL: `smtp://${host}?tls=off`, MAIL_FROM: 'Quotas <a@münchen.example>' })).toEqual([])
  })

  test.each([
    ['HOST', 'local host', 'is neither; accepted: an IP address'],
    ['HOST', '[::1]', 'without brackets'],
    ['HOST', '256.0.0.1', 'is neither'],
    ['HOST', '127.0.0.1:80', 'is neither'],
    ['PUBLIC_URL', 'https://sms.example/?a', 'contains a query'],
    ['CONTACT_TEXT', 'a\u0007b', 'contains control characters'],
    ['CONTACT_URL', 'javascript:alert(1)', 'is not an http or https URL; accepted: an http, https or mailto URL'],
    ['PORT', '65536', 'is out of bounds; accepted: a whole number from 0 to 65535'],
    ['PORT', '80a', 'is not a whole number'],
    ['PORT', '-1', 'is not a whole number'],
    ['PORT', '080', 'is not a whole number'],
    ['PORT', ' 80', 'is not a whole number'],
    ['PORT', '1e3', 'is not a whole number'],
    // A number of proxies would not say which connections are theirs.
    ['TRUST_PROXY', '1', 'is no list of addresses and networks; accepted: addresses'],
    ['TRUST_PROXY', '10.0.0.0/33', 'is no list'],
    ['TRUST_PROXY', 'fd00::/129', 'is no list'],
    ['TRUST_PROXY', '10.0.0.1,', 'is no list'],
    ['TRUST_PROXY', 'proxy.example', 'is no list'],
    ['TRUST_PROXY', '10.0.0.1/', 'is no list'],
    ['TRUST_PROXY', '10.0.0.1, 0.0.0.0/0', 'trusts every address'],
    ['TRUST_PROXY', '0.0.0.0/00', 'trusts every address'],
    ['TRUST_PROXY', '::/0', 'trusts every address'],
    ['TRUST_PROXY', '::ffff:0.0.0.0/96', 'trusts every address'],
    ['SHUTDOWN_DELAY_SECONDS', '301', 'is out of bounds'],
    ['DATABASE_POOL_SIZE', '0', 'is out of bounds'],
    ['DATABASE_WAIT_SECONDS', '3601', 'is out of bounds'],
    ['HISTORY_RETENTION_DAYS', '0', 'is out of bounds'],
    ['AUDIT_RETENTION_DAYS', '0', 'is out of bounds'],
    ['DELETED_QUOTA_RETENTION_DAYS', '1.5', 'is not a whole number'],
    ['DATA_DIR', 'data', 'is not absolute'],
    ['DATA_DIR', '~/data', 'is not absolute'],
    ['AUTH_ISSUER', 'a\nb', 'contains control characters'],
    ['AUTH_TOKEN_TYPE', 'the type', 'contains spaces'],
    ['CONSOLE_OIDC_SCOPE', 'email', 'does not include openid; accepted: scopes'],
    ['CONSOLE_OIDC_SCOPE', 'openid  email', 'is not a list of scopes'],
    ['CONSOLE_OIDC_SCOPE', 'openid "x"', 'is not a list of scopes'],
    ['ENFORCEMENT', 'off', 'is neither; accepted: one of enforce, observe'],
    ['AUTO_USERS', 'yes', 'is neither; accepted: true or false'],
    ['BREAKER_MESSAGE_TYPES', 'otp,', 'names none'],
    ['BREAKER_INTERVAL_SECONDS', '4', 'accepted: a whole number from 5 to 300'],
    ['DEFAULT_PLAN_USERS_PER_MINUTE', '0', 'accepted: a whole number from 1 to 1000000'],
    ['REQUEST_AUTO_APPROVE_PERCENT', '101', 'accepted: a whole number from 0 to 100'],
    ['REQUIRE_COUNTRY', '1', 'is neither; accepted: true or false'],
    ['REQUIRE_COUNTRY', 'TRUE', 'is neither'],
    ['REQUIRE_RECIPIENT', 'yes', 'is neither; accepted: true or false'],
    ['SEGMENTATION', 'codeunits', 'is neither; accepted: one of graphemes, code-units'],
    ['SMS_REFERENCE_BITS', '7', 'is neither; accepted: 8 or 16'],
    [
      'SMS_SHIFT_TABLES',
      'turkish,french',
      'names a table that is none of them; accepted: turkish, spanish, portuguese',
    ],
    ['SMS_SHIFT_TABLES', 'spanish,spanish', 'names a table twice'],
    ['SMS_SHIFT_TABLES', 'turkish,', 'names a table that is none of them'],
    ['DEFAULT_PLAN_USERS_PER_MINUTE', '0', 'is out of bounds'],
    ['RATE_LIMIT_PER_MINUTE', '1.5', 'is not a whole number'],
    ['AUTH_FAILURES_PER_MINUTE', '-1', 'is not a whole number'],
    ['MAX_CONNECTIONS', '0', 'is out of bounds'],
    ['LOG_CLIENT_ADDRESS', 'half', 'is none of them'],
    ['USAGE_TIME_ZONE', '+02:00', 'is no time zone; accepted: an IANA time zone'],
    ['USAGE_TIME_ZONE', 'Europe/Nowhere', 'is no time zone'],
    ['USAGE_TIME_ZONE', 'GMT+1', 'is no time zone'],
    ['USAGE_TIME_ZONE', 'W. Europe Standard Time', 'is no time zone'],
    // Abbreviations that only ICU knows: its BST is in Bangladesh.
    ['USAGE_TIME_ZONE', 'BST', 'is no time zone'],
    ['USAGE_TIME_ZONE', 'IST', 'is no time zone'],
    ['USAGE_TIME_ZONE', 'PST', 'is no time zone'],
    ['USAGE_TIME_ZONE', 'SystemV/EST5', 'is no time zone'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'is not a number from 0 to 1'],
    ['LOG_LEVEL', 'INFO', 'is not a level; accepted: one of fatal, error, warn, info, debug, trace, silent'],
  ])('%s=%j %s', (name, value, words) => {
    const issues = issuesOf({ [name]: value })
    expect(issues).toHaveLength(1)
    expect(issues[0]).toContain(`${name}: ${JSON.stringify(value)}`)
    expect(issues[0]).toContain(words)
  })

  test.each([
    ['SECRETS_KEY', 'hunter2', 'is not base64; accepted: 32 bytes in base64'],
    ['SECRETS_KEY', 'aHVudGVyMg==', 'has 7 bytes'],
    ['SECRETS_KEY_PREVIOUS', 'off', 'is not base64'],
    ['DATABASE_URL', 'hunter2', 'is not a URL'],
    ['DATABASE_URL', 'postgres://127.0.0.1,/hunter2', 'has an empty host in its list'],
    ['DATABASE_URL', 'mysql://u:hunter2@h/d', 'is not a PostgreSQL URL'],
    ['DATABASE_URL', 'postgres://u:hunter2#x@h/d', 'is not a URL'],
    ['DATABASE_URL', 'postgres://u:1#hunter2@h/d', 'has a special character that is not percent-encoded'],
    ['DATABASE_URL', 'postgres://u:1/hunter2@h/d', 'has a special character that is not percent-encoded'],
    ['DATABASE_URL', 'postgres://u:1?hunter2@h/d', 'has a special character that is not percent-encoded'],
    ['DATABASE_URL', 'postgres://u:hunter2%zz@h/d', 'has a % that does not begin a percent-encoding'],
    ['AUTH_SECRET', 'hunter2', 'has only 7 bytes; accepted: at least 32 bytes'],
    ['AUTH_PUBLIC_KEY_FILE', '-----BEGIN PRIVATE KEY-----\nhunter2', 'holds a key, not the path of its file'],
    ['AUTH_PUBLIC_KEY_FILE', '{"kty":"OKP","d":"hunter2"}', 'holds a key, not the path of its file'],
    ['AUTH_JWKS_URL', 'id.example/hunter2', 'is not an https URL'],
    ['AUTH_JWKS_URL', 'ftp://id.example/hunter2', 'is not an https URL'],
    ['AUTH_JWKS_URL', 'https://u:hunter2@id.example/keys', 'contains a user or a password'],
    ['AUTH_JWKS_URL', 'http://id.example/hunter2', 'would fetch keys without encryption'],
    ['AUTH_JWKS_URL', 'http://127.0.0.1.evil.example/hunter2', 'would fetch keys without encryption'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'hunter2:4318', 'is not an http or https URL'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://u:hunter2@h:4318', 'contains a user or a password'],
  ])('%s=%j, without repeating it', (name, value, words) => {
    const key = name === 'DATABASE_URL' ? { AUTH_SECRET: SECRET } : {}
    const issues = issuesOf({ ...key, [name]: value, AUTH_ISSUER: 'https://id.example', AUTH_AUDIENCE: 'sms' })
    expect(issues).toHaveLength(1)
    expect(issues[0]).toContain(`${name}: ${words}`)
    expect(issues[0]).toContain('accepted: ')
    expect(issues[0]).not.toContain('hunter2')
  })

  test('a secret is measured in bytes', () => {
    expect(issuesOf({ AUTH_SECRET: 'é'.repeat(16) })).toEqual([])
    expect(issuesOf({ AUTH_SECRET: 'e'.repeat(31) })).toHaveLength(1)
  })

  test('a long value is cut', () => {
    expect(issuesOf({ PORT: '9'.repeat(1_000) })[0]?.length).toBeLessThan(200)
  })

  test('all issues at once, of values and between them', () => {
    const env = { PORT: 'x', AUTH_SECRET: 'short', AUTH_JWKS_URL: 'http://id.example', LOG_LEVEL: 'loud' }
    expect(issuesOf(env).map(issue => issue.split(':')[0])).toEqual([
      'PORT',
      'AUTH_SECRET',
      'AUTH_JWKS_URL',
      'LOG_LEVEL',
      'AUTH_SECRET, AUTH_JWKS_URL',
      'AUTH_ISSUER',
      'AUTH_AUDIENCE',
    ])
  })

  test('an external database without a key, except for a migration', () => {
    const env = { DATABASE_URL: DATABASE }
    expect(issuesOf(env)).toEqual([expect.stringContaining('AUTH_SECRET, AUTH_PUBLIC_KEY_FILE, AUTH_JWKS_URL: one of')])
    expect(issuesOf(env, { needsKey: false })).toEqual([])
    expect(issuesOf({ ...env, AUTH_SECRET: SECRET })).toEqual([])
  })

  test('a previous key without a key, beside an external database', () => {
    const env = { DATABASE_URL: DATABASE, AUTH_SECRET: SECRET, SECRETS_KEY_PREVIOUS: KEY.toString('base64') }
    expect(issuesOf(env)).toEqual([
      'SECRETS_KEY_PREVIOUS: requires SECRETS_KEY with DATABASE_URL; set that to a new key, or to off',
    ])
    expect(issuesOf({ ...env, SECRETS_KEY: 'off' })).toEqual([])
  })

  test('a previous key without the one that replaces it', () => {
    expect(issuesOf({ AUTH_SECRET_PREVIOUS: SECRET })).toEqual([
      'AUTH_SECRET_PREVIOUS: requires AUTH_SECRET, the key that replaces it',
    ])
    expect(issuesOf({ AUTH_SECRET: SECRET, AUTH_PUBLIC_KEY_FILE_PREVIOUS: 'a.pem' })).toHaveLength(1)
    const [short] = issuesOf({ AUTH_SECRET: SECRET, AUTH_SECRET_PREVIOUS: 'hunter2' })
    expect(short).toMatch(/^AUTH_SECRET_PREVIOUS: has only 7 bytes/)
  })

  test('a key server without an issuer', () => {
    expect(issuesOf({ AUTH_JWKS_URL: 'https://id.example/keys', AUTH_AUDIENCE: 'sms' })).toEqual([
      expect.stringMatching(/^AUTH_ISSUER: is required with AUTH_JWKS_URL/),
    ])
  })

  test('one name for two roles', () => {
    expect(issuesOf({ AUTH_ADMIN_ROLE: 'x', AUTH_SENDER_ROLE: 'x' })).toEqual([
      'AUTH_SENDER_ROLE: is the same as AUTH_ADMIN_ROLE: every token with one role would have both',
    ])
    expect(issuesOf({ AUTH_SENDER_ROLE: 'sms-quota:admin' })).toHaveLength(1)
    expect(issuesOf({ AUTH_FORCE_ROLE: 'sms-quota:auditor' })).toHaveLength(1)
  })

  test('one claim for ids and references: by itself, a claim for references is the only one', () => {
    expect(issuesOf({ AUTH_USER_REF_CLAIM: 'sub', AUTH_USER_CLAIM: 'sub' })).toEqual([
      'AUTH_USER_REF_CLAIM: is the same as AUTH_USER_CLAIM: a reference of digits would be taken for an id',
    ])
    for (const userRefClaim of ['sub', 'account'])
      expect(load({ AUTH_USER_REF_CLAIM: userRefClaim }).auth).toMatchObject({ userClaim: null, userRefClaim })
  })

  test.each([
    ['ftp://id.example/hunter2', 'is not an https URL'],
    ['http://id.example/hunter2', 'would sign people in without encryption'],
    ['https://u:hunter2@id.example', 'contains a user or a password'],
    ['https://id.example/?hunter2', 'contains a query or a fragment'],
    ['https://id.example/#hunter2', 'contains a query or a fragment'],
  ])('a provider at %j', (CONSOLE_OIDC_ISSUER, words) => {
    const issues = issuesOf({ CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID: 'console', AUTH_PUBLIC_KEY_FILE: '/k.pem' })
    expect(issues).toEqual([expect.stringContaining(`CONSOLE_OIDC_ISSUER: ${words}`)])
    expect(issues[0]).not.toContain('hunter2')
  })

  test.each([{ TLS_CERT_FILE: '/c.pem' }, { TLS_KEY_FILE: '/k.pem' }])('half of a pair: %j', half => {
    expect(issuesOf(half)).toEqual(['TLS_CERT_FILE, TLS_KEY_FILE: each requires the other'])
  })

  test('a provider without a client, a client without a provider, and a provider whose tokens would not be accepted', () => {
    const issuer = { CONSOLE_OIDC_ISSUER: 'http://localhost:9', AUTH_PUBLIC_KEY_FILE: '/k.pem' }
    const client = { CONSOLE_OIDC_CLIENT_ID: 'console' }
    expect(issuesOf(issuer)).toEqual([
      expect.stringContaining('CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID: each requires'),
    ])
    expect(issuesOf(client)).toEqual([
      expect.stringContaining('CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID: each requires'),
    ])
    expect(issuesOf({ ...issuer, ...client, AUTH_ISSUER: issuer.CONSOLE_OIDC_ISSUER })).toEqual([])
    expect(issuesOf({ ...issuer, ...client, AUTH_ISSUER: 'http://localhost:9/' })).toEqual([
      'CONSOLE_OIDC_ISSUER: is not AUTH_ISSUER: no token of this provider would be accepted',
    ])
    const keyless = { ...client, CONSOLE_OIDC_ISSUER: 'https://id.example' }
    expect(issuesOf(keyless)).toEqual([expect.stringContaining('CONSOLE_OIDC_ISSUER: requires AUTH_JWKS_URL or')])
    expect(issuesOf(keyless, { needsKey: false })).toEqual([])
  })

  test('the error names every issue', () => {
    expect(() => load({ PORT: 'x', LOG_LEVEL: 'y' })).toThrow(/^PORT: "x" .*\nLOG_LEVEL: "y" .*$/)
  })
})

describe('the printed settings', () => {
  const shown = (config: Config) => Object.fromEntries(describeConfig(config).map(({ name, value }) => [name, value]))

  test('mask secrets, including the passwords in the URL', () => {
    const settings = shown(load({ DATABASE_URL: `${DATABASE}&password=hunter2&user=sms`, AUTH_SECRET: SECRET }))
    expect(settings.DATABASE_URL).toBe(
      'postgres://sms:********@db.example:5433/quota?sslmode=require&password=********&user=sms',
    )
    expect(settings.AUTH_SECRET).toBe('********')
    expect(settings.PORT).toBe('8080')
    expect(settings.AUTH_ISSUER).toBeNull()
    expect(JSON.stringify(settings)).not.toMatch(/hunter2|pa%23ss|pa#ss|staple/)
  })

  test('show whether secrets are encrypted, without the keys', () => {
    const settings = shown(load({ SECRETS_KEY: KEY.toString('base64'), SECRETS_KEY_PREVIOUS: KEY.toString('base64') }))
    expect(settings).toMatchObject({ SECRETS_KEY: '********', SECRETS_KEY_PREVIOUS: '********' })
    expect(shown(load({ SECRETS_KEY: 'off' })).SECRETS_KEY).toBe('off')
  })

  test('show the URL of a key server without its token', () => {
    const AUTH_JWKS_URL = 'https://id.example/keys?access_token=hunter2'
    const config = load({ AUTH_JWKS_URL, AUTH_ISSUER: 'https://id.example', AUTH_AUDIENCE: 'sms' })
    expect(shown(config).AUTH_JWKS_URL).toBe('https://id.example/keys?access_token=********')
  })

  test.each(['key', 'sig', 'code', 'api-key', 'X-Amz-Signature', 'auth', 'se', 'sslpassword', 'p'])(
    'show URLs without the parameter %s, whose value may be a secret',
    name => {
      const query = `${encodeURIComponent(name)}=hunter2`
      const config = load({
        DATABASE_URL: `${DATABASE}&${query}`,
        AUTH_JWKS_URL: `https://id.example/keys?${query}#hunter2`,
        AUTH_ISSUER: 'https://id.example',
        AUTH_AUDIENCE: 'sms',
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://collector.example/?${query}&${query}`,
      })
      const { DATABASE_URL, AUTH_JWKS_URL, OTEL_EXPORTER_OTLP_ENDPOINT } = shown(config)
      const masked = `${encodeURIComponent(name)}=********`
      expect(DATABASE_URL).toBe(`postgres://sms:********@db.example:5433/quota?sslmode=require&${masked}`)
      expect(AUTH_JWKS_URL).toBe(`https://id.example/keys?${masked}`)
      expect(OTEL_EXPORTER_OTLP_ENDPOINT).toBe(`http://collector.example/?${masked}`)
    },
  )

  test('give the same configuration when they are set', () => {
    const env = { HOST: '::1', PORT: '0', AUTH_PUBLIC_KEY_FILE: '/k.pem', AUTH_ISSUER: 'me', REQUIRE_COUNTRY: 'true' }
    const config = load(env)
    const again = Object.fromEntries(Object.entries(shown(config)).flatMap(([k, v]) => (v === null ? [] : [[k, v]])))
    expect(load(again)).toEqual(config)
  })

  test('can be given in files where nothing of the value is shown', () => {
    const rows: Record<string, Variable<unknown>> = VARIABLES
    const hidden = Object.keys(rows).filter(
      name => name !== 'DATABASE_URL' && rows[name]?.mask?.('https://a.example/') === MASK,
    )
    expect(SECRET_VARIABLES).toEqual(expect.arrayContaining(['DATABASE_URL', ...hidden]))
  })

  test('have the same order as the help of the variables', () => {
    const names = configVariables({}, MACHINE).map(({ name }) => name)
    expect(names).toEqual(describeConfig(load({})).map(({ name }) => name))
    expect(configVariables({}, MACHINE).find(({ name }) => name === 'DATA_DIR')?.fallback).toMatch(/^\/home\/ann/)
  })
})
