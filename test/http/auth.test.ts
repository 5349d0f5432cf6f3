import { generateKeyPairSync } from 'node:crypto'
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuthConfig, type AuthKey, ConfigError, loadConfig } from '../../src/config/config.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { Problem } from '../../src/errors.ts'
import { type Access, type Authenticator, createAuthenticator } from '../../src/http/auth/authenticator.ts'
import type { Principal } from '../../src/http/auth/claims.ts'
import { readPublicKey } from '../../src/http/auth/key-files.ts'
import { ownSecret, ownSecretFile } from '../../src/http/auth/secrets.ts'
import { mintToken } from '../../src/http/auth/tokens.ts'
import { serve } from '../support/listening.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const NOW_S = NOW / 1_000
const SECRET = 'a secret of more than thirty-two bytes'
const utf8 = (text: string) => new TextEncoder().encode(text)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sms-quota auth '))
})
afterAll(() => rm(folder, { recursive: true }))

const loaded = loadConfig({ AUTH_SECRET: SECRET })
if ('issues' in loaded) throw new ConfigError(loaded.issues)
const DEFAULTS = loaded.config.auth

/** An authenticator with a clock that the test sets. */
async function build(auth: Partial<AuthConfig> = {}, cacheSize = 10) {
  const clock = { ms: NOW }
  const config = { auth: { ...DEFAULTS, ...auth }, dataDir: folder }
  const log = { info() {}, error() {} }
  return { clock, ...(await createAuthenticator(config, { now: () => clock.ms, log, cacheSize })) }
}

/** Claims, valid or not. */
type Claims = Record<string, unknown>

function sign(claims: Claims, key: CryptoKey | Uint8Array = utf8(SECRET), header: { alg?: string; kid?: string } = {}) {
  return new SignJWT({ sub: '7', exp: NOW_S + 60, ...claims } as JWTPayload)
    .setProtectedHeader({ alg: 'HS256', ...header })
    .sign(key)
}

type Authenticating = Pick<Authenticator, 'authenticate'>
const enter = async ({ authenticate }: Authenticating, token: string): Promise<Principal> =>
  authenticate(`Bearer ${token}`)

async function problemOf(attempt: Promise<unknown>): Promise<Problem> {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof Problem)) throw new Error(`no Problem, but ${String(error)}`)
  return error
}

/** Expects 401 with this text in the detail and in the header. */
async function expectRefused(authenticator: Authenticating, token: string, words: string) {
  const problem = await problemOf(enter(authenticator, token))
  expect(problem.code).toBe('unauthenticated')
  expect(problem.message).toContain(words)
  expect(problem.headers).toEqual({
    'www-authenticate': `Bearer realm="sms-quota", error="invalid_token", error_description="${problem.message}"`,
  })
}

describe('the header', () => {
  test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic YTpi', 'Bearer two words', 'Bearertoken'])(
    '%j holds no token',
    async header => {
      const { authenticate } = await build()
      const problem = await problemOf((async () => authenticate(header))())
      expect(problem.code).toBe('unauthenticated')
      expect(problem.headers).toEqual({ 'www-authenticate': 'Bearer realm="sms-quota"' })
    },
  )

  test('the scheme is case-insensitive', async () => {
    const { authenticate } = await build()
    expect((await authenticate(`bEARER  ${await sign({})}`)).userId).toBe(7)
  })

  test('a token that is too long is refused without parsing', async () => {
    await expectRefused(await build(), await sign({ padding: 'x'.repeat(8_192) }), 'longer than 8192')
  })
})

describe('claims', () => {
  test('exp is checked with a tolerance of five seconds', async () => {
    const authenticator = await build()
    const token = await sign({ exp: NOW_S + 60 })
    authenticator.clock.ms = NOW + 64_999
    expect((await enter(authenticator, token)).subject).toBe('7')
    authenticator.clock.ms = NOW + 65_000
    await expectRefused(authenticator, token, 'expired')
  })

  test('exp may lie ten years ahead', async () => {
    const authenticator = await build()
    expect((await enter(authenticator, await sign({ exp: NOW_S + 10 * 365 * 86_400 }))).subject).toBe('7')
  })

  test.each<[string, Claims, string]>([
    ['no expiry', { exp: undefined }, 'no expiry'],
    ['an expiry that is not a number', { exp: 'tomorrow' }, 'malformed'],
    ['a negative expiry', { exp: -1e300 }, 'expired'],
    ['an expiry in milliseconds', { exp: (NOW_S + 60) * 1_000 }, 'The exp of the token lies more than ten years ahead'],
    ['an expiry without end', { exp: 1e300 }, 'The exp of the token lies more than ten years ahead'],
    ['not valid yet', { nbf: NOW_S + 6 }, 'not valid yet'],
    [
      'valid from a time in milliseconds',
      { nbf: NOW_S * 1_000 },
      'The nbf of the token lies more than ten years ahead',
    ],
    ['wrong issuer', { iss: 'https://evil.example' }, 'issuer'],
    ['no issuer', { iss: undefined }, 'issuer'],
    ['wrong audience', { aud: ['other', 'another'] }, 'audience'],
    ['no sub', { sub: undefined }, 'no valid sub'],
    ['the name of the service', { sub: 'sms-quota' }, 'the name of this service'],
    ['what looks like the name of the service', { sub: 'SMS\u200b-quota' }, 'the name of this service'],
  ])('%s is refused', async (_, claims, words) => {
    const authenticator = await build({ issuer: 'https://id.example', audience: 'sms' })
    const good = { iss: 'https://id.example', aud: 'sms' }
    expect((await enter(authenticator, await sign({ ...good, nbf: NOW_S + 5 }))).userId).toBe(7)
    await expectRefused(authenticator, await sign({ ...good, ...claims }), words)
  })
})

describe('what a principal may do', () => {
  test('users need a numeric id, all others a role with the permission', async () => {
    const authenticator = await build({ adminRole: 'boss' })
    const principal = async (claims: Claims) => enter(authenticator, await sign(claims))
    const user = await principal({ sub: '7' })
    const admin = await principal({ sub: '8', roles: ['boss'] })
    const sender = await principal({ sub: 'gateway', roles: 'sms-quota:sender' })
    const require = (who: Principal, access: Access) => () => authenticator.require(who, access)

    expect(require(user, 'own')).not.toThrow()
    expect(require(admin, 'own')).not.toThrow()
    expect(require(sender, 'own')).toThrow(/no user id \(a whole number\) in its claim "sub".*AUTH_USER_REF_CLAIM/)
    expect(require(admin, 'change')).not.toThrow()
    expect(require(user, 'change')).toThrow('This change needs a token with the role "boss".')
    expect(require(sender, 'read')).toThrow(
      'needs a token with one of the roles "boss", "sms-quota:auditor", "sms-quota:support".',
    )
    expect(require(sender, 'send')).not.toThrow()
    expect(require(admin, 'send')).toThrow('needs a token with the role "sms-quota:sender"')
    expect(require(sender, 'force')).toThrow('(force) needs a token with the role "sms-quota:force"')
  })
})

describe('the secret', () => {
  test.each(['HS384', 'HS512'])('%s is refused in place of HS256', async alg => {
    await expectRefused(await build(), await sign({}, utf8(SECRET.repeat(2)), { alg }), 'not signed with HS256')
  })

  test('another secret, a changed payload, a missing signature and malformed tokens are refused', async () => {
    const authenticator = await build()
    const [head = '', body = '', signature = ''] = (await sign({})).split('.')
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    const other = Buffer.from(JSON.stringify({ sub: '8', exp: NOW_S + 60 })).toString('base64url')
    await expectRefused(authenticator, await sign({}, utf8('some other secret of thirty-two bytes')), 'signature')
    await expectRefused(authenticator, `${head}.${other}.${signature}`, 'signature')
    await expectRefused(authenticator, `${head}.${body}.`, 'signature')
    await expectRefused(authenticator, `${none}.${body}.`, 'is not signed with')
    await expectRefused(authenticator, `${none}.${body}.${signature}`, 'is not signed with')
    for (const rubbish of [
      'x',
      '..',
      'a.b',
      'a.b.c',
      'a.b.c.d.e',
      `${head}.${body}`,
      `${head}.!.${signature}`,
      'é.é.é',
    ]) {
      await expectRefused(authenticator, rubbish, 'The ')
    }
  })

  test('a token with any one character changed is refused with 401', async () => {
    const authenticator = await build()
    const token = await sign({ roles: ['a'] })
    for (let i = 0; i < token.length; i++) {
      for (const letter of ['A', '.', '-']) {
        const forged = token.slice(0, i) + letter + token.slice(i + 1)
        // Two bits of the last character have no meaning. Decoders that ignore them read the same signature.
        if (forged === token || i === token.length - 1) continue
        expect((await problemOf(enter(authenticator, forged))).code).toBe('unauthenticated')
      }
    }
  })
})

describe('a public key file', () => {
  const kinds = [
    { alg: 'RS256', options: {} },
    { alg: 'ES256', options: {} },
    { alg: 'EdDSA', options: { crv: 'Ed25519' } },
  ]

  async function write(name: string, content: string): Promise<AuthKey> {
    const file = join(folder, name)
    await writeFile(file, content)
    return { kind: 'public-key', file, previous: null }
  }

  test.each(kinds)('$alg, as PEM and as JWK', async ({ alg, options }) => {
    const { publicKey, privateKey } = await generateKeyPair(alg, options)
    const stranger = await generateKeyPair(alg, options)
    const pem = await exportSPKI(publicKey)
    const contents = { [`${alg}.pem`]: pem, [`${alg}.jwk`]: JSON.stringify(await exportJWK(publicKey)) }
    for (const [name, content] of Object.entries(contents)) {
      const authenticator = await build({ key: await write(name, content) })
      expect((await enter(authenticator, await sign({}, privateKey, { alg }))).userId).toBe(7)
      await expectRefused(authenticator, await sign({}, stranger.privateKey, { alg }), 'signature')
      // Algorithm confusion: the public key used as the secret of an HMAC.
      await expectRefused(authenticator, await sign({}, utf8(content)), 'is not signed with')
      await expectRefused(authenticator, await sign({}, utf8(content.trim())), 'is not signed with')
    }
  })

  test('an RSA key accepts only RS256', async () => {
    const { publicKey, privateKey } = await generateKeyPair('PS256', { extractable: true })
    const authenticator = await build({ key: await write('ps.pem', await exportSPKI(publicKey)) })
    await expectRefused(authenticator, await sign({}, privateKey, { alg: 'PS256' }), 'not signed with RS256')
  })

  test('an X.509 certificate', async () => {
    const file = join(folder, 'x509.crt')
    await writeFile(file, CERTIFICATE)
    expect((await readPublicKey(file)).algorithms).toEqual(['ES256'])
  })

  test.each<[string, () => string, string]>([
    ['an empty file', () => '', 'holds no PEM public key'],
    ['an SSH key', () => 'ssh-ed25519 AAAA', 'holds no PEM public key'],
    ['broken JSON', () => '{"kty":', 'holds no PEM public key'],
    ['a symmetric JWK', () => '{"kty":"oct","k":"AAAA"}', 'holds no PEM public key'],
    ['a key set', () => '{"keys":[]}', 'AUTH_JWKS_URL'],
    ['a private key', () => pemOf(generateKeyPairSync('ed25519').privateKey), 'holds a private key'],
    ['a private JWK', () => jwkOf(generateKeyPairSync('ed25519').privateKey), 'holds a private key'],
    ['P-384', () => pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey), 'another kind'],
    ['a short RSA key', () => pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey), 'another kind'],
    ['X25519', () => pemOf(generateKeyPairSync('x25519').publicKey), 'another kind'],
  ])('%s is refused', async (name, content, words) => {
    const key = await write(`bad ${name}`, content())
    const error = await build({ key }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConfigError)
    expect(String(error)).toContain('AUTH_PUBLIC_KEY_FILE')
    expect(String(error)).toContain(words)
  })

  test('a missing file', async () => {
    await expect(readPublicKey(join(folder, 'nowhere.pem'))).rejects.toThrow('nowhere.pem" cannot be read (ENOENT)')
  })
})

describe('a key server', () => {
  /** A real key server with the keys and the behavior that the test sets. */
  async function keyServer() {
    const state = { keys: [] as JWK[], asked: 0, status: 200, body: null as string | null }
    const url = await serve((_, response) => {
      state.asked += 1
      const headers = { 'content-type': 'application/json', location: '/elsewhere' }
      response.writeHead(state.status, headers).end(state.body ?? JSON.stringify({ keys: state.keys }))
    })
    return { state, url: `${url}/keys` }
  }

  async function pair(kid: string, alg = 'ES256') {
    const { publicKey, privateKey } = await generateKeyPair(alg)
    return {
      jwk: { ...(await exportJWK(publicKey)), kid },
      signed: (claims: Claims = {}) => sign({ aud: 'sms', ...claims }, privateKey, { alg, kid }),
    }
  }

  const expectAway = async (attempt: Promise<unknown>) =>
    expect(await problemOf(attempt)).toMatchObject({ code: 'unavailable', headers: { 'retry-after': '5' } })

  const buildFor = (url: string) => build({ key: { kind: 'jwks', url }, audience: 'sms' })

  test('all kinds of keys work, and are fetched once for any number of tokens', async () => {
    const { state, url } = await keyServer()
    const pairs = await Promise.all(['RS256', 'ES256', 'EdDSA', 'Ed25519'].map(alg => pair(`the ${alg}`, alg)))
    state.keys = pairs.map(({ jwk }) => jwk)
    const authenticator = await buildFor(url)
    const tokens = await Promise.all(pairs.map(({ signed }) => signed()))
    await Promise.all(tokens.map(token => enter(authenticator, token)))
    expect(state.asked).toBe(1)
    await expectRefused(authenticator, await sign({ aud: 'sms' }), 'is not signed with')
    expect(state.asked).toBe(1)
  })

  test('rotation: a new key is fetched, and forged ones cause at most two requests per minute', async () => {
    const { state, url } = await keyServer()
    const [first, second, forged] = await Promise.all([pair('1'), pair('2'), pair('3')])
    state.keys = [first.jwk]
    const authenticator = await buildFor(url)
    await enter(authenticator, await first.signed())
    state.keys = [second.jwk]
    await expectRefused(authenticator, await second.signed(), 'does not know')
    expect(state.asked).toBe(1)

    authenticator.clock.ms += 30_000
    expect((await enter(authenticator, await second.signed())).userId).toBe(7)
    expect(state.asked).toBe(2)
    await expectRefused(authenticator, await forged.signed(), 'does not know')
    await expectRefused(authenticator, await first.signed({ sub: '8' }), 'does not know')
    expect(state.asked).toBe(2)
  })

  test('a withdrawn key stops working, also for tokens in the cache', async () => {
    const { state, url } = await keyServer()
    const [first, second] = await Promise.all([pair('1'), pair('2')])
    state.keys = [first.jwk]
    const authenticator = await buildFor(url)
    const token = await first.signed({ exp: NOW_S + 86_400 })
    await enter(authenticator, token)
    state.keys = [second.jwk]
    authenticator.clock.ms += 599_999
    await enter(authenticator, token)
    authenticator.clock.ms += 1
    await expectRefused(authenticator, token, 'does not know')
  })

  test('while the key server is not available, known keys work for an hour', async () => {
    const { state, url } = await keyServer()
    const [first, second] = await Promise.all([pair('1'), pair('2')])
    state.keys = [first.jwk]
    const authenticator = await buildFor(url)
    const token = await first.signed({ exp: NOW_S + 86_400 })
    await enter(authenticator, token)
    state.status = 500
    authenticator.clock.ms = NOW + 3_599_999
    expect((await enter(authenticator, token)).userId).toBe(7)
    // Only the key server could verify this key.
    await expectAway(enter(authenticator, await second.signed({ exp: NOW_S + 86_400 })))
    authenticator.clock.ms = NOW + HOUR_MS + 599_999
    await expectAway(enter(authenticator, token))
    state.status = 200
    authenticator.clock.ms += 5_000
    expect((await enter(authenticator, token)).userId).toBe(7)
  })

  test.each<[string, { status?: number; body?: string }]>([
    ['an error', { status: 503 }],
    ['a redirect', { status: 302 }],
    ['text that is not JSON', { body: '<html>' }],
    ['JSON that is not a key set', { body: '{"keys":5}' }],
    ['a broken key', { body: '{"keys":[{"kty":"EC","crv":"P-256","kid":"1","x":"AAAA","y":"AAAA"}]}' }],
  ])('%s is answered with 503, not 401', async (_, answer) => {
    const { state, url } = await keyServer()
    Object.assign(state, answer)
    const token = await (await pair('1')).signed()
    await expectAway(enter(await buildFor(url), token))
  })

  test('no key server: 503, with a new attempt after five seconds', async () => {
    const { state, url } = await keyServer()
    const { jwk, signed } = await pair('1')
    state.keys = [jwk]
    state.status = 500
    const authenticator = await buildFor(url)
    const token = await signed()
    await Promise.all([1, 2, 3].map(() => expectAway(enter(authenticator, token))))
    await expectAway(enter(authenticator, token))
    expect(state.asked).toBe(1)
    state.status = 200
    authenticator.clock.ms += 5_000
    expect((await enter(authenticator, token)).userId).toBe(7)

    const unreachable = await buildFor('http://127.0.0.1:1/keys')
    await expectAway(enter(unreachable, token))
  })

  test('a token without kid is accepted if only one key fits', async () => {
    const { state, url } = await keyServer()
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const jwk = await exportJWK(publicKey)
    const token = await sign({ aud: 'sms' }, privateKey, { alg: 'ES256' })
    state.keys = [{ ...jwk, kid: '1' }]
    expect((await enter(await buildFor(url), token)).userId).toBe(7)
    state.keys.push((await pair('2')).jwk)
    await expectRefused(await buildFor(url), token, 'does not say which key')
  })
})

describe('verified tokens are cached', () => {
  test('the second time they are answered synchronously, until they expire', async () => {
    const authenticator = await build()
    const header = `Bearer ${await sign({})}`
    const first = await authenticator.authenticate(header)
    expect(authenticator.authenticate(header)).toBe(first)
    authenticator.clock.ms = NOW + 65_000
    await expectRefused(authenticator, header.slice(7), 'expired')
  })

  test('the least recently used token is removed first', async () => {
    const authenticator = await build({}, 2)
    const headers = await Promise.all(['1', '2', '3'].map(async sub => `Bearer ${await sign({ sub })}`))
    const [one = '', two = '', three = ''] = headers
    await authenticator.authenticate(one)
    await authenticator.authenticate(two)
    await authenticator.authenticate(one)
    await authenticator.authenticate(three)
    expect(authenticator.authenticate(one)).not.toBeInstanceOf(Promise)
    expect(authenticator.authenticate(three)).not.toBeInstanceOf(Promise)
    const again = authenticator.authenticate(two)
    expect(again).toBeInstanceOf(Promise)
    expect((await again).subject).toBe('2')
  })

  test('invalid tokens are not cached', async () => {
    const authenticator = await build({}, 1)
    const header = `Bearer ${await sign({})}`
    await authenticator.authenticate(header)
    await expectRefused(authenticator, await sign({ exp: NOW_S - 60 }), 'expired')
    expect(authenticator.authenticate(header)).not.toBeInstanceOf(Promise)
  })
})

describe("the service's own secret", () => {
  test('is created once, with private permissions, by concurrent starts', async () => {
    const dataDir = join(folder, 'new', 'data')
    const secrets = await Promise.all(Array.from({ length: 20 }, () => ownSecret(dataDir)))
    expect(new Set(secrets).size).toBe(1)
    expect(Buffer.from(secrets[0] ?? '', 'base64url').length).toBe(32)
    expect(await readdir(dataDir)).toEqual(['auth-secret'])
    expect((await stat(ownSecretFile(dataDir))).mode & 0o777).toBe(0o600)
    expect(await ownSecret(dataDir)).toBe(secrets[0])
  })

  test('a file that other users can read is made private again', async () => {
    const dataDir = join(folder, 'loose')
    const secret = await ownSecret(dataDir)
    await chmod(ownSecretFile(dataDir), 0o644)
    expect(await ownSecret(dataDir)).toBe(secret)
    expect((await stat(ownSecretFile(dataDir))).mode & 0o777).toBe(0o600)
  })

  test('errors name a short file and an impossible folder, but no secret', async () => {
    const dataDir = join(folder, 'short')
    const secret = await ownSecret(dataDir)
    await writeFile(ownSecretFile(dataDir), secret.slice(0, 20))
    const error = await ownSecret(dataDir).catch(String)
    expect(error).toContain('is cut short')
    expect(error).not.toContain(secret.slice(0, 20))
    await expect(ownSecret(join(ownSecretFile(dataDir), 'below-a-file'))).rejects.toThrow('cannot be read or made (E')
  })

  test('verifies the tokens that are signed with it', async () => {
    const secret = await ownSecret(folder)
    const auth = { ...DEFAULTS, key: { kind: 'own' }, issuer: 'us', audience: 'sms' } satisfies AuthConfig
    const request = { ...auth, secret, userId: 7, subject: 'x', roles: ['a', 'b'], ttlSeconds: 60, now: NOW + 999 }
    for (const names of [
      { userClaim: 'sub', rolesClaim: 'roles' },
      { userClaim: 'uid', rolesClaim: 'scope' },
      { userClaim: 'https://x.example/id', rolesClaim: 'realm_access.roles' },
    ]) {
      const authenticator = await build({ ...auth, ...names, adminRole: 'a', senderRole: 'b' })
      const token = await mintToken({ ...request, ...names })
      const { userId, roles, subject } = await enter(authenticator, token)
      expect({ userId, roles }).toEqual({ userId: 7, roles: ['admin', 'sender'] })
      expect(subject).toBe(names.userClaim === 'sub' ? '7' : 'x')
      authenticator.clock.ms = NOW + 65_000
      await expectRefused(authenticator, token, 'expired')
    }
    for (const userRefClaim of ['sub', 'account']) {
      const names = { userClaim: null, userRefClaim }
      const customer = await mintToken({ ...request, ...names, userId: null, userRef: 'A-7', subject: 'ref:A-7' })
      const principal = await enter(await build({ ...auth, ...names }), customer)
      expect(principal).toMatchObject({ userId: null, userRef: 'A-7' })
      expect(principal.subject).toBe(userRefClaim === 'sub' ? 'A-7' : 'ref:A-7')
    }
    const sender = await mintToken({ ...request, userId: null, subject: 'gateway-1' })
    expect(await enter(await build(auth), sender)).toMatchObject({ subject: 'gateway-1', userId: null })
  })
})

type NodeKey = ReturnType<typeof generateKeyPairSync>['publicKey']
const pemOf = (key: NodeKey) => String(key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }))
const jwkOf = (key: NodeKey) => JSON.stringify(key.export({ format: 'jwk' }))

/** Self-signed, EC P-256. Its private key was discarded. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBhjCCAS2gAwIBAgIUPJAaxXnii5398lpPbolxXVGLKfswCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOc21zLXF1b3RhLXRlc3QwHhcNMjYxMTIwMTEyMzI0WhcNMjYx
MjIwMTEyMzI0WjAZMRcwFQYDVQQDDA5zbXMtcXVvdGEtdGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABNrrlO/Hjy2sz43GNIb9yfh2WAmUTFPntl3MxG8vOPMn
Ea7VWOXMS38kSzAXEquNcoPVLmIuM3Jvs0JbuSCVPqCjUzBRMB0GA1UdDgQWBBSK
+aDKgOSz7yJP8BsJ2hFxe9goFTAfBgNVHSMEGDAWgBSK+aDKgOSz7yJP8BsJ2hFx
e9goFTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCICxU+4G0WspN
2iqS709DAxmZ+0tQzcGVEZIt6GnZpdPgAiASNY8Hj9N9S4Nq+zdzByXKAQsSgNvS
VMgD6AdH0plScg==
-----END CERTIFICATE-----
`
