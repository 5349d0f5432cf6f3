/** Tokens that the service issues itself, for the command line and the first sign-in. */
import { createSecretKey } from 'node:crypto'
import { SignJWT } from 'jose'
import type { AuthConfig } from '../../config/config.ts'

export interface TokenRequest
  extends Pick<
    AuthConfig,
    'issuer' | 'audience' | 'tokenType' | 'userClaim' | 'userRefClaim' | 'rolesClaim' | 'senderUsersClaim'
  > {
  /** At least 32 bytes. */
  secret: string
  /** Null for a machine, and for a user who is named by a reference. */
  userId: number | null
  userRef?: string
  /** The token's `sub`: 1–255 characters. If `sub` is the claim of the user's id or reference, that replaces it. */
  subject: string
  roles: readonly string[]
  /** Shown to people: see `nameOf`. */
  name?: string
  /** The users that a sender may name; left out: none if the claim is configured, else all. */
  senderUsers?: readonly number[] | '*'
  /** At least 1. */
  ttlSeconds: number
  /** Milliseconds since 1970. */
  now: number
}

/** Signs a token (HS256) that a service with this secret and configuration accepts until it expires. */
export async function mintToken(request: TokenRequest): Promise<string> {
  const { secret, issuer, audience, userId, userRef, subject, roles, ttlSeconds } = request
  const { userClaim, userRefClaim, rolesClaim, senderUsersClaim } = request
  const issuedAt = Math.floor(request.now / 1_000)
  const token = new SignJWT({
    sub: subject,
    ...(request.name === undefined ? {} : { name: request.name }),
    ...(userRefClaim === null || userRef === undefined ? {} : { [userRefClaim]: userRef }),
    ...(userId === null || userClaim === null ? {} : { [userClaim]: userClaim === 'sub' ? String(userId) : userId }),
    // The standard defines `scope` as a single string.
    [rolesClaim]: rolesClaim === 'scope' ? roles.join(' ') : roles,
    ...(senderUsersClaim === null || request.senderUsers === undefined
      ? {}
      : { [senderUsersClaim]: request.senderUsers }),
  })
  token
    .setProtectedHeader({ alg: 'HS256', typ: request.tokenType ?? 'JWT' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSeconds)
  if (issuer !== null) token.setIssuer(issuer)
  if (audience !== null) token.setAudience(audience)
  return token.sign(createSecretKey(secret, 'utf8'))
}
