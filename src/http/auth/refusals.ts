/** How a request without a valid token, or whose token does not allow the call, is refused. */
import { errors, type JWTPayload } from 'jose'
import type { AuthConfig } from '../../config/config.ts'
import { type Permission, type Role, rolesWith } from '../../domain/basics/role.ts'
import { Problem, type RefusalReason } from '../../errors.ts'

const MAX_TOKEN_LENGTH = 8_192

/** The token of an Authorization header. @throws Problem `unauthenticated` if it holds none, or one that is too long */
export function bearerToken(authorization: string | undefined): string {
  const token = authorization === undefined ? undefined : tokenIn(authorization)
  if (token === undefined) {
    // RFC 6750: a request without a token gets the challenge without an error code.
    throw new Problem('unauthenticated', 'The header "Authorization: Bearer <token>" is missing.', {
      headers: { 'www-authenticate': 'Bearer realm="sms-quota"' },
      reason: 'missing',
    })
  }
  if (token.length > MAX_TOKEN_LENGTH) {
    throw invalidToken('malformed', `The token is longer than ${MAX_TOKEN_LENGTH} characters.`)
  }
  return token
}

/** What nearly all clients send is read without the pattern. */
function tokenIn(authorization: string): string | undefined {
  if (authorization.length > 7 && authorization.startsWith('Bearer ') && !authorization.includes(' ', 7)) {
    return authorization.slice(7)
  }
  return /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1]
}

/** A date that is further ahead is an error of the token's maker: `exp` and `nbf` count seconds, and in milliseconds they lie in the year 58,000. */
const FAR_AHEAD_SECONDS = 10 * 366 * 86_400

/** @throws Problem `unauthenticated` if a date of the token cannot be meant. @param now milliseconds since 1970 */
export function refuseFarDates(payload: JWTPayload, now: number): void {
  const refusal = refusalOfFarDate(payload, now)
  if (refusal !== undefined) throw refusal
}

function refusalOfFarDate({ exp = 0, nbf = 0 }: JWTPayload, now: number): Problem | undefined {
  const latest = now / 1_000 + FAR_AHEAD_SECONDS
  const claim = exp > latest ? 'exp' : nbf > latest ? 'nbf' : undefined
  return (
    claim &&
    invalidToken(
      'far_date',
      `The ${claim} of the token lies more than ten years ahead. It is in seconds since 1970, not in milliseconds.`,
    )
  )
}

/** @param detail printable ASCII without quotes and backslashes, as the header requires */
export function invalidToken(reason: RefusalReason, detail: string): Problem {
  const challenge = `Bearer realm="sms-quota", error="invalid_token", error_description="${detail}"`
  return new Problem('unauthenticated', detail, { headers: { 'www-authenticate': challenge }, reason })
}

/** Why a token is not valid. Neither parts of the token nor jose's error, which contains its claims. */
export function refusalOf(error: errors.JOSEError, algorithms: readonly string[], now: number): Problem {
  if (error instanceof errors.JWTExpired) return invalidToken('expired', 'The token has expired.')
  if (error instanceof errors.JWTClaimValidationFailed) return refusalOfClaim(error, now)
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return invalidToken('wrong_algorithm', `The token is not signed with ${algorithms.join(' or ')}.`)
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return invalidToken('unknown_key', 'The token is signed with a key that this service does not know.')
  }
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    return invalidToken('unknown_key', 'The token does not say which key signed it (kid).')
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return invalidToken('bad_signature', 'The signature of the token is wrong.')
  }
  return invalidToken('malformed', 'The token is malformed.')
}

function refusalOfClaim({ claim, reason, payload }: errors.JWTClaimValidationFailed, now: number): Problem {
  if (claim === 'exp' && reason === 'missing') return invalidToken('no_expiry', 'The token has no expiry (exp).')
  if (claim === 'nbf' && reason === 'check_failed') {
    return refusalOfFarDate(payload, now) ?? invalidToken('not_yet_valid', 'The token is not valid yet (nbf).')
  }
  if (claim === 'iss') {
    return invalidToken('wrong_issuer', 'The token is not from the issuer that this service trusts (iss).')
  }
  if (claim === 'typ') return invalidToken('wrong_type', 'The token is of another type (typ).')
  return invalidToken('malformed', 'The token is malformed.')
}

/** What each permission allows, as the subject of a sentence. */
const ALLOWS: Record<Permission, string> = {
  read: 'Reading the data of all users',
  export: 'An export',
  check: 'Checking a message of any user',
  adjust: 'Adjusting a quota',
  change: 'This change',
  send: 'This path of senders',
  force: 'Booking units past any limit (force)',
}

/** The token has none of the roles with this permission. */
export function forbidden(permission: Permission, roleNames: Readonly<Record<Role, string>>): Problem {
  const names = rolesWith(permission).map(role => `"${roleNames[role]}"`)
  const needed = names.length === 1 ? `the role ${names.join('')}` : `one of the roles ${names.join(', ')}`
  return new Problem('forbidden', `${ALLOWS[permission]} needs a token with ${needed}.`, { reason: 'missing_role' })
}

/** A sender that names a user that its token does not list. */
export function foreignUser(userId: number, claim: string): Problem {
  const detail = `The token does not allow user ${userId}: its claim "${claim}" does not list them.`
  return new Problem('forbidden', detail, { reason: 'foreign_user' })
}

/** The same for a user that the token does not list and for a reference of no user: whether it is one is not revealed. */
export function foreignReference(): Problem {
  const detail = 'The token is for some users only, and this reference is that of none of them.'
  return new Problem('forbidden', detail, { reason: 'foreign_user' })
}

const HINT =
  ' If it carries the reference of the user, start the service with AUTH_USER_REF_CLAIM, which names the claim that does.'

/** A token that is not a user's, or whose reference no user has. */
export function withoutUserId(
  userRef: string | null,
  { userClaim, userRefClaim }: Pick<AuthConfig, 'userClaim' | 'userRefClaim'>,
): Problem {
  const lacks = [
    ...(userClaim === null ? [] : [`no user id (a whole number) in its claim "${userClaim}"`]),
    ...(userRefClaim === null ? [] : [`no reference of a user in its claim "${userRefClaim}"`]),
  ]
  const why =
    userRef === null
      ? `the token has ${lacks.join(' and ')}.${userRefClaim === null ? HINT : ''}`
      : `no user has the reference in the claim "${userRefClaim}" of the token yet.`
  return new Problem('forbidden', `This path is for users: ${why}`, { reason: 'no_user_id' })
}
