/** Authentication: from the Authorization header to a principal, and what a principal may do. */
import { hash } from 'node:crypto'
import { errors, jwtVerify } from 'jose'
import type { Config } from '../../config/config.ts'
import type { Permission } from '../../domain/role.ts'
import { createClaimReader, type Principal, roleNamesOf } from './claims.ts'
import { openKey } from './keys.ts'
import { bearerToken, forbidden, refusalOf, withoutUserId } from './refusals.ts'

/** What a token must allow. `anyone`: any valid token. `own`: any token with a user id, for that user's own data. */
export type Access = 'anyone' | 'own' | Permission

export interface Authenticator {
  /**
   * The principal of an Authorization header: directly if the token is in the cache, else as a promise.
   * @param beforeVerification called before a token is verified that is not in the cache; may throw to refuse it
   * @throws Problem `unauthenticated` for a missing or invalid token; `unavailable` if the key server does not answer
   */
  authenticate(authorization: string | undefined, beforeVerification?: () => void): Principal | Promise<Principal>
  /** @throws Problem `forbidden` if the token does not allow this */
  require(principal: Principal, access: Access): void
}

export interface AuthenticatorOptions {
  /** Milliseconds since 1970. */
  now: () => number
  /** The maximum number of verified tokens in the cache; the least recently used is removed first. */
  cacheSize?: number
  /** Called after each attempt to fetch keys from the key server. */
  onKeysFetched?: (isFetched: boolean) => void
}

/** How far this machine's clock and the issuer's may differ. A token is accepted for this long after its `exp`. */
const TOLERANCE_SECONDS = 5

/** A cached token is verified again after this time, so that a key that its server withdraws stops being accepted. */
const RECHECK_MS = 600_000

/**
 * An authenticator for the configured key. Tokens need an `exp`, because a token that never expires could not be revoked.
 * @throws ConfigError if the key's file cannot be used
 */
export async function createAuthenticator(
  { auth, dataDir }: Pick<Config, 'auth' | 'dataDir'>,
  { now, cacheSize = 10_000, onKeysFetched }: AuthenticatorOptions,
): Promise<Authenticator> {
  const principalOf = createClaimReader(auth)
  const roleNames = roleNamesOf(auth)
  const { algorithms, keyFor } = await openKey(auth.key, dataDir, now, onKeysFetched)
  const options = {
    algorithms: [...algorithms],
    clockTolerance: TOLERANCE_SECONDS,
    requiredClaims: ['exp'],
    ...(auth.issuer === null ? {} : { issuer: auth.issuer }),
    ...(auth.audience === null ? {} : { audience: auth.audience }),
  }
  // Keyed by hash, so that entries are small and a memory dump holds no tokens. Insertion order is the order of use.
  const known = new Map<string, { principal: Principal; until: number }>()

  function lookup(id: string): Principal | null {
    const entry = known.get(id)
    if (entry === undefined) return null
    known.delete(id)
    if (now() >= entry.until) return null
    known.set(id, entry)
    return entry.principal
  }

  async function verify(id: string, token: string): Promise<Principal> {
    const { payload } = await jwtVerify(token, keyFor, { ...options, currentDate: new Date(now()) }).catch(error => {
      throw error instanceof errors.JOSEError ? refusalOf(error, algorithms) : error
    })
    const principal = principalOf(payload)
    const expiry = ((payload.exp ?? 0) + TOLERANCE_SECONDS) * 1_000
    known.set(id, { principal, until: Math.min(expiry, now() + RECHECK_MS) })
    for (const oldest of known.keys()) {
      if (known.size <= cacheSize) break
      known.delete(oldest)
    }
    return principal
  }

  return {
    authenticate(authorization, beforeVerification) {
      // The whole header is the key of the cache, so a known token is not parsed.
      const id = hash('sha256', authorization ?? '', 'base64')
      const known = lookup(id)
      if (known !== null) return known
      const token = bearerToken(authorization)
      beforeVerification?.()
      return verify(id, token)
    },
    require({ userId, permissions }, access) {
      if (access === 'own') {
        if (userId === null) throw withoutUserId(auth.userClaim)
      } else if (access !== 'anyone' && !permissions.has(access)) {
        throw forbidden(access, roleNames)
      }
    },
  }
}
