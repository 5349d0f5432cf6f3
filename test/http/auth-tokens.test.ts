/** Rotation of keys, the type of tokens, and what is cached. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CryptoKey, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { Problem } from '../../src/errors.ts'
import { createAuthenticator } from '../../src/http/auth/authenticator.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const NOW_S = NOW / 1_000
const OLD = 'the old secret of more than thirty-two bytes'
const NEW = 'the new secret of more than thirty-two bytes'
const bytes = (text: string) => new TextEncoder().encode(text)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sms-quota tokens '))
})
afterAll(() => rm(folder, { recursive: true }))

function configOf(env: Record<string, string>): Config {
  const loaded = loadConfig({ DATA_DIR: folder, ...env })
  if ('issues' in loaded) throw new Error(JSON.stringify(loaded.issues))
  return loaded.config
}

/** An authenticator with a clock that the test sets, and its log. */
async function build(env: Record<string, string>) {
  const clock = { ms: NOW }
  const logged: string[] = []
  const write = (_fields: unknown, message?: string) => void logged.push(message ?? '')
  const log = { info: write, error: write }
  const authenticator = await createAuthenticator(configOf(env), { now: () => clock.ms, log, cacheSize: 10 })
  return {
    clock,
    logged,
    ...authenticator,
    /** The subject, or the reason of the refusal; `cached` if no signature was verified. */
    async judge(token: string, scheme = 'Bearer ') {
      try {
        const found = authenticator.authenticate(scheme + token)
        return { cached: !(found instanceof Promise), subject: (await found).subject }
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        return { reason: error.reason }
      }
    },
  }
}

interface Signing {
  key: CryptoKey | Uint8Array
  claims?: Record<string, unknown>
  header?: { alg?: string; typ?: string }
}

const sign = ({ key, claims = {}, header = {} }: Signing) =>
  new SignJWT({ sub: '7', exp: NOW_S + 3_600, ...claims }).setProtectedHeader({ alg: 'HS256', ...header }).sign(key)

describe('two keys at a time', () => {
  test('a secret is replaced without a cut', async () => {
    const [byOld, byNew, byOther] = await Promise.all([
      sign({ key: bytes(OLD) }),
      sign({ key: bytes(NEW) }),
      sign({ key: bytes(`${OLD}${NEW}`) }),
    ])
    const both = await build({ AUTH_SECRET: NEW, AUTH_SECRET_PREVIOUS: OLD })
    expect(await both.judge(byNew)).toMatchObject({ subject: '7' })
    expect(await both.judge(byOld)).toMatchObject({ subject: '7' })
    expect(await both.judge(byOther)).toEqual({ reason: 'bad_signature' })
    const after = await build({ AUTH_SECRET: NEW })
    expect(await after.judge(byNew)).toMatchObject({ subject: '7' })
    expect(await after.judge(byOld)).toEqual({ reason: 'bad_signature' })
  })

  test('a claim that is wrong is named whichever key signed the token', async () => {
    const both = await build({ AUTH_SECRET: NEW, AUTH_SECRET_PREVIOUS: OLD, AUTH_ISSUER: 'https://id.example' })
    for (const secret of [OLD, NEW]) {
      expect(await both.judge(await sign({ key: bytes(secret), claims: { iss: 'other' } }))).toEqual({
        reason: 'wrong_issuer',
      })
    }
  })

  test('a public key is replaced by one of another kind', async () => {
    const [rsa, ec] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('ES256')])
    const [file, previous] = [join(folder, 'ec.pem'), join(folder, 'rsa.pem')]
    await writeFile(file, await exportSPKI(ec.publicKey))
    await writeFile(previous, await exportSPKI(rsa.publicKey))
    const both = await build({ AUTH_PUBLIC_KEY_FILE: file, AUTH_PUBLIC_KEY_FILE_PREVIOUS: previous })
    const byRsa = await sign({ key: rsa.privateKey, header: { alg: 'RS256' } })
    expect(await both.judge(byRsa)).toMatchObject({ subject: '7' })
    expect(await both.judge(await sign({ key: ec.privateKey, header: { alg: 'ES256' } }))).toMatchObject({
      subject: '7',
    })
    // No key may be used with the algorithm of the other.
    expect(await both.judge(await sign({ key: bytes(NEW) }))).toEqual({ reason: 'wrong_algorithm' })
    const after = await build({ AUTH_PUBLIC_KEY_FILE: file })
    expect(await after.judge(byRsa)).toEqual({ reason: 'wrong_algorithm' })
  })
})

describe('a key file that changes', () => {
  async function pair() {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const token = await sign({ key: privateKey, header: { alg: 'ES256' } })
    return { pem: await exportSPKI(publicKey), token }
  }

  test('is read again within five seconds, and tokens of the old key stop at once', async () => {
    const [first, second] = [await pair(), await pair()]
    const file = join(folder, 'changing.pem')
    await writeFile(file, first.pem)
    const service = await build({ AUTH_PUBLIC_KEY_FILE: file })
    expect(await service.judge(first.token)).toMatchObject({ subject: '7' })
    expect(await service.judge(first.token)).toEqual({ cached: true, subject: '7' })
    expect(await service.judge(second.token)).toEqual({ reason: 'bad_signature' })

    await writeFile(`${file}.new`, second.pem)
    await rename(`${file}.new`, file)
    service.clock.ms += 5_000
    // A token that is not in the cache waits for the check.
    expect(await service.judge(await sign({ key: bytes(NEW) }))).toEqual({ reason: 'wrong_algorithm' })
    expect(await service.judge(second.token)).toMatchObject({ subject: '7' })
    expect(await service.judge(first.token)).toEqual({ reason: 'bad_signature' })
    expect(service.logged).toEqual(['auth: read a changed key file'])
  })

  test.each([
    ['broken', (file: string) => writeFile(file, 'no key')],
    ['missing', (file: string) => rm(file)],
  ])('and is %s keeps the last key, and is logged once', async (name, spoil) => {
    const { pem, token } = await pair()
    const file = join(folder, `${name}.pem`)
    await writeFile(file, pem)
    const service = await build({ AUTH_PUBLIC_KEY_FILE: file })
    await spoil(file)
    for (let round = 0; round < 2; round++) {
      service.clock.ms += 5_000
      expect(await service.judge(await sign({ key: bytes(NEW), claims: { jti: round } }))).toEqual({
        reason: 'wrong_algorithm',
      })
      expect(await service.judge(token)).toMatchObject({ subject: '7' })
    }
    expect(service.logged).toEqual(['auth: a changed key file cannot be used, keeping its last key'])
    await writeFile(file, (await pair()).pem)
    service.clock.ms += 5_000
    await service.judge(await sign({ key: bytes(OLD) }))
    expect(await service.judge(token)).toEqual({ reason: 'bad_signature' })
  })
})

describe('AUTH_TOKEN_TYPE', () => {
  test.each([
    ['at+jwt', true],
    ['application/at+jwt', true],
    ['AT+JWT', true],
    ['JWT', false],
    [undefined, false],
  ])('at+jwt: a token of type %s is accepted: %s', async (typ, isAccepted) => {
    const service = await build({ AUTH_SECRET: NEW, AUTH_TOKEN_TYPE: 'at+jwt' })
    const token = await sign({ key: bytes(NEW), header: typ === undefined ? {} : { typ } })
    expect(await service.judge(token)).toMatchObject(isAccepted ? { subject: '7' } : { reason: 'wrong_type' })
  })
})

describe('the cache', () => {
  test('knows a token however the header spells it', async () => {
    const service = await build({ AUTH_SECRET: NEW })
    const token = await sign({ key: bytes(NEW) })
    expect(await service.judge(token)).toEqual({ cached: false, subject: '7' })
    for (const scheme of ['bearer ', 'BEARER  ', 'Bearer    ']) {
      expect(await service.judge(token, scheme)).toEqual({ cached: true, subject: '7' })
    }
    expect(await service.judge(`${token}  `)).toEqual({ cached: true, subject: '7' })
  })

  test('one token cannot fill it by other spellings of its signature', async () => {
    const service = await build({ AUTH_SECRET: NEW })
    const [head = '', body = '', signature = ''] = (await sign({ key: bytes(NEW) })).split('.')
    const [start, end] = [signature.slice(0, 9), signature.slice(9)]
    for (const other of [`${start}\t${end}`, `${start}\n${end}`, `${signature}=`, `${signature}\t`]) {
      expect(await service.judge(`${head}.${body}.${other}`), JSON.stringify(other)).toEqual({ reason: 'malformed' })
    }
  })

  /** Whether a token is refused without verifying its signature. */
  async function isRefusedAtOnce({ judge }: Awaited<ReturnType<typeof build>>, token: string): Promise<boolean> {
    const verifying = vi.spyOn(crypto.subtle, 'verify')
    expect(await judge(token)).toEqual({ reason: 'bad_signature' })
    const { length } = verifying.mock.calls
    verifying.mockRestore()
    return length === 0
  }

  test('refused tokens are remembered for ten seconds', async () => {
    const service = await build({ AUTH_SECRET: NEW })
    const forged = await sign({ key: bytes(OLD) })
    expect(await isRefusedAtOnce(service, forged)).toBe(false)
    service.clock.ms += 9_999
    expect(await isRefusedAtOnce(service, forged)).toBe(true)
    service.clock.ms += 1
    expect(await isRefusedAtOnce(service, forged)).toBe(false)
  })

  test('a token that is not valid yet is accepted as soon as it is', async () => {
    const service = await build({ AUTH_SECRET: NEW })
    const token = await sign({ key: bytes(NEW), claims: { nbf: NOW_S + 8 } })
    expect(await service.judge(token)).toEqual({ reason: 'not_yet_valid' })
    service.clock.ms += 2_999
    expect(await service.judge(token)).toEqual({ reason: 'not_yet_valid' })
    service.clock.ms += 1
    expect(await service.judge(token)).toMatchObject({ subject: '7' })
  })

  test('any number of refused tokens removes no accepted one, and the oldest of them are forgotten', async () => {
    const service = await build({ AUTH_SECRET: NEW })
    const good = await sign({ key: bytes(NEW) })
    await service.judge(good)
    const forged = await Promise.all(
      Array.from({ length: 1_001 }, (_, jti) => sign({ key: bytes(OLD), claims: { jti: String(jti) } })),
    )
    for (const token of forged) await service.judge(token)
    expect(await service.judge(good)).toEqual({ cached: true, subject: '7' })
    expect(await isRefusedAtOnce(service, forged[1_000] ?? '')).toBe(true)
    expect(await isRefusedAtOnce(service, forged[0] ?? '')).toBe(false)
  })
})

describe('every refusal has a reason for the log', () => {
  const ours = { iss: 'us', aud: 'sms' }
  const cases: [string, Signing | string, string][] = [
    ['no token', '', 'missing'],
    ['rubbish', 'x', 'malformed'],
    ['another algorithm', { key: bytes(`${NEW}${NEW}`), header: { alg: 'HS512' } }, 'wrong_algorithm'],
    ['another key', { key: bytes(OLD) }, 'bad_signature'],
    ['an old token', { key: bytes(NEW), claims: { ...ours, exp: NOW_S - 60 } }, 'expired'],
    ['no expiry', { key: bytes(NEW), claims: { ...ours, exp: undefined } }, 'no_expiry'],
    ['an expiry in milliseconds', { key: bytes(NEW), claims: { ...ours, exp: NOW + 3_600_000 } }, 'far_date'],
    ['a start in milliseconds', { key: bytes(NEW), claims: { ...ours, nbf: NOW } }, 'far_date'],
    ['a token of tomorrow', { key: bytes(NEW), claims: { ...ours, nbf: NOW_S + 86_400 } }, 'not_yet_valid'],
    ['another issuer', { key: bytes(NEW), claims: { ...ours, iss: 'x' } }, 'wrong_issuer'],
    ['another audience', { key: bytes(NEW), claims: { ...ours, aud: 'x' } }, 'wrong_audience'],
    ['no subject', { key: bytes(NEW), claims: { ...ours, sub: '' } }, 'no_subject'],
    [
      'what looks like the name of the service',
      { key: bytes(NEW), claims: { ...ours, sub: 'SMS\u2010quota' } },
      'reserved_subject',
    ],
    ['the name of the service', { key: bytes(NEW), claims: { ...ours, sub: 'sms-quota' } }, 'reserved_subject'],
  ]
  test.each(cases)('%s', async (_, signing, reason) => {
    const service = await build({ AUTH_SECRET: NEW, AUTH_ISSUER: 'us', AUTH_AUDIENCE: 'sms' })
    expect(await service.judge(typeof signing === 'string' ? signing : await sign(signing))).toEqual({ reason })
  })
})
