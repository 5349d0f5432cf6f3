/** The keys that verify tokens: a secret, a public key from a file, or the keys of a key server. */
import { createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { type AuthKey, ConfigError } from '../../config/config.ts'
import { HOUR_MS } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'
import { ownSecret } from './secrets.ts'

/** A key and the algorithms that it may be used with. A token cannot choose others. */
export interface PinnedKey {
  algorithms: readonly string[]
  keyFor: JWTVerifyGetKey
}

/** Milliseconds since 1970. */
type Clock = () => number

const ED25519 = ['EdDSA', 'Ed25519']

/** A fetched key set is used for ten minutes, and for an hour while the key server is not available. */
const FRESH_MS = 600_000
const STALE_MS = HOUR_MS
/** A token with an unknown key causes a new fetch, but not more often than this: forged tokens must not flood the server. */
const COOLDOWN_MS = 30_000
const RETRY_MS = 5_000
const FETCH_TIMEOUT_MS = 3_000

/**
 * The key that the configuration names. Creates the service's own secret if it is used and does not exist. A key server is
 * first asked for the first token.
 * @throws ConfigError if the key's file cannot be used
 */
export async function openKey(
  key: AuthKey,
  dataDir: string,
  now: Clock,
  onFetched: (isFetched: boolean) => void = () => {},
): Promise<PinnedKey> {
  switch (key.kind) {
    case 'secret':
      return secretKey(key.secret)
    case 'own':
      return secretKey(await ownSecret(dataDir))
    case 'public-key':
      return readPublicKey(key.file)
    case 'jwks':
      return { algorithms: ['RS256', 'ES256', ...ED25519], keyFor: remoteKeys(key.url, now, onFetched) }
  }
}

function secretKey(secret: string): PinnedKey {
  const key = createSecretKey(secret, 'utf8')
  return { algorithms: ['HS256'], keyFor: () => key }
}

/** Reads a PEM public key, an X.509 certificate or a JWK. @throws ConfigError if the file cannot be used */
export async function readPublicKey(file: string): Promise<PinnedKey> {
  const refusal = (why: string) =>
    new ConfigError([{ variable: 'AUTH_PUBLIC_KEY_FILE', message: `the file ${JSON.stringify(file)} ${why}` }])
  const text = await readFile(file, 'utf8').catch(error => {
    throw refusal(`cannot be read (${codeOf(error)})`)
  })
  let key: KeyObject
  try {
    const jwk = text.trimStart().startsWith('{') ? (JSON.parse(text) as JsonWebKey) : null
    // Node would derive the public key, but a service that only verifies must not hold the private one.
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

/** The keys of a key server, fetched for the first token and again when they are old or a token names an unknown key. */
function remoteKeys(url: string, now: Clock, onFetched: (isFetched: boolean) => void): JWTVerifyGetKey {
  let keySet: { find: JWTVerifyGetKey; fetchedAt: number } | null = null
  let failure: unknown = null
  let attemptedAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | null = null
  // The absolute value, so that a clock that is set back does not prevent the next fetch.
  const since = (timestamp: number): number => Math.abs(now() - timestamp)

  async function fetchKeySet(): Promise<void> {
    attemptedAt = now()
    try {
      keySet = { find: await fetchKeys(url), fetchedAt: attemptedAt }
      failure = null
    } catch (error) {
      failure = error
    }
    onFetched(failure === null)
  }

  /** Fetches the keys, or waits for the fetch in progress. Does nothing if the last fetch was too recent. */
  async function refresh(): Promise<void> {
    const mayFetch = since(attemptedAt) >= (failure === null ? COOLDOWN_MS : RETRY_MS)
    if (fetching === null && mayFetch) {
      fetching = fetchKeySet().finally(() => {
        fetching = null
      })
    }
    await fetching
  }

  const usable = (ms: number): JWTVerifyGetKey | null =>
    keySet !== null && since(keySet.fetchedAt) < ms ? keySet.find : null

  return async (header, token) => {
    if (usable(FRESH_MS) === null) await refresh()
    const find = usable(STALE_MS)
    if (find === null) throw keyServerUnavailable(failure)
    try {
      return await find(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) throw error
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw keyServerUnavailable(error)
      await refresh()
      const renewed = usable(FRESH_MS)
      // The key may be new, but the key server does not answer.
      if (renewed === null || failure !== null) throw keyServerUnavailable(failure)
      return renewed(header, token)
    }
  }
}

async function fetchKeys(url: string): Promise<JWTVerifyGetKey> {
  const response = await fetch(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    // Only the configured address is trusted; a redirect could lead anywhere.
    redirect: 'manual',
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`the key server answered ${response.status}`)
  }
  // jose validates the key set.
  return createLocalJWKSet((await response.json()) as JSONWebKeySet)
}

function keyServerUnavailable(cause: unknown): Problem {
  return new Problem('unavailable', 'The key server provides no usable keys, so the token cannot be verified now.', {
    retryAfterSeconds: RETRY_MS / 1_000,
    cause,
  })
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
