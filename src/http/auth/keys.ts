/** The keys that tokens are checked with, wherever they come from, and the tokens the service mints itself. */

import { createPublicKey, createSecretKey, type JsonWebKey, type KeyObject, randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey, SignJWT } from 'jose'
import { type AuthConfig, type AuthKey, ConfigError } from '../../config/config.ts'
import { HOUR_MS } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'

/** A key together with the only algorithms it may be used with. A token cannot choose others. */
export interface PinnedKey {
  algorithms: readonly string[]
  keyFor: JWTVerifyGetKey
}

/** Milliseconds since 1970. */
type Clock = () => number

const ED25519 = ['EdDSA', 'Ed25519']

/** A fetched key set is taken as it is for ten minutes, and for an hour while the key server cannot be reached. */
const FRESH_MS = 600_000
const STALE_MS = HOUR_MS
/** A token that names an unknown key makes us ask again, but strangers' tokens must not flood the key server. */
const COOLDOWN_MS = 30_000
const RETRY_MS = 5_000
const FETCH_TIMEOUT_MS = 3_000

/**
 * The key that the configuration names. Makes the service's own secret if need be.
 * @throws ConfigError if its file cannot be used. A key server is not asked before the first token.
 */
export async function openKey(key: AuthKey, dataDir: string, now: Clock): Promise<PinnedKey> {
  switch (key.kind) {
    case 'secret':
      return secretKey(key.secret)
    case 'own':
      return secretKey(await ownSecret(dataDir))
    case 'public-key':
      return readPublicKey(key.file)
    case 'jwks':
      return { algorithms: ['RS256', 'ES256', ...ED25519], keyFor: remoteKeys(key.url, now) }
  }
}

function secretKey(secret: string): PinnedKey {
  const key = createSecretKey(secret, 'utf8')
  return { algorithms: ['HS256'], keyFor: () => key }
}

/** Reads a PEM public key, an X.509 certificate or a JWK. @throws ConfigError saying why the file cannot be used. */
export async function readPublicKey(file: string): Promise<PinnedKey> {
  const refusal = (why: string) =>
    new ConfigError([{ variable: 'AUTH_PUBLIC_KEY_FILE', message: `the file ${JSON.stringify(file)} ${why}` }])
  const text = await readFile(file, 'utf8').catch(error => {
    throw refusal(`cannot be read (${codeOf(error)})`)
  })
  let key: KeyObject
  try {
    const jwk = text.trimStart().startsWith('{') ? (JSON.parse(text) as JsonWebKey) : null
    // Node would derive the public half, but a service that only checks has no business with the private one.
    if (text.includes('PRIVATE KEY-----') || (jwk !== null && Object.hasOwn(jwk, 'd'))) {
      throw refusal('holds a private key; give the service only the public one')
    }
    if (jwk !== null && Object.hasOwn(jwk, 'keys')) throw refusal('holds a set of keys; give one, or use AUTH_JWKS_URL')
    key = jwk === null ? createPublicKey(text) : createPublicKey({ key: jwk, format: 'jwk' })
  } catch (error) {
    throw error instanceof ConfigError ? error : refusal('holds no PEM public key, X.509 certificate or JWK')
  }
  const algorithms = algorithmsOf(key)
  if (algorithms === null) {
    throw refusal('holds a key of another kind than RSA (2048 bits or more), EC P-256 or Ed25519')
  }
  return { algorithms, keyFor: () => key }
}

function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails: details }: KeyObject): readonly string[] | null {
  if (asymmetricKeyType === 'ed25519') return ED25519
  if (asymmetricKeyType === 'rsa' && (details?.modulusLength ?? 0) >= 2048) return ['RS256']
  return asymmetricKeyType === 'ec' && details?.namedCurve === 'prime256v1' ? ['ES256'] : null
}

/** Keys from a key server, fetched at the first token, then again when they are old or a token names an unknown one. */
function remoteKeys(url: string, now: Clock): JWTVerifyGetKey {
  let held: { find: JWTVerifyGetKey; fetchedAt: number } | null = null
  let failure: unknown = null
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null
  // A clock that was set back must not stop us from asking.
  const since = (moment: number): number => Math.abs(now() - moment)

  async function ask(): Promise<void> {
    askedAt = now()
    try {
      held = { find: await fetchKeys(url), fetchedAt: askedAt }
      failure = null
    } catch (error) {
      failure = error
    }
  }

  /** Asks the key server, or waits for whoever is asking, unless it was asked a moment ago. */
  async function refresh(): Promise<void> {
    const mayAsk = since(askedAt) >= (failure === null ? COOLDOWN_MS : RETRY_MS)
    if (asking === null && mayAsk) {
      asking = ask().finally(() => {
        asking = null
      })
    }
    await asking
  }

  const usable = (ms: number): JWTVerifyGetKey | null =>
    held !== null && since(held.fetchedAt) < ms ? held.find : null

  return async (header, token) => {
    if (usable(FRESH_MS) === null) await refresh()
    const find = usable(STALE_MS)
    if (find === null) throw keyServerAway(failure)
    try {
      return await find(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) throw error
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw keyServerAway(error)
      await refresh()
      const renewed = usable(FRESH_MS)
      // The key may be new, and the server that could tell us does not answer.
      if (renewed === null || failure !== null) throw keyServerAway(failure)
      return renewed(header, token)
    }
  }
}

async function fetchKeys(url: string): Promise<JWTVerifyGetKey> {
  const response = await fetch(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    // What was configured is what is trusted; a redirect could lead anywhere.
    redirect: 'manual',
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`the key server answered ${response.status}`)
  }
  // jose checks the shape.
  return createLocalJWKSet((await response.json()) as JSONWebKeySet)
}

function keyServerAway(cause: unknown): Problem {
  const headers = { 'retry-after': String(RETRY_MS / 1_000) }
  return new Problem('unavailable', 'The key server gives no usable keys, so the token cannot be checked now.', {
    headers,
    cause,
  })
}

/** Where the service's own secret lies. */
export const ownSecretFile = (dataDir: string): string => join(dataDir, 'auth-secret')

/**
 * The service's own secret, 43 letters (32 random bytes), made when it is first asked for. However many processes ask
 * at once, all get the same. A file that others could read is made private again.
 * @throws ConfigError if the folder or the file cannot be used.
 */
export async function ownSecret(dataDir: string): Promise<string> {
  const file = ownSecretFile(dataDir)
  const refusal = (why: string) =>
    new ConfigError([{ variable: 'DATA_DIR', message: `the secret ${JSON.stringify(file)} ${why}` }])
  let secret: string | null
  try {
    secret = await readPrivate(file)
    if (secret === null) {
      await createPrivate(file, dataDir)
      secret = await readPrivate(file)
    }
  } catch (error) {
    throw refusal(`cannot be read or made (${codeOf(error)}); run this as the user that runs the service`)
  }
  if (secret === null || secret.length < 43) {
    throw refusal('is cut short; delete it, and a new one is made (tokens of the old one end)')
  }
  return secret
}

async function readPrivate(file: string): Promise<string | null> {
  const handle = await open(file, 'r').catch(error => {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  })
  if (handle === null) return null
  try {
    const { mode } = await handle.stat()
    if ((mode & 0o077) !== 0) await handle.chmod(0o600)
    return (await handle.readFile('utf8')).trim()
  } finally {
    await handle.close()
  }
}

/** The file appears whole or not at all: written beside its place, then linked, which fails if another was faster. */
async function createPrivate(file: string, dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(32).toString('base64url')}\n`)
    await handle.sync()
    await link(draft, file).catch(error => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  } finally {
    await handle.close()
    await unlink(draft)
  }
  const folder = await open(dataDir, 'r')
  await folder.sync().finally(() => folder.close())
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)

export interface TokenRequest extends Pick<AuthConfig, 'issuer' | 'audience' | 'userClaim' | 'rolesClaim'> {
  /** At least 32 bytes. */
  secret: string
  /** Null for a machine that is no user. */
  userId: number | null
  /** The token's `sub`: 1–255 characters. Where `sub` is the user claim, a user's id takes its place. */
  subject: string
  roles: readonly string[]
  /** At least 1. */
  ttlSeconds: number
  /** Milliseconds since 1970. */
  now: number
}

/** A token (HS256) that a service with this secret and configuration accepts until it expires. */
export async function mintToken(request: TokenRequest): Promise<string> {
  const { secret, issuer, audience, userId, subject, roles, ttlSeconds, userClaim, rolesClaim } = request
  const issuedAt = Math.floor(request.now / 1_000)
  const token = new SignJWT({
    sub: subject,
    ...(userId === null ? {} : { [userClaim]: userClaim === 'sub' ? String(userId) : userId }),
    // `scope` is by its standard one string.
    [rolesClaim]: rolesClaim === 'scope' ? roles.join(' ') : roles,
  })
  token
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSeconds)
  if (issuer !== null) token.setIssuer(issuer)
  if (audience !== null) token.setAudience(audience)
  return token.sign(createSecretKey(secret, 'utf8'))
}
