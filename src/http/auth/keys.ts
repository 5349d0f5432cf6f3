/** The keys that verify tokens: a secret, a public key from a file, or the keys of a key server. */
import { createSecretKey } from 'node:crypto'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { AuthKey } from '../../config/config.ts'
import { MEMORY_MS } from '../../domain/time/memories.ts'
import { Problem } from '../../errors.ts'
import { ED25519, type KeyLog, openKeyFiles } from './key-files.ts'
import type { KeyRing } from './key-ring.ts'
import { ownSecret } from './secrets.ts'

/** Milliseconds since 1970. */
type Clock = () => number

/** A token with an unknown key causes a new fetch, but not more often than this: forged tokens must not flood the server. */
const COOLDOWN_MS = 30_000
const RETRY_MS = 5_000
const FETCH_TIMEOUT_MS = 3_000

interface KeyOptions {
  now: Clock
  log: KeyLog
  /** Called after each attempt to fetch keys from the key server. */
  onFetched?: ((isFetched: boolean) => void) | undefined
}

/**
 * The keys that the configuration names. Creates the service's own secret if it is used and does not exist. A key server is
 * first asked for the first token.
 * @throws ConfigError if a key's file cannot be used
 */
export async function openKeys(
  key: AuthKey,
  dataDir: string,
  { now, log, onFetched = () => {} }: KeyOptions,
): Promise<KeyRing> {
  switch (key.kind) {
    case 'secret':
      return fixed(key.previous === null ? [key.secret] : [key.secret, key.previous])
    case 'own':
      return fixed([await ownSecret(dataDir)])
    case 'public-key': {
      const files = [{ variable: 'AUTH_PUBLIC_KEY_FILE', file: key.file }]
      if (key.previous !== null) files.push({ variable: 'AUTH_PUBLIC_KEY_FILE_PREVIOUS', file: key.previous })
      return openKeyFiles(files, log)
    }
    case 'jwks': {
      const remote = { algorithms: ['RS256', 'ES256', ...ED25519], keyFor: remoteKeys(key.url, now, onFetched) }
      return { keys: () => [remote], refresh: async () => false }
    }
  }
}

/** Secrets, which stay as they are until the process ends. */
function fixed(secrets: readonly string[]): KeyRing {
  const keys = secrets.map(secret => {
    const key = createSecretKey(secret, 'utf8')
    return { algorithms: ['HS256'], keyFor: () => key }
  })
  return { keys: () => keys, refresh: async () => false }
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
    if (usable(MEMORY_MS.keys) === null) await refresh()
    const find = usable(MEMORY_MS.keysOfAbsentServer)
    if (find === null) throw keyServerUnavailable(failure)
    try {
      return await find(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) throw error
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw keyServerUnavailable(error)
      await refresh()
      const renewed = usable(MEMORY_MS.keys)
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
