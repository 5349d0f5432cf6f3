import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { warningsOf } from '../src/cli/environment.ts'
import { loadConfig } from '../src/config/config.ts'
import { createAuthenticator } from '../src/http/auth/authenticator.ts'
import { ownSecret } from '../src/http/auth/secrets.ts'
import { type Outcome, run as runHere } from './support/terminal.ts'

const BIN = resolve(import.meta.dirname, '../bin/sms-quota')
const SECRET = 'correct horse battery staple, twice'

let folder: string
let dataDir: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sms-quota cli '))
})
beforeEach(async () => {
  dataDir = await mkdtemp(join(folder, 'data '))
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs the command in this process, in an environment with only its data folder and the test's variables. */
const run = (args: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  runHere(args, { env: { DATA_DIR: dataDir, ...env } })

/** Runs the real command, in such an environment. */
function runProcess(args: string[], env: Record<string, string> = {}, bin = BIN): Promise<Outcome> {
  const options = { env: { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, ...env }, cwd: folder }
  return new Promise(done => {
    const child = execFile(bin, args, options, (_, stdout, stderr) =>
      done({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

/** The principal that a service with this environment reads from a token. */
async function enter(token: string, env: Record<string, string> = {}) {
  const result = loadConfig({ DATA_DIR: dataDir, ...env })
  if ('issues' in result) throw new Error('issues')
  const { authenticate } = await createAuthenticator(result.config, { now: Date.now, log: { info() {}, error() {} } })
  return authenticate(`Bearer ${token}`)
}

describe('help', () => {
  test('of all commands', async () => {
    const { code, stdout, stderr } = await runProcess(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const word of ['serve', 'migrate', 'verify', 'discard-secrets', 'token', 'config', 'Usage:', 'Examples:'])
      expect(stdout).toContain(word)
    expect((await run(['-h'])).stdout).toBe(stdout)
  })

  test.each(['serve', 'migrate', 'verify', 'discard-secrets', 'token', 'config'])('of %s', async command => {
    const { code, stdout, stderr } = await run([command, '--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`Usage: sms-quota ${command} [options]`)
    expect(stdout).toContain('--env-file FILE')
    expect(stdout).toContain(`Examples:\n  sms-quota ${command}`)
  })

  test('the help of config explains the variables', async () => {
    const { stdout } = await run(['config', '-h'])
    expect(stdout).toMatch(/ {2}PORT +the port to listen on.*\n +Accepted: a whole number.*\n +Default: 8080/)
  })

  test('the version is that of the package', async () => {
    const { version } = JSON.parse(await readFile(resolve(import.meta.dirname, '../package.json'), 'utf8'))
    const { code, stdout } = await run(['--version'])
    expect(code).toBe(0)
    expect(stdout.startsWith(`${version} (Node.js 2`)).toBe(true)
    expect(stdout).toMatch(/, time zones 20\d\d[a-z]\)\n$/)
  })

  test('the command works through a link and from any folder', async () => {
    const link = join(folder, 'a link')
    await symlink(BIN, link)
    expect((await runProcess(['--version'], {}, link)).code).toBe(0)
  })
})

describe('wrong usage exits 2 and says how to correct it', () => {
  test.each([
    [[], 'a command is missing'],
    [['serv'], 'there is no command "serv"; did you mean serve?'],
    [['xyzzy'], 'there is no command "xyzzy"\n'],
    [['--hlep'], 'there is no option --hlep; did you mean --help?'],
    [['--constructor'], 'there is no option --constructor\n'],
    [['--help=yes'], '--help takes no value'],
    [['config', '--env-fiel', 'x'], 'there is no option --env-fiel; did you mean --env-file?'],
    [['config', '-x'], 'there is no option -x'],
    [['config', '--env-file'], '--env-file needs a value: --env-file FILE'],
    [['config', 'extra'], '"extra" is not expected here'],
    [['token'], 'name the owner of the token: --user ID or --user-ref REF for a user, --subject NAME for a machine'],
    [['token', '--user', '--role', 'admin'], '--user needs a value: --user ID'],
    [['token', '--user', '7', '--user', '8'], '--user can be given only once'],
    [['token', '--user=-7'], '--user is a whole number from 0 to 9007199254740991, not "-7"'],
    [['token', '--user', '07'], 'not "07"'],
    [['token', '--user', '9007199254740992'], '--user is a whole number'],
    [['token', '--user', '7', '--ttl', '1w'], '--ttl is a number with s, m, h or d'],
    [['token', '--user', '7', '--ttl', '0s'], '--ttl is'],
    [['token', '--user', '7', '--ttl', '367d'], '366d (the maximum), not "367d"'],
    [
      ['token', '--user', '7', '--role', 'amdin'],
      '--role is one of admin, sender, auditor, support, force, sms-quota:admin,',
    ],
    [['token', '--user', '7', '--subject', 'x'], 'give --user or --subject, not both'],
    [['token', '--subject', 'x', '--sender-users', '7,x'], '--sender-users is a list of user ids, such as 7,8, or *'],
    [['token', '--user', '7', '--console', 'sms.example'], '--console is the address of the service'],
    [['token', '--subject', ''], '--subject has 1 to 255 characters'],
    [['token', '--subject', 'sms-quota'], '--subject sms-quota looks like the name of the service itself'],
    [['token', '--user', '7', '--name', 'a\nb'], '--name has 1 to 100 characters and no control characters'],
    [['distribute', '--shards', '65'], '--shards is a number from 1 to 64, not "65"'],
  ])('%j', async (args, words) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
    expect(stderr).toMatch(/Usage: sms-quota .*\nRun "sms-quota .*--help" for more\.\n$/)
  })
})

describe('config', () => {
  test('prints the settings in effect, with secrets masked', async () => {
    const env = { DATABASE_URL: 'postgres://u:hunter2@h/d', DATABASE_TLS: 'off', AUTH_SECRET: SECRET, PORT: '9000' }
    const { code, stdout, stderr } = await runProcess(['config'], env)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^PORT +9000$/m)
    expect(stdout).toMatch(/^DATABASE_URL +postgres:\/\/u:\*+@h\/d$/m)
    expect(stdout).toMatch(/^AUTH_SECRET +\*+$/m)
    expect(stdout).toMatch(/^AUTH_ISSUER +\(not set: any issuer is accepted; required with AUTH_JWKS_URL\)$/m)
    expect(stdout).not.toMatch(/hunter2|staple/)
  })

  test('lists every issue and exits 1', async () => {
    const { code, stdout, stderr } = await run(['config'], { PORT: 'x', LOG_LEVEL: 'loud', AUTH_SECRET: 'hunter2' })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/ {2}PORT: "x" .*\n {2}AUTH_SECRET: has only 7 bytes.*\n {2}LOG_LEVEL: "loud"/)
    expect(stderr).not.toContain('hunter2')
  })

  test('reads the public key, too', async () => {
    const { code, stderr } = await run(['config'], { AUTH_PUBLIC_KEY_FILE: 'nowhere.pem' })
    expect(code).toBe(1)
    expect(stderr).toContain('  AUTH_PUBLIC_KEY_FILE: the file "nowhere.pem" cannot be read (ENOENT)')
  })

  test('--env-file: the environment takes precedence, misspelled names are issues, unknown ones are ignored', async () => {
    const file = join(folder, 'an env file')
    await writeFile(file, '# ours\nPORT=1\nHOST="localhost"\nTZ=UTC\nexport LOG_LEVEL=warn\n')
    const { stdout } = await run(['config', '--env-file', file], { PORT: '2' })
    expect(stdout).toMatch(/^HOST +localhost\nPORT +2$/m)
    expect(stdout).toMatch(/^LOG_LEVEL +warn$/m)

    await writeFile(file, 'AUTH_AUDIENC=sms\nPROT=9000\nPORT=x\nAUTH_SECRET=$(openssl rand -base64 48 | tr -d "\\n")\n')
    const { code, stderr } = await run(['config', `--env-file=${file}`])
    expect(code).toBe(1)
    expect(stderr).toContain('PORT: "x" is not a whole number')
    expect(stderr).toContain('AUTH_AUDIENC: is not a variable of sms-quota; did you mean AUTH_AUDIENCE?')
    expect(stderr).toContain('PROT: is not a variable of sms-quota; did you mean PORT?')
    expect(stderr).toContain('AUTH_SECRET: contains a command, and the file is not run: write its output')
  })

  test('a variable of the environment that looks misspelled is a warning: it may be that of another program', async () => {
    const { code, stderr } = await run(['config'], { AUTH_AUDIENC: 'sms', DATABSE_URL: 'x', PROT: '1', NODE_ENV: 'x' })
    expect(code).toBe(0)
    expect(stderr.trim().split('\n').sort()).toEqual([
      'sms-quota: warning: AUTH_AUDIENC is not a variable of sms-quota; did you mean AUTH_AUDIENCE?',
      'sms-quota: warning: DATABSE_URL is not a variable of sms-quota; did you mean DATABASE_URL?',
    ])
  })

  test('variables that other programs are known by are no warning, and no issue in a file', async () => {
    const names = [
      ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'SSLKEYLOGFILE', 'OPENSSL_CONF', 'OPENSSL_MODULES'],
      ['NODE_EXTRA_CA_CERTS', 'NODE_ENV', 'NODE_PATH', 'NODE_ICU_DATA', 'NODE_USE_SYSTEM_CA', 'UV_THREADPOOL_SIZE'],
      ['PGHOST', 'PGHOSTADDR', 'PGPORT', 'PGDATABASE', 'PGUSER', 'PGPASSWORD', 'PGPASSFILE', 'PGSERVICE', 'PGOPTIONS'],
      ['PGSSLMODE', 'PGSSLCERT', 'PGSSLKEY', 'PGSSLROOTCERT', 'PGSSLCRL', 'PGCONNECT_TIMEOUT', 'PGTARGETSESSIONATTRS'],
      ['OTEL_TRACES_SAMPLER', 'OTEL_SERVICE_NAME', 'OTEL_EXPORTER_OTLP_TIMEOUT', 'OTEL_EXPORTER_OTLP_HEADERS'],
      ['OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_JAEGER_ENDPOINT'],
      ['HTTPS_PROXY', 'NO_PROXY', 'CURL_CA_BUNDLE', 'XDG_DATA_DIRS', 'LOGS_DIRECTORY', 'STATE_DIRECTORY', 'HOSTNAME'],
    ].flat()
    const file = join(folder, 'standards.env')
    // Node.js would not start with a file that is missing.
    await writeFile(file, names.map(name => `${name}=1\n`).join(''))
    expect((await run(['config', '--env-file', file])).stderr).toBe('')
    expect(warningsOf(Object.fromEntries(names.map(name => [name, '1'])))).toEqual([])
    expect(warningsOf({ OTEL_EXPORTER_OTLP_ENDPONT: 'x', TLS_CERT_FIEL: 'x' })).toHaveLength(2)
  })

  test('a secret can be in a file of its own, which is not both', async () => {
    const [secret, empty] = [join(folder, 'auth secret'), join(folder, 'empty')]
    await Promise.all([writeFile(secret, `${SECRET}\n`), writeFile(empty, '\n')])
    const { stdout } = await run(['token', '--user', '7'], { AUTH_SECRET_FILE: secret })
    expect((await enter(stdout.trim(), { AUTH_SECRET: SECRET })).userId).toBe(7)
    const file = join(folder, 'secrets.env')
    await writeFile(file, `AUTH_SECRET_FILE=${JSON.stringify(secret)}\nAUTH_SECRET_FIEL=x`)
    const both = await run(['config', '--env-file', file], { AUTH_SECRET: SECRET, DATABASE_URL_FILE: empty })
    expect(both.code).toBe(1)
    expect(both.stderr).toContain('AUTH_SECRET, AUTH_SECRET_FILE: only one of them can be set')
    expect(both.stderr).toContain(`DATABASE_URL_FILE: ${JSON.stringify(empty)} cannot be used: it is empty`)
    expect(both.stderr).toContain('AUTH_SECRET_FIEL: is not a variable of sms-quota; did you mean AUTH_SECRET_FILE?')
    const missing = await run(['config'], { AUTH_SECRET_FILE: '/nowhere' })
    expect(missing.stderr).toContain('AUTH_SECRET_FILE: "/nowhere" cannot be used: it cannot be read (ENOENT)')
  })

  test('--env-file that does not exist', async () => {
    const { code, stderr } = await runProcess(['config', '--env-file', 'nowhere.env'])
    expect(code, 'Node itself must not have taken the option').toBe(1)
    expect(stderr).toContain('--env-file: "nowhere.env" cannot be read (ENOENT)')
  })
})

describe('serve and migrate', () => {
  test.each(['serve', 'migrate'])('%s starts nothing with a wrong configuration', async command => {
    const { code, stdout, stderr } = await runProcess([command], { PORT: 'x' })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('PORT: "x"')
  })

  test('an external database needs a key to serve', async () => {
    const { code, stderr } = await run(['serve'], { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/d' })
    expect(code).toBe(1)
    expect(stderr).toContain('AUTH_SECRET, AUTH_PUBLIC_KEY_FILE, AUTH_JWKS_URL: one of them is required')
    expect(stderr).not.toContain('hunter2')
  })
})

describe('token', () => {
  // As after the first start of a service.
  beforeEach(async () => {
    await ownSecret(dataDir)
  })

  test('of a folder in which no service has run is not minted', async () => {
    await rm(join(dataDir, 'auth-secret'))
    const { code, stdout, stderr } = await run(['token', '--user', '7'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`no service has run in DATA_DIR, ${dataDir}: start it first`)
    await expect(stat(join(dataDir, 'auth-secret'))).rejects.toThrow('ENOENT')
  })

  test('of a user, signed with the own secret, whose file is private', async () => {
    const { code, stdout, stderr } = await runProcess(['token', '--user', '7'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const { exp = 0, iat = 0 } = decodeJwt(stdout.trim())
    expect(exp - iat).toBe(3_600)
    const expiresAt = exp * 1_000
    expect(await enter(stdout.trim())).toMatchObject({ subject: '7', userId: 7, roles: [], expiresAt })
    expect((await stat(join(dataDir, 'auth-secret'))).mode & 0o777).toBe(0o600)

    const again = await run(['token', '--user', '8'])
    expect((await enter(again.stdout.trim())).userId).toBe(8)
  })

  test('with roles by either name, and a lifetime', async () => {
    const env = { AUTH_SECRET: SECRET, AUTH_ADMIN_ROLE: 'boss', AUTH_ISSUER: 'me', AUTH_AUDIENCE: 'sms' }
    const args = ['token', '--user=0', '--role', 'admin', '--role', 'sms-quota:sender', '--ttl', '2d']
    const { stdout } = await run(args, env)
    expect(decodeJwt(stdout)).toMatchObject({ iss: 'me', aud: 'sms', sub: '0' })
    expect(await enter(stdout.trim(), env)).toMatchObject({ userId: 0, roles: ['admin', 'sender'] })
    const { exp = 0, iat = 0 } = decodeJwt(stdout)
    expect(exp - iat).toBe(172_800)
  })

  test('of a machine, and of a user with another claim', async () => {
    const gateway = await run(['token', '--subject', 'gateway-1', '--role', 'sender'])
    expect(await enter(gateway.stdout.trim())).toMatchObject({ subject: 'gateway-1', userId: null })
    const env = { AUTH_USER_CLAIM: 'uid', AUTH_ROLES_CLAIM: 'scope' }
    const ann = await run(['token', '--subject', 'ann', '--user', '7', '--role', 'admin'], env)
    expect(await enter(ann.stdout.trim(), env)).toMatchObject({
      subject: 'ann',
      userId: 7,
      roles: ['admin'],
    })
  })

  test('of a user by reference, which no subject and no id may stand in for', async () => {
    const args = ['token', '--user-ref', '1042']
    for (const claim of ['account', 'sub']) {
      const env = { AUTH_USER_REF_CLAIM: claim }
      expect(await enter((await run(args, env)).stdout.trim(), env)).toMatchObject({ userId: null, userRef: '1042' })
    }
    const both = { AUTH_USER_REF_CLAIM: 'account', AUTH_USER_CLAIM: 'sub' }
    expect(await enter((await run(args, both)).stdout.trim(), both)).toMatchObject({ userId: null, userRef: '1042' })
    const named = await run([...args, '--subject', 'ann'], { AUTH_USER_REF_CLAIM: 'account' })
    expect(decodeJwt(named.stdout)).toMatchObject({ sub: 'ann', account: '1042' })
  })

  test.each<[string[], Record<string, string>, string]>([
    [['--user-ref', 'A-7'], {}, '--user-ref needs AUTH_USER_REF_CLAIM'],
    [['--user', '7'], { AUTH_USER_REF_CLAIM: 'account' }, '--user needs AUTH_USER_CLAIM'],
    [['--user', '7', '--user-ref', 'A-7'], {}, 'one of them names the user'],
    [['--user-ref', 'A-7', '--subject', 'ann'], { AUTH_USER_REF_CLAIM: 'sub' }, 'the reference is the subject'],
    [['--user-ref', 'a b'], { AUTH_USER_REF_CLAIM: 'sub' }, '--user-ref is a reference such as'],
  ])('%j with %j is refused: %s', async (args, env, words) => {
    const { code, stderr } = await run(['token', ...args], env)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) })
  })

  test('of a sender for some users, and of the type that the service requires', async () => {
    const env = { AUTH_SENDER_USERS_CLAIM: 'sms_users', AUTH_TOKEN_TYPE: 'at+jwt' }
    const args = ['token', '--subject', 'gateway-1', '--role', 'sender']
    const users = async (...more: string[]) =>
      (await enter((await run([...args, ...more], env)).stdout.trim(), env)).senderUsers
    expect(await users('--sender-users', '7,8')).toEqual(new Set([7, 8]))
    expect(await users('--sender-users', '*')).toBe('all')
    expect(await users()).toEqual(new Set())
    const { code, stderr } = await run([...args, '--sender-users', '7'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('needs AUTH_SENDER_USERS_CLAIM') })
  })

  test('while the secret is replaced, is signed with the one that all processes know, or with the new one', async () => {
    const [OLD, NEW] = [`${SECRET} before`, `${SECRET} now`]
    const replacing = { AUTH_SECRET: NEW, AUTH_SECRET_PREVIOUS: OLD }
    const known = await run(['token', '--user', '7'], replacing)
    expect(known.stderr).toMatch(/signed with AUTH_SECRET_PREVIOUS.* sign with --new-secret\n$/)
    for (const env of [{ AUTH_SECRET: OLD }, replacing])
      expect(await enter(known.stdout.trim(), env)).toMatchObject({ userId: 7 })
    const next = await run(['token', '--user', '7', '--new-secret'], replacing)
    expect(next.stderr).toBe('')
    for (const env of [{ AUTH_SECRET: NEW }, replacing])
      expect(await enter(next.stdout.trim(), env)).toMatchObject({ userId: 7 })
    expect((await run(['token', '--user', '7', '--new-secret'], { AUTH_SECRET: NEW })).code).toBe(0)
  })

  test('with the name of its owner', async () => {
    const { stdout } = await run(['token', '--user', '7', '--role', 'admin', '--name', 'Ann Lee'])
    expect(await enter(stdout.trim())).toMatchObject({ subject: '7', name: 'Ann Lee' })
  })

  test('as a link to the console', async () => {
    const { stdout } = await run(['token', '--user', '1', '--console', 'https://sms.example/'])
    const [, token = ''] = /^https:\/\/sms\.example\/console\/#token=(\S+)\n$/.exec(stdout) ?? []
    expect(await enter(token)).toMatchObject({ userId: 1 })
  })

  const keyServer = {
    AUTH_JWKS_URL: 'https://id.example/keys',
    AUTH_ISSUER: 'https://id.example',
    AUTH_AUDIENCE: 'sms',
  }
  test.each([keyServer, { AUTH_PUBLIC_KEY_FILE: 'key.pem' }])(
    'is not minted if an identity provider issues tokens: %j',
    async env => {
      const { code, stdout, stderr } = await run(['token', '--user', '7'], env)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(`${Object.keys(env)[0]} is set, so your identity provider issues the tokens`)
    },
  )

  test('explains why a secret cannot be made', async () => {
    const file = join(folder, 'a file')
    await writeFile(file, '')
    await chmod(file, 0o600)
    const { code, stderr } = await run(['token', '--user', '7'], { DATA_DIR: join(file, 'data') })
    expect(code).toBe(1)
    expect(stderr).toContain('DATA_DIR: the secret')
    expect(stderr).not.toContain('    at ')
  })
})
