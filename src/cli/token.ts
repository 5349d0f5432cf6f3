import type { AuthConfig } from '../config/config.ts'
import { isReference, PATTERNS } from '../contract/patterns.ts'
import { MAX_INTEGER } from '../domain/basics/bounds.ts'
import { ROLES, type Role } from '../domain/basics/role.ts'
import { isNameOfService, isSubject, shownName } from '../domain/users/principal-name.ts'
import { roleNamesOf } from '../http/auth/claims.ts'
import { readOwnSecret } from '../http/auth/secrets.ts'
import { mintToken } from '../http/auth/tokens.ts'
import { type Arguments, didYouMean, UsageError } from './arguments.ts'
import { readConfig } from './environment.ts'
import { runningServices } from './running.ts'
import type { Terminal } from './terminal.ts'

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const
const MAX_TTL_SECONDS = 366 * UNIT_SECONDS.d

/** Prints a token, and nothing else, on stdout. Resolves to the exit code. */
export async function token(args: Arguments, terminal: Terminal): Promise<number> {
  const userId = readUser(args.one('user'))
  const userRef = readUserRef(args.one('user-ref'))
  const subject = readSubject(args.one('subject'))
  const ttlSeconds = readTtl(args.one('ttl') ?? '1h')
  const name = readName(args.one('name'))
  const senderUsers = readSenderUsers(args.one('sender-users'))
  const consoleUrl = readConsoleUrl(args.one('console'))
  if (userId === null && userRef === null && subject === null) {
    throw new UsageError(
      'name the owner of the token: --user ID or --user-ref REF for a user, --subject NAME for a machine',
    )
  }
  const config = readConfig(args, terminal)
  const { auth, dataDir } = config
  requireClaims(auth, { userId, userRef, subject })
  if (senderUsers !== null && auth.senderUsersClaim === null) {
    throw new UsageError('--sender-users needs AUTH_SENDER_USERS_CLAIM, the claim that lists these users')
  }
  const roles = args.all('role').map(role => readRole(role, roleNamesOf(auth)))
  const { key } = auth
  if (key.kind === 'public-key' || key.kind === 'jwks') {
    const variable = key.kind === 'jwks' ? 'AUTH_JWKS_URL' : 'AUTH_PUBLIC_KEY_FILE'
    terminal.complain(
      `sms-quota: ${variable} is set, so your identity provider issues the tokens; this service only verifies them`,
    )
    return 1
  }
  // Most of what it loads is about the database; what needs no token is not to wait for it.
  const { dropRootBeside } = await import('../drop-root.ts')
  await dropRootBeside(config)
  const previous = key.kind === 'secret' && !args.has('new-secret') ? key.previous : null
  const secret = key.kind === 'secret' ? (previous ?? key.secret) : await readOwnSecret(dataDir, 'auth-secret')
  if (secret === null) {
    // A secret that was made here would sign tokens that no service accepts.
    terminal.complain(
      `sms-quota: no service has run in DATA_DIR, ${dataDir}: start it first, or give its settings (--env-file FILE, DATA_DIR)${runningServices()}`,
    )
    return 1
  }
  const owner = {
    userId,
    ...(userRef === null ? {} : { userRef }),
    // A reference may be a number, and a subject that is one may name another user, by id.
    subject: subject ?? (userRef === null ? String(userId) : `ref:${userRef}`),
    ...(name === null ? {} : { name }),
  }
  const request = { ...auth, ...owner, secret, roles, ttlSeconds, now: Date.now() }
  const minted = await mintToken(senderUsers === null ? request : { ...request, senderUsers })
  if (previous !== null) {
    terminal.complain(
      'sms-quota: signed with AUTH_SECRET_PREVIOUS, which every running process knows; the token ends with it. Once all processes have both secrets, sign with --new-secret',
    )
  }
  await terminal.print(consoleUrl === null ? `${minted}\n` : `${consoleUrl}/console/#token=${minted}\n`)
  return 0
}

interface Owner {
  userId: number | null
  userRef: string | null
  subject: string | null
}

/** @throws UsageError if no claim, or one claim twice, would hold what names the owner */
function requireClaims({ userClaim, userRefClaim }: AuthConfig, { userId, userRef, subject }: Owner): void {
  if (userId !== null && userRef !== null) throw new UsageError('one of them names the user: --user or --user-ref')
  if (userRef !== null && userRefClaim === null) {
    throw new UsageError('--user-ref needs AUTH_USER_REF_CLAIM, the claim that contains the reference')
  }
  if (userId !== null && userClaim === null) {
    throw new UsageError('--user needs AUTH_USER_CLAIM, as AUTH_USER_REF_CLAIM is set: set both, or give --user-ref')
  }
  if (userId !== null && subject !== null && userClaim === 'sub') {
    throw new UsageError('the user id is the subject (AUTH_USER_CLAIM is sub): give --user or --subject, not both')
  }
  if (userRef !== null && subject !== null && userRefClaim === 'sub') {
    throw new UsageError(
      'the reference is the subject (AUTH_USER_REF_CLAIM is sub): give --user-ref or --subject, not both',
    )
  }
}

/** The value of `--user`; null if it was not given. */
export function readUser(text: string | undefined): number | null {
  if (text === undefined) return null
  const id = /^(0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN
  if (id <= MAX_INTEGER) return id
  throw new UsageError(`--user is a whole number from 0 to ${MAX_INTEGER}, not "${text}"`)
}

/** The value of `--user-ref`; null if it was not given. */
function readUserRef(text: string | undefined): string | null {
  if (text === undefined || isReference(text)) return text ?? null
  throw new UsageError(`--user-ref is ${PATTERNS.userRef.accepts}`)
}

function readSubject(text: string | undefined): string | null {
  if (text !== undefined && isNameOfService(text)) {
    throw new UsageError(`--subject ${text} looks like the name of the service itself: give the machine another`)
  }
  if (text === undefined || isSubject(text)) return text ?? null
  throw new UsageError('--subject has 1 to 255 characters, none of them invisible')
}

/** The value of `--name`; null if it was not given. */
function readName(text: string | undefined): string | null {
  if (text === undefined || shownName(text) !== null) return text ?? null
  if (isNameOfService(text))
    throw new UsageError(`--name ${text} looks like the name of the service itself: give another`)
  throw new UsageError('--name has 1 to 100 characters and no control characters')
}

/** The value of `--sender-users`; null if it was not given. */
function readSenderUsers(text: string | undefined): number[] | '*' | null {
  if (text === undefined || text === '*') return text ?? null
  const ids = text.split(',').map(id => (/^(0|[1-9]\d*)$/.test(id) ? Number(id) : Number.NaN))
  if (ids.every(id => id <= MAX_INTEGER)) return ids
  throw new UsageError(`--sender-users is a list of user ids, such as 7,8, or * for all, not "${text}"`)
}

/** The address of the service, without a final slash; null if it was not given. */
function readConsoleUrl(text: string | undefined): string | null {
  if (text === undefined) return null
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol) && /^[^?#]*$/.test(text)) return text.replace(/\/+$/, '')
  throw new UsageError(`--console is the address of the service, such as https://sms.example, not "${text}"`)
}

function readTtl(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? []
  const seconds = Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS]
  if (seconds >= 1 && seconds <= MAX_TTL_SECONDS) return seconds
  throw new UsageError(`--ttl is a number with s, m, h or d, such as 90s, 15m, 1h or 366d (the maximum), not "${text}"`)
}

/**
 * A role by its short or full name. Other names are refused: a token with a misspelled role would be allowed nothing.
 */
function readRole(text: string, roleNames: Readonly<Record<Role, string>>): string {
  for (const role of ROLES) if (text === role || text === roleNames[role]) return roleNames[role]
  const names = [...new Set([...ROLES, ...Object.values(roleNames)])]
  throw new UsageError(`--role is one of ${names.join(', ')}, not "${text}"${didYouMean(text, names)}`)
}
