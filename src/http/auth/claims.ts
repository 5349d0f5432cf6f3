/** From the claims of a verified token to the principal that it belongs to. */
import type { JWTPayload } from 'jose'
import type { AuthConfig } from '../../config/config.ts'
import { isNameOfService, shownName } from '../../domain/principal-name.ts'
import { PERMISSIONS_OF, type Permission, ROLES, type Role } from '../../domain/role.ts'
import { type EpochMs, LATEST } from '../../domain/time.ts'
import { invalidToken } from './refusals.ts'

/** Who a valid token belongs to. Shared between requests, so it is read-only. */
export interface Principal {
  /**
   * The token's `sub`: 1–255 characters without control characters, and not the name of the service. Identifies the client in the
   * history and rate limits.
   */
  readonly subject: string
  /** The token's `name` as it is shown; null if it has none that can be. Nothing is decided by it. */
  readonly name: string | null
  /** 0 to 2^53−1; null if the token is not a user's. */
  readonly userId: number | null
  /** The service's own names of the token's roles, in the order of `ROLES`. Unknown roles are left out. */
  readonly roles: readonly Role[]
  /** What the roles allow. */
  readonly permissions: ReadonlySet<Permission>
  /** The users that the token may name on the paths of senders. */
  readonly senderUsers: ReadonlySet<number> | 'all'
  /** The token's `exp`, at most `LATEST`. */
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

/** Reads principals from the claims of verified tokens. @throws Problem `unauthenticated` without a valid subject */
export function createClaimReader(auth: AuthConfig): (payload: JWTPayload) => Principal {
  const roleNames = roleNamesOf(auth)
  return payload => principalOf(payload, auth, roleNames)
}

function principalOf(payload: JWTPayload, auth: AuthConfig, roleNames: Readonly<Record<Role, string>>): Principal {
  const userId = userIdOf(claimAt(payload, auth.userClaim))
  const subject = typeof payload.sub === 'number' ? String(payload.sub) : (payload.sub ?? userId?.toString())
  if (typeof subject !== 'string' || !/^\P{Cc}{1,255}$/u.test(subject) || !subject.isWellFormed()) {
    throw invalidToken('no_subject', 'The token has no valid sub: 1 to 255 characters, without control characters.')
  }
  if (isNameOfService(subject)) {
    throw invalidToken(
      'reserved_subject',
      'The sub of the token is the name of this service, which names its own changes.',
    )
  }
  const expiresAt = Math.min((payload.exp ?? 0) * 1_000, LATEST)
  const named = namesIn(claimAt(payload, auth.rolesClaim))
  const roles = ROLES.filter(role => named.has(roleNames[role]))
  const permissions = new Set(roles.flatMap(role => PERMISSIONS_OF[role]))
  const { senderUsersClaim } = auth
  const senderUsers = senderUsersClaim === null ? 'all' : usersIn(claimAt(payload, senderUsersClaim))
  return {
    subject,
    name: typeof payload.name === 'string' ? shownName(payload.name) : null,
    userId,
    roles,
    permissions,
    senderUsers,
    expiresAt,
  }
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

/** User ids as a list, as one id, or as one text with spaces between them; `*` for all. What is neither names no user. */
function usersIn(claim: unknown): ReadonlySet<number> | 'all' {
  const values: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [claim]
  if (values.includes('*')) return 'all'
  return new Set(values.map(userIdOf).filter(id => id !== null))
}

/** A list of texts, or one text with spaces between them. Anything else names no roles. */
function namesIn(claim: unknown): ReadonlySet<string> {
  const names: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : []
  return new Set(names.filter((name): name is string => typeof name === 'string' && name !== ''))
}
