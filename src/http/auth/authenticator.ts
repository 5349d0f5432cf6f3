/** Authentication: from the Authorization header to a principal, and what a principal may do. */
import { hash } from 'node:crypto'
import { errors, type JWTPayload, jwtVerify } from 'jose'
import type { Config } from '../../config/config.ts'
import type { Permission } from '../../domain/basics/role.ts'
import { MEMORY_MS } from '../../domain/time/memories.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { Problem } from '../../errors.ts'
import { createExpiringMap } from '../platform/expiring-map.ts'
import { createClaimReader, type Principal, roleNamesOf } from './claims.ts'
import type { KeyLog } from './key-files.ts'
import type { KeyRing } from './key-ring.ts'
import { openKeys } from './keys.ts'
import {
  bearerToken,
  forbidden,
  foreignUser,
  invalidToken,
  refusalOf,
  refuseFarDates,
  withoutUserId,
} from './refusals.ts'

/** The right that a token must have. `anyone`: any valid token. `own`: any token with a user id, for that user's own data. */
export type Access = 'anyone' | 'own' | Permission

export interface Authenticator {
  /**
   * The principal of an Authorization header: directly if the token is in the cache, else as a promise.
   * @param beforeVerification called for a token that is not known to be valid; may throw to refuse it
   * @throws Problem `unauthenticated` for a missing or invalid token; `unavailable` if the key server does not answer
   */
  authenticate(authorization: string | undefined, beforeVerification?: () => void): Principal | Promise<Principal>
  /** @throws Problem `forbidden` if the token does not allow this */
  require(principal: Principal, access: Access): void
  /** @throws Problem `forbidden` if the sender's token does not allow it to name this user */
  requireSenderUser(principal: Principal, userId: number): void
}

export interface AuthenticatorOptions {
  /** Milliseconds since 1970. */
  now: () => number
  log: KeyLog
  /** The maximum number of verified tokens in the cache; the least recently used is removed first. */
  cacheSize?: number
  /** Called after each attempt to fetch keys from the key server. */
  onKeysFetched?: (isFetched: boolean) => void
  /** Called for each token that was verified: when it comes for the first time, and every few minutes while it is used. */
  onVerified?: (principal: Principal, now: EpochMs) => void
}

/** How far this machine's clock and the issuer's may differ. A token is accepted for this long after its `exp`. */
const TOLERANCE_SECONDS = 5

/**
 * What a signed token consists of. Decoders also skip white space and padding, and then one token has any number of spellings, which
 * would remove the tokens of all others from the cache.
 */
const TOKEN_CHARACTERS = /^[A-Za-z0-9_.-]+$/

/**
 * A refused token is remembered, too: a client that repeats it costs a look-up, not a signature. Apart from the verified tokens, so that a
 * flood of forged ones removes none of them.
 */
const MAX_REFUSED = 1_000

/** How often key files are looked at. */
const KEY_CHECK_MS = 5_000

/**
 * An authenticator for the configured key. Tokens need an `exp`, because a token that never expires could not be revoked.
 * @throws ConfigError if the key's file cannot be used
 */
export async function createAuthenticator(
  { auth, dataDir }: Pick<Config, 'auth' | 'dataDir'>,
  { now, log, cacheSize = 10_000, onKeysFetched, onVerified }: AuthenticatorOptions,
): Promise<Authenticator> {
  const principalOf = createClaimReader(auth)
  const roleNames = roleNamesOf(auth)
  const ring = await openKeys(auth.key, dataDir, { now, log, onFetched: onKeysFetched })
  const options = {
    clockTolerance: TOLERANCE_SECONDS,
    requiredClaims: ['exp'],
    ...(auth.issuer === null ? {} : { issuer: auth.issuer }),
    ...(auth.tokenType === null ? {} : { typ: auth.tokenType }),
  }
  // Keyed by hashes of tokens, so that entries are small and a memory dump holds no tokens.
  const known = createExpiringMap<Principal>(MEMORY_MS.token, cacheSize)
  const refused = createExpiringMap<Problem>(MEMORY_MS.refusedToken, MAX_REFUSED)
  const freshness = watchKeys(ring, now, () => {
    known.clear()
    refused.clear()
  })

  async function verify(id: string, token: string): Promise<Principal> {
    await freshness.checking()
    const keys = ring.keys()
    const at = now()
    try {
      if (!TOKEN_CHARACTERS.test(token)) throw invalidToken('malformed', 'The token is malformed.')
      const payload = await verifiedBy(keys, token, { ...options, currentDate: new Date(at) })
      refuseFarDates(payload, at)
      const principal = principalOf(payload)
      const expiry = ((payload.exp ?? 0) + TOLERANCE_SECONDS) * 1_000
      // What a replaced key has verified is not kept, and what is kept is verified again: its server may withdraw the key.
      if (isUnchanged(keys, ring.keys())) known.set(id, principal, Math.min(expiry, at + MEMORY_MS.token))
      onVerified?.(principal, at)
      return principal
    } catch (error) {
      const algorithms = keys.flatMap(key => key.algorithms)
      const problem = error instanceof errors.JOSEError ? refusalOf(error, [...new Set(algorithms)], at) : error
      if (problem instanceof Problem && isUnchanged(keys, ring.keys())) {
        const until = refusedUntil(problem, error, at)
        if (until > at) refused.set(id, problem, until)
      }
      throw problem
    }
  }

  return {
    authenticate(authorization, beforeVerification) {
      const token = bearerToken(authorization)
      const id = hash('sha256', token, 'base64')
      const at = now()
      freshness.check(at)
      const principal = known.get(id, at)
      if (principal !== undefined) return principal
      beforeVerification?.()
      const refusal = refused.get(id, at)
      return refusal === undefined ? verify(id, token) : Promise.reject(refusal)
    },
    require(principal, access) {
      if (access === 'own') {
        if (principal.userId === null) throw withoutUserId(principal.userRef, auth)
      } else if (access !== 'anyone' && !principal.permissions.has(access)) {
        throw forbidden(access, roleNames)
      }
    },
    requireSenderUser({ senderUsers }, userId) {
      if (senderUsers !== 'all' && !senderUsers.has(userId)) throw foreignUser(userId, auth.senderUsersClaim ?? '')
    },
  }
}

/** Looks at the keys at most every `KEY_CHECK_MS`, when requests come. Calls `onChange` after they have changed. */
function watchKeys(ring: KeyRing, now: () => number, onChange: () => void) {
  let checkedAt = now()
  let checking: Promise<void> | null = null
  return {
    check(at: number): void {
      // The absolute value, so that a clock that is set back does not prevent the next check.
      if (Math.abs(at - checkedAt) < KEY_CHECK_MS || checking !== null) return
      checkedAt = at
      checking = ring.refresh().then(hasChanged => {
        checking = null
        if (hasChanged) onChange()
      })
    },
    /** The check in progress. */
    checking: () => checking,
  }
}

type PinnedKeys = ReturnType<KeyRing['keys']>

const isUnchanged = (before: PinnedKeys, after: PinnedKeys): boolean =>
  before.every((key, index) => key === after[index])

/**
 * The claims of a token that one of the keys verifies.
 * @throws JOSEError of the first key that could have signed it, else of the last one
 */
async function verifiedBy(keys: PinnedKeys, token: string, options: object): Promise<JWTPayload> {
  let failure: unknown
  for (const { algorithms, keyFor } of keys) {
    try {
      return (await jwtVerify(token, keyFor, { ...options, algorithms: [...algorithms] })).payload
    } catch (error) {
      const isOfOtherKey =
        error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JOSEAlgNotAllowed
      if (!isOfOtherKey) throw error
      if (!(failure instanceof errors.JWSSignatureVerificationFailed)) failure = error
    }
  }
  throw failure
}

/** Until when a token need not be verified again; not later than it may become valid. */
function refusedUntil(problem: Problem, cause: unknown, at: number): number {
  // The key server may have the key the next time it is asked, and an answer of its own failure says nothing about the token.
  if (problem.code !== 'unauthenticated' || problem.reason === 'unknown_key') return at
  const nbf =
    problem.reason === 'not_yet_valid' && cause instanceof errors.JWTClaimValidationFailed && cause.payload.nbf
  return typeof nbf === 'number'
    ? Math.min(at + MEMORY_MS.refusedToken, (nbf - TOLERANCE_SECONDS) * 1_000)
    : at + MEMORY_MS.refusedToken
}
