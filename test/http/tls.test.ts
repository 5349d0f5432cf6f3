import { mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { addressOf, createListener } from '../../src/http/listener.ts'
import { readCertificate, watchCertificate } from '../../src/http/tls.ts'
import { createCertificate } from '../support/certificate.ts'
import { freshDatabase } from '../support/database.ts'
import { createSite } from '../support/process.ts'

const folder = await mkdtemp(join(tmpdir(), 'sms-quota-tls-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') }
const site = await createSite()
const AUTH_SECRET = 'a secret for tests only, long enough for HS256'
const tls = { TLS_CERT_FILE: files.certFile, TLS_KEY_FILE: files.keyFile }
const EXPIRY = Date.UTC(2090, 0, 1)

let writes = 0

/** Replaces a file in one step, with a time of its own, because the clock of the file system may be coarse. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text)
  await utimes(`${file}.new`, 1_000_000_000 + writes, 1_000_000_000 + writes++)
  await rename(`${file}.new`, file)
}

async function install(name: string, expiresAt = EXPIRY): Promise<void> {
  const { cert, key } = createCertificate(name, expiresAt)
  await replace(files.certFile, cert)
  await replace(files.keyFile, key)
}

/** The name in the certificate that a new connection gets. */
function nameAt(url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    }).on('error', reject)
  })
}

interface Fetched {
  status: number | undefined
  /** How long browsers may not come without TLS. */
  strict: string | undefined
  body: string
}

function fetchFrom(url: string, agent?: Agent): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, ...(agent === undefined ? {} : { agent }) }, async response => {
      const { statusCode: status, headers } = response
      resolve({ status, strict: headers['strict-transport-security'], body: await text(response) })
    }).on('error', reject)
  })
}

const statusOf = async (url: string, agent?: Agent) => (await fetchFrom(url, agent)).status

test('a new certificate is used without cutting connections, and a broken one is not used', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await install('first')
  const certificate = await readCertificate(files)
  const listener = createListener(certificate)
  await listener.listen('127.0.0.1', 0)
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const stop = watchCertificate(files, certificate, log, listener.renewCertificate)
  onTestFinished(async () => {
    stop()
    vi.useRealTimers()
    await listener.close()
  })
  const { url } = addressOf(listener)
  expect(url).toMatch(/^https:/)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  expect(await statusOf(`${url}/livez`, agent)).toBe(200)
  const [socket] = Object.values(agent.freeSockets).flatMap(sockets => sockets ?? [])

  await install('second', EXPIRY + 86_400_000)
  await vi.waitFor(() => vi.advanceTimersByTimeAsync(2_000).then(() => expect(log.info).toHaveBeenCalledOnce()))
  expect(await nameAt(url)).toBe('second')
  expect(listener.certificate?.expiresAt).toBe(EXPIRY + 86_400_000)
  expect(await statusOf(`${url}/livez`, agent)).toBe(200)
  expect(Object.values(agent.freeSockets).flatMap(sockets => sockets ?? [])).toEqual([socket])

  await replace(files.certFile, createCertificate('third', EXPIRY).cert)
  await vi.waitFor(() => vi.advanceTimersByTimeAsync(2_000).then(() => expect(log.error).toHaveBeenCalled()))
  expect(log.error).toHaveBeenCalledWith(
    { reason: expect.stringMatching(/^TLS_KEY_FILE: .*is not the key of the certificate/) },
    'tls: cannot use the new certificate, keeps the previous one',
  )
  await vi.advanceTimersByTimeAsync(20_000)
  expect(log.error).toHaveBeenCalledOnce()
  expect(await nameAt(url)).toBe('second')
})

test('TLS before 1.2 is refused', async () => {
  await install('modern')
  const listener = createListener(await readCertificate(files))
  await listener.listen('127.0.0.1', 0)
  onTestFinished(() => listener.close())
  const { port } = new URL(addressOf(listener).url)
  const options = { host: '127.0.0.1', port: Number(port), rejectUnauthorized: false }
  const versionWith = (maxVersion: 'TLSv1.1' | 'TLSv1.2') =>
    new Promise((resolve, reject) => {
      const ciphers = 'DEFAULT:@SECLEVEL=0'
      const socket = connect({ ...options, minVersion: 'TLSv1.1', maxVersion, ciphers }, () => {
        resolve(socket.getProtocol())
        socket.destroy()
      }).on('error', reject)
    })
  expect(await versionWith('TLSv1.2')).toBe('TLSv1.2')
  await expect(versionWith('TLSv1.1')).rejects.toThrow()
})

test('files that cannot be used are named with the reason, and keys are not repeated', async () => {
  const { cert, key } = createCertificate('one', EXPIRY)
  const other = createCertificate('other', EXPIRY)
  const failure = async (certText: string, keyText: string) => {
    await replace(files.certFile, certText)
    await replace(files.keyFile, keyText)
    return readCertificate(files).then(
      () => 'none',
      error => String(error),
    )
  }
  expect(await failure(cert, key)).toBe('none')
  expect(await failure('nothing', key)).toBe(`Error: TLS_CERT_FILE: "${files.certFile}" contains no PEM certificate`)
  expect(await failure(cert, `${key.slice(0, 60)}\n`)).toMatch(/^Error: TLS_KEY_FILE: .*contains no PEM private key/)
  expect(await failure(cert, other.key)).toMatch(/is not the key of the certificate/)
  expect(await failure(`${cert}${cert.replaceAll(/^M.*$/gm, 'AAAA')}`, key)).toMatch(/contains no chain/)
  const missing = readCertificate({ ...files, keyFile: '/nowhere/key.pem' })
  await expect(missing).rejects.toThrow('TLS_KEY_FILE: "/nowhere/key.pem" cannot be read (ENOENT)')
})

test('the service speaks HTTPS: banner, health, metric, stop', async () => {
  const { url: DATABASE_URL } = await freshDatabase()
  await install('service')
  const env = { DATABASE_URL, AUTH_SECRET }
  const service = await site.start({ ...env, ...tls, HOST: '0.0.0.0' })
  expect(service.url).toMatch(/^https:\/\/localhost:/)
  const { port } = new URL(service.url)
  const url = `https://127.0.0.1:${port}`
  expect(await nameAt(url)).toBe('service')
  expect(await statusOf(`${url}/readyz`)).toBe(200)
  expect(await statusOf(`${url}/api/sms/quota/summary`)).toBe(401)
  for (const path of ['/livez', '/nowhere', '/console/', '/api/sms/quota/summary', '/openapi.json', '/%ff']) {
    expect((await fetchFrom(`${url}${path}`)).strict, path).toBe('max-age=31536000')
  }
  expect((await fetchFrom(`${url}/metrics`)).body).toContain(
    `sms_quota_certificate_expiry_timestamp_seconds ${EXPIRY / 1_000}`,
  )
  const { stdout, code } = await service.stop()
  expect(code).toBe(0)
  expect(stdout).not.toContain('without TLS')
})

test('the start warns without encryption beyond the machine, and refuses files that do not match', async () => {
  // The port opens before the database is missed.
  const env = { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d', DATABASE_WAIT_SECONDS: '0', AUTH_SECRET, HOST: '0.0.0.0' }
  const warning = /"level":40.*listens beyond this machine without TLS/
  const starts = [{}, { TRUST_PROXY: 'loopback' }]
  const outputs = await Promise.all(starts.map(other => site.launch(['serve'], { ...env, ...other }).ended))
  expect(outputs.map(({ stdout }) => warning.test(stdout))).toEqual([true, false])
  await install('service')
  await replace(files.keyFile, createCertificate('other', EXPIRY).key)
  const { stderr } = await site.launch(['serve'], { ...env, ...tls }).ended
  expect(stderr).toMatch(/^sms-quota: cannot serve: TLS_KEY_FILE: .*is not the key of the certificate/)
})
