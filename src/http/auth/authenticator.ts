/** Authentication: from the Authorization header to a principal, and what a principal may do. */
import { hash } from 'node:crypto'
import { errors, type JWTPayload, jwtVerify } from 'jose'
import type { AuthConfig, Config } from '../../config/config.ts'
import { ROLES, type Role } from '../../domain/role.ts'
import { type EpochMs, LATEST } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'
import { openKey } from './keys.ts'

/** Who a valid token belongs to. Shared between requests, so it is read-only. */
export interface Principal {
  /** The token's `sub`: 1–255 characters without control characters. Identifies the client in the history and rate limits. */
  readonly subject: string
  /** 0 to 2^53−1; null if the token is not a user's. */
  readonly userId: number | null
  readonly roles: ReadonlySet<string>
  /** The token's `exp`, at most `LATEST`. */
  readonly expiresAt: EpochMs
}

export interface Authenticator {
  /**
   * The principal of an Authorization header: directly if the token is in the cache, else as a promise.
   * @param beforeVerification called before a token is verified that is not in the cache; may throw to refuse it
   * @throws Problem `unauthenticated` for a missing or invalid token; `unavailable` if the key server does not answer
   */
  authenticate(authorization: string | undefined, beforeVerification?: () => void): Principal | Promise<Principal>
  /** The principal's user id. @throws Problem `forbidden` if it has none */
  requireUser(principal: Principal): number
  /** @throws Problem `forbidden` without the administrators' role */
  requireAdmin(principal: Principal): void
  /** @throws Problem `forbidden` without the senders' role */
  requireSender(principal: Principal): void
  /** The principal's roles by the service's own names. Unknown roles are left out. */
  rolesOf(principal: Principal): Role[]
}

export interface AuthenticatorOptions {
  /** Milliseconds since 1970. */
  now: () => number
  /** The maximum number of verified tokens in the cache; the least recently used is removed first. */
  cacheSize?: number
  /** Called after each attempt to fetch keys from the key server. */
  onKeysFetched?: (isFetched: boolean) => void
}

const MAX_TOKEN_LENGTH = 8_192

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
      throw error instanceof errors.JOSEError ? invalidToken(reasonOf(error, algorithms)) : error
    })
    const principal = principalOf(payload, auth)
    const expiry = ((payload.exp ?? 0) + TOLERANCE_SECONDS) * 1_000
    known.set(id, { principal, until: Math.min(expiry, now() + RECHECK_MS) })
    for (const oldest of known.keys()) {
      if (known.size <= cacheSize) break
      known.delete(oldest)
    }
    return principal
  }

  const requireRole = (principal: Principal, role: string, whose: string): void => {
    if (!principal.roles.has(role)) {
      throw new Problem('forbidden', `This path is for ${whose}: the token needs the role "${role}".`)
    }
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
    requireUser({ userId }) {
      if (userId !== null) return userId
      const detail = `This path is for users: the token has no user id (a whole number) in its claim "${auth.userClaim}".`
      throw new Problem('forbidden', detail)
    },
    requireAdmin: principal => requireRole(principal, auth.adminRole, 'administrators'),
    requireSender: principal => requireRole(principal, auth.senderRole, 'senders'),
    rolesOf: ({ roles }) => ROLES.filter(role => roles.has(role === 'admin' ? auth.adminRole : auth.senderRole)),
  }
}

function bearerToken(authorization: string | undefined): string {
  const token = authorization === undefined ? undefined : /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1]
  if (token === undefined) {
    // RFC 6750: a request without a token gets the challenge without an error code.
    throw new Problem('unauthenticated', 'The header "Authorization: Bearer <token>" is missing.', {
      headers: { 'www-authenticate': 'Bearer realm="sms-quota"' },
    })
  }
  if (token.length > MAX_TOKEN_LENGTH) throw invalidToken(`The token is longer than ${MAX_TOKEN_LENGTH} characters.`)
  return token
}

/** @param reason printable ASCII without quotes and backslashes, as the header requires */
function invalidToken(reason: string): Problem {
  const challenge = `Bearer realm="sms-quota", error="invalid_token", error_description="${reason}"`
  return new Problem('unauthenticated', reason, { headers: { 'www-authenticate': challenge } })
}

/** The reason for the client. Neither parts of the token nor jose's error, which contains its claims. */
function reasonOf(error: errors.JOSEError, algorithms: readonly string[]): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.'
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'exp' && error.reason === 'missing') return 'The token has no expiry (exp).'
    if (error.claim === 'nbf' && error.reason === 'check_failed') return 'The token is not valid yet (nbf).'
    if (error.claim === 'iss') return 'The token is not from the issuer that this service trusts (iss).'
    if (error.claim === 'aud') return 'The token is for another audience (aud).'
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return `The token is not signed with ${algorithms.join(' or ')}.`
  }
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'The token is signed with a key that this service does not know.'
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'The token does not say which key signed it (kid).'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'The signature of the token is wrong.'
  return 'The token is malformed.'
}

function principalOf(payload: JWTPayload, auth: AuthConfig): Principal {
  const userId = userIdOf(claimAt(payload, auth.userClaim))
  const subject = typeof payload.sub === 'number' ? String(payload.sub) : (payload.sub ?? userId?.toString())
  if (typeof subject !== 'string' || !/^\P{Cc}{1,255}$/u.test(subject) || !subject.isWellFormed()) {
    throw invalidToken('The token has no valid sub: 1 to 255 characters, without control characters.')
  }
  const expiresAt = Math.min((payload.exp ?? 0) * 1_000, LATEST)
  return { subject, userId, roles: rolesOf(claimAt(payload, auth.rolesClaim)), expiresAt }
}

/** The claim of exactly this name, since names may contain dots (https://example.com/roles); else the path into objects. */
function claimAt(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name]
  let value: unknown = payload
  for (const step of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value
}

function userIdOf(claim: unknown): number | null {
  const id = typeof claim === 'string' && /^(0|[1-9]\d{0,15})$/.test(claim) ? Number(claim) : claim
  // Adding zero turns the −0 that JSON can hold into 0.
  return Number.isSafeInteger(id) && (id as number) >= 0 ? (id as number) + 0 : null
}

function rolesOf(claim: unknown): ReadonlySet<string> {
  const roles: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : []
  return new Set(roles.filter((role): role is string => typeof role === 'string' && role !== ''))
}
