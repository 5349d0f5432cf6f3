import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { isUnavailable } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { accountFor, runAs } from '../../src/db/embedded/account.ts'
import { findBinaries } from '../../src/db/embedded/binaries.ts'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { foldersIn } from '../../src/db/embedded/folders.ts'
import { welcome } from '../../src/welcome.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'
import { PROJECT, SHELL_PATH } from '../support/paths.ts'
import { createSite, type Service } from '../support/process.ts'
import { rawSql } from '../support/sql.ts'

const [site, unsafe] = [await createSite({ prepared: true }), await createSite({ prepared: true })]
/** An external database with the service's schema, and one without a schema. */
const [external, empty] = [await freshDatabase(), await emptyDatabase()]
const SECRET = 'a secret for tests only, long enough for HS256'

/** Expects a start to fail with one line on stderr and one log entry, neither with a secret. */
async function expectRefusal(env: Record<string, string>, reason: RegExp, command = 'serve') {
  const outcome = await site.launch([command], env).ended
  const { code, stdout, stderr } = outcome
  expect(stderr).toMatch(new RegExp(`^sms-quota: cannot ${command}: .+\n$`))
  expect(stderr).toMatch(reason)
  const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
  expect(last).toMatchObject({ level: 60, msg: `service: cannot ${command}`, reason: expect.stringMatching(reason) })
  expect(stdout + stderr).not.toMatch(/hunter2|long enough|\n {4}at /)
  expect(code).toBe(1)
  return outcome
}

const bannerOf = (output: string) => /^sms-quota is at[\s\S]*?^curl .*$/m.exec(output)?.[0] ?? ''

/** Pastes commands into a shell. Returns what they print. */
async function paste(commands: string, env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: PROJECT, env: { PATH: SHELL_PATH, ...env } }
  return (await promisify(execFile)('sh', ['-c', commands], options)).stdout
}

/** The commands of the banner that mint a token and create a quota. Prints the status at the end. */
const grantOf = (banner: string) => `${banner.slice(banner.search(/^(TOKEN|curl)/m))} -s -w ' %{http_code}'`

describe('a service with a database of its own', () => {
  let service: Service
  beforeAll(async () => {
    service = await site.start()
  })
  afterAll(() => service.stop())

  test('names the address and the documentation, and its commands mint a token and create a quota', async () => {
    const banner = bannerOf(service.stdout())
    const [, docs] = /documentation at (\S+)\n/.exec(banner) ?? []
    expect((await fetch(docs ?? '')).status).toBe(200)
    expect(await paste(grantOf(banner))).toMatch(/"user_id":7.*"period":"month".*"limit":1000.* 201$/)
  })

  test('is found by commands of a shell with other settings', async () => {
    const elsewhere = { PATH: SHELL_PATH, DATA_DIR: join(site.dataDir, '..', 'elsewhere') }
    const complaint = async (command: string, env: Record<string, string>) =>
      (await promisify(execFile)('sh', ['-c', `! ${command} 2>&1`], { cwd: PROJECT, env })).stdout
    const isThisOne = new RegExp(`^Process ${service.pid} is a service, with .*DATA_DIR=${site.dataDir}`, 'm')
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as { port: number }
    await new Promise(done => free.close(done))
    const withToken = { ...elsewhere, SMS_QUOTA_TOKEN: 'x' }
    const [minting, asking, refused] = await Promise.all([
      complaint('bin/sms-quota token --user 7', elsewhere),
      complaint(`bin/sms-quota quota list --url http://127.0.0.1:${port}`, withToken),
      complaint(`bin/sms-quota quota list --url ${service.url}`, withToken),
    ])
    expect(minting).toContain(`no service has run in DATA_DIR, ${elsewhere.DATA_DIR}: start it first`)
    expect(minting).toMatch(isThisOne)
    expect(asking).toContain(`sms-quota: http://127.0.0.1:${port} cannot be reached: nothing listens there`)
    expect(asking).toMatch(isThisOne)
    expect(refused).toContain(`the service at ${service.url} does not accept the token`)
  })

  test('shows how much of the disk of its data folder is free', async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    const ratio = Number(/^sms_quota_disk_free_ratio (\S+)$/m.exec(text)?.[1])
    expect(ratio).toBeGreaterThan(0)
    expect(ratio).toBeLessThanOrEqual(1)
  })

  test('without a terminal prints no token, but the command for the link to the console', async () => {
    expect(service.stdout()).not.toContain('eyJ')
    // Only this machine reaches it.
    expect(service.stdout()).not.toContain('without TLS')
    const [command = ''] = /^.*bin\/sms-quota token .*--console \S+$/m.exec(bannerOf(service.stdout())) ?? []
    const link = (await paste(command)).trim()
    expect(link).toMatch(/^http\S+\/console\/#token=\S+$/)
    expect(await (await fetch(link)).text()).toContain('<div id="root">')
    const headers = { authorization: `Bearer ${new URL(link).hash.replace('#token=', '')}` }
    const me = await fetch(new URL('/api/sms/me', link), { headers })
    expect(await me.json()).toMatchObject({ user_id: 1, roles: ['admin'] })
  })
})

test('a service with another database shows with AUTH_SECRET how to sign a token, and that works', async () => {
  const env = { DATABASE_URL: external.url, AUTH_SECRET: SECRET }
  const config = configOf(env)
  const app = await createApp(config, pino({ enabled: false }), { runJobs: false })
  const url = await app.server.listen({ host: '127.0.0.1', port: 0 })
  expect(await paste(grantOf(bannerOf(await welcome(config, url, false))), env)).toMatch(/ 201$/)
  await app.close()
})

function configOf(env: Record<string, string>): Config {
  const loaded = loadConfig({ DATA_DIR: site.dataDir, ...env })
  if ('issues' in loaded) throw new Error(JSON.stringify(loaded.issues))
  return loaded.config
}

/** Expects the parts of the service not to start. How a process reports that is the same for every reason. */
async function refuse(env: Record<string, string>, reason: RegExp): Promise<unknown> {
  const error: unknown = await createApp(configOf(env), pino({ enabled: false })).then(
    app => app.close(),
    error => error,
  )
  expect(error).toMatchObject({ message: expect.stringMatching(reason) })
  return error
}

describe('a start fails', () => {
  test('on a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    await expectRefusal(
      { PORT: String(port) },
      new RegExp(`EADDRINUSE.*127.0.0.1:${port}; set PORT or HOST to another`),
    )
    expect(await site.postmaster()).toBeUndefined()
    other.close()
  })

  test('with every issue of the configuration at once', async () => {
    const env = { PORT: '-1', DATABASE_URL: 'mysql://u:hunter2@h/d', AUTH_SECRET: 'hunter2', LOG_LEVEL: 'loud' }
    const { code, stdout, stderr } = await site.launch(['serve'], env).ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/ {2}PORT: .*\n {2}DATABASE_URL: .*\n {2}AUTH_SECRET: .*\n {2}LOG_LEVEL: /)
    expect(stderr).not.toContain('hunter2')
  })

  test('with a missing key file, and its database stops', async () => {
    await refuse({ AUTH_PUBLIC_KEY_FILE: '/nowhere.pem' }, /AUTH_PUBLIC_KEY_FILE: .*"\/nowhere\.pem" cannot be read/)
    expect(await site.postmaster()).toBeUndefined()
  })

  test('with a data folder that cannot be created', async () => {
    await refuse({ DATA_DIR: '/dev/null/data' }, /data folder cannot be used.*set DATA_DIR/)
  })
})

describe('an external database is rejected', () => {
  const envOf = (url: string) => ({
    DATABASE_URL: url,
    AUTH_SECRET: SECRET,
    DATABASE_TLS: 'off',
    DATABASE_WAIT_SECONDS: '0',
  })

  test('that cannot be reached', async () => {
    const cannot = 'DATABASE_URL cannot be used: '
    const { stdout } = await expectRefusal(
      { ...envOf('postgres://u:hunter2@127.0.0.1:1/d'), DATABASE_WAIT_SECONDS: '1' },
      new RegExp(`${cannot}.*ECONNREFUSED`),
    )
    expect(stdout).toContain('database: not there yet, waiting')
    const unknownHost = envOf('postgres://u:hunter2@nowhere.invalid/d')
    await expectRefusal(unknownHost, new RegExp(`${cannot}.*nowhere\\.invalid`), 'migrate')
  })

  test('that does not exist, or rejects the user', async () => {
    const [missing, unknownUser] = [new URL(empty.url), new URL(empty.url)]
    missing.pathname = '/nowhere'
    unknownUser.username = 'unknown'
    unknownUser.password = 'hunter2'
    expect(isUnavailable(await refuse(envOf(missing.href), /^database "nowhere" does not exist/))).toBe(true)
    expect(isUnavailable(await refuse(envOf(unknownUser.href), /"unknown"/))).toBe(true)
  })

  test('whose schema is newer than the service', async () => {
    await external.db.query({
      text: sql`insert into schema_migration (number, name, checksum) values (9999, 'from_the_future.sql', '')`,
    })
    await refuse(
      envOf(external.url),
      /schema is newer than this service \([\d.]+\): it has from_the_future\.sql\. Start the newer version/,
    )
  })

  test('that lacks migrations, with MIGRATE=off', async () => {
    const lacks = /lacks the migration 0001_baseline\.sql and \d+ more; run "sms-quota migrate"/
    await refuse({ ...envOf(empty.url), MIGRATE: 'off' }, lacks)
    const { code, stdout } = await site.launch(['migrate', '--dry-run'], envOf(empty.url)).ended
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Would apply 0001_baseline\.sql: serves this version and later\.$/m)
    await refuse({ ...envOf(empty.url), MIGRATE: 'off' }, lacks)
  })

  test('that allows fewer connections than the process uses', async () => {
    const reason = /uses up to 1013 connections, and the database allows \d+; lower DATABASE_POOL_SIZE/
    await refuse({ ...envOf(external.url), DATABASE_POOL_SIZE: '1000' }, reason)
  })

  test('with synchronous_commit off', async () => {
    const name = new URL(empty.url).pathname.slice(1)
    await empty.db.query({ text: rawSql`alter database ${name} set synchronous_commit = off` })
    await refuse(
      envOf(empty.url),
      /synchronous_commit is off, so it can lose confirmed commits; set synchronous_commit = on/,
    )
  })

  test('whose server runs without fsync', async () => {
    await refuse(envOf(await startWithoutFsync(unsafe.dataDir)), /fsync is off/)
  })
})

/** Starts the embedded server with the service's settings, but without fsync. */
async function startWithoutFsync(dataDir: string): Promise<string> {
  const folders = foldersIn(dataDir)
  const account = await accountFor(folders)
  const { bin } = await findBinaries(folders, account, { info() {}, warn() {}, error() {} })
  const socketFolder = join(dataDir, 'socket')
  const args = [
    '-D',
    folders.cluster,
    '--fsync=off',
    '--listen_addresses=',
    `--unix_socket_directories=${socketFolder}`,
  ]
  spawn(join(bin, 'postgres'), args, { ...runAs(account), stdio: 'ignore' })
  await expect.poll(() => connectionOf(dataDir)).toBeDefined()
  return (await connectionOf(dataDir)) ?? ''
}
