/** From the claims of a verified token to the principal that it belongs to. */
import type { JWTPayload } from 'jose'
import type { AuthConfig } from '../../config/config.ts'
import { isReference } from '../../contract/patterns.ts'
import { PERMISSIONS_OF, type Permission, ROLES, type Role } from '../../domain/basics/role.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { isNameOfService, isSubject, shownName } from '../../domain/users/principal-name.ts'
import { invalidToken } from './refusals.ts'

/** The owner of a valid token. Shared between requests, so it is read-only. */
export interface Principal {
  /**
   * The token's `sub`: 1–255 characters, none of them invisible, and not the name of the service. Identifies the client in the
   * history and rate limits.
   */
  readonly subject: string
  /** The token's `name` as it is shown; null if it has none that can be. Nothing is decided by it. */
  readonly name: string | null
  /** 0 to 2^53−1; null if the token is not a user's, or names the user by a reference that was not looked up, or that no user has. */
  readonly userId: number | null
  /** By which the token names its user; null if it has the id, or is not a user's. The cache of tokens has it and not the id. */
  readonly userRef: string | null
  /** The service's own names of the token's roles, in the order of `ROLES`. Unknown roles are left out. */
  readonly roles: readonly Role[]
  /** What the roles allow. */
  readonly permissions: ReadonlySet<Permission>
  /** The users that the token may name on the paths of senders. */
  readonly senderUsers: ReadonlySet<number> | 'all'
  /** The token's `exp`. */
  readonly expiresAt: EpochMs
}

/** The names of the roles in tokens. */
export function roleNamesOf(auth: AuthConfig): Readonly<Record<Role, string>> {
  return {
    admin: auth.adminRole,
    sender: auth.senderRole,
    auditor: auth.auditorRole,
    support: auth.supportRole,
    force: auth.forceRole,
  }
}

/**
 * Reads principals from the claims of verified tokens.
 *
 * @throws Problem `unauthenticated` for another audience, and without a valid subject
 */
export function createClaimReader(auth: AuthConfig): (payload: JWTPayload) => Principal {
  const roleNames = roleNamesOf(auth)
  return payload => principalOf(payload, auth, roleNames)
}

function principalOf(payload: JWTPayload, auth: AuthConfig, roleNames: Readonly<Record<Role, string>>): Principal {
  if (auth.audience !== null && !isFor(payload, auth.audience))
    throw invalidToken('wrong_audience', 'The token is for another audience (aud).')
  const userId = userIdOf(valueAt(payload, auth.userClaim))
  const userRef = userId === null ? userRefOf(valueAt(payload, auth.userRefClaim)) : null
  const subject = textOf(payload.sub) ?? userId?.toString()
  if (typeof subject === 'string' && isNameOfService(subject)) {
    throw invalidToken(
      'reserved_subject',
      'The sub of the token is, or looks like, the name of this service, which names its own changes.',
    )
  }
  if (typeof subject !== 'string' || !isSubject(subject)) {
    throw invalidToken('no_subject', 'The token has no valid sub: 1 to 255 characters, none of them invisible.')
  }
  const expiresAt = (payload.exp ?? 0) * 1_000
  const named = namesIn(claimAt(payload, auth.rolesClaim))
  const roles = ROLES.filter(role => named.has(roleNames[role]))
  const permissions = new Set(roles.flatMap(role => PERMISSIONS_OF[role]))
  const { senderUsersClaim } = auth
  const senderUsers = senderUsersClaim === null ? 'all' : usersIn(claimAt(payload, senderUsersClaim))
  return {
    subject,
    name: typeof payload.name === 'string' ? shownName(payload.name) : null,
    userId,
    userRef,
    roles,
    permissions,
    senderUsers,
    expiresAt,
  }
}

/** A name that may be a number. One that is not exact when it is read may be that of several principals, and names none of them. */
function textOf(claim: unknown): unknown {
  if (typeof claim !== 'number') return claim
  return Number.isSafeInteger(claim) ? String(claim) : undefined
}

/** Whether a token is for this audience. Some access tokens have no `aud`, and name in `client_id` the client that they are for. */
function isFor({ aud, client_id: client }: JWTPayload, audience: string): boolean {
  return aud === undefined ? client === audience : [aud].flat().includes(audience)
}

/**
 * The claim at a dotted path into objects. Names may contain dots themselves (`https://example.com/roles`, a client's id below
 * `resource_access`): at each level, the longest name that leads to a value counts. Of a list of objects, those of all of them, as one list.
 */
function claimAt(claims: unknown, path: string): unknown {
  if (typeof claims !== 'object' || claims === null) return undefined
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const name = path.slice(0, end)
    if (!Object.hasOwn(claims, name)) continue
    const value = (claims as Record<string, unknown>)[name]
    const found = end === path.length ? value : claimAt(value, path.slice(end + 1))
    if (found !== undefined) return found
  }
  return Array.isArray(claims) ? claimsOfEach(claims, path) : undefined
}

/** The one value of a claim. Providers that allow several values for each attribute make a list of one. */
function valueAt(claims: JWTPayload, path: string | null): unknown {
  const claimed = path === null ? undefined : claimAt(claims, path)
  return Array.isArray(claimed) && claimed.length === 1 ? claimed[0] : claimed
}

function claimsOfEach(list: readonly unknown[], path: string): unknown[] | undefined {
  const objects = list.filter(item => !Array.isArray(item))
  const found = objects.map(item => claimAt(item, path)).filter(value => value !== undefined)
  return found.length === 0 ? undefined : found.flat()
}

function userIdOf(claim: unknown): number | null {
  const id = typeof claim === 'string' && /^(0|[1-9]\d{0,15})$/.test(claim) ? Number(claim) : claim
  // Adding zero turns the −0 that JSON can hold into 0.
  return Number.isSafeInteger(id) && (id as number) >= 0 ? (id as number) + 0 : null
}

function userRefOf(claim: unknown): string | null {
  const ref = textOf(claim)
  return typeof ref === 'string' && isReference(ref) ? ref : null
}

/** User ids as a list, as one id, or as one text with spaces or commas between them; `*` for all. What is neither names no user. */
function usersIn(claim: unknown): ReadonlySet<number> | 'all' {
  const values: unknown[] = typeof claim === 'string' ? claim.split(/[ ,]+/) : [claim].flat()
  if (values.includes('*')) return 'all'
  return new Set(values.map(userIdOf).filter(id => id !== null))
}

/**
 * A list of texts, one text with spaces or commas between them, or an object with the names as its keys. Names that have spaces
 * themselves stand alone, between commas or in a list. Anything else names no roles.
 */
function namesIn(claim: unknown): ReadonlySet<string> {
  return new Set(namesOf(claim).filter((name): name is string => typeof name === 'string' && name !== ''))
}

function namesOf(claim: unknown): unknown[] {
  if (Array.isArray(claim)) return claim
  if (typeof claim === 'string') {
    const text = claim.trim()
    return [text, ...text.split(/ *, */), ...text.split(/[ ,]+/)]
  }
  if (typeof claim !== 'object' || claim === null) return []
  return Object.entries(claim).flatMap(([name, value]) => (value === false || value === null ? [] : [name]))
}
