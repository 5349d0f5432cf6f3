import { makeUser } from '../../admin/users/make-user.ts'
import type { Config } from '../../config/config.ts'
import type { SenderOp, SenderRequest } from '../../contract/sender.ts'
import type { Database } from '../../db/connection/database.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { NO_USER_ID } from '../../domain/users/user-profile.ts'
import { Problem } from '../../errors.ts'
import { createRoom } from '../platform/rate-limiter.ts'
import { refusalOfNew, type UserReferences, unknownUser } from '../references/references.ts'
import type { Principal } from './claims.ts'
import { foreignReference } from './refusals.ts'

/** The part that finds the users that senders name by a reference, and makes them if the service is set so. */
export interface SenderUsers {
  /**
   * The user of a request, directly if it names the id, or a reference that this process remembers.
   *
   * @param mayMake whether the request may make a user that its reference does not name yet; asked only then
   * @throws Problem `unknown_user`, or `forbidden` if the sender's token is for some users only, and not for this one; what `asUnmade` takes
   */
  identify(caller: Caller, request: SenderRequest, mayMake: () => boolean): number | Promise<number>
}

interface Caller {
  principal: Principal
  requestId: string
}

interface SenderUserParts {
  references: UserReferences
  db: Database
  now: () => EpochMs
  settings: Pick<Config, 'autoUsers' | 'defaultPlanUsersPerMinute' | 'enforcement'>
}

/** The service makes no user for a request now, so it is denied. */
export class NotMade extends Error {
  readonly denial: object
  /** For what is about a user who is there. */
  readonly problem: Problem

  constructor(user_ref: string) {
    super('too many users were made within a minute')
    const nothing = { remaining: 0, limiting_quota_id: null, retry_at: null }
    this.denial = { granted: false, user_ref, reason: 'no_quota', ...nothing }
    this.problem = unknownUser(user_ref, undefined, true)
  }
}

/** The first `reserve` or `consume` would make the user, and this request does not: it is refused as for any unknown user, unless it is a check. */
class NotYetMade extends Problem {
  /** What those would be denied with now; null: they would make the user. */
  readonly denied: NotMade | null

  constructor(ref: string, denied: NotMade | null) {
    super('unknown_user', unknownUser(ref, undefined, true).message)
    this.denied = denied
  }
}

/**
 * What an operation is decided on whose user was not found: a check, on no user.
 *
 * @param error that kept the user from being found, by this operation or another one of its batch
 * @throws what the operation is answered instead
 */
export function asUnmade(op: SenderOp, error: unknown): number {
  if (error instanceof NotYetMade && op === 'check') {
    if (error.denied === null) return NO_USER_ID
    throw error.denied
  }
  const asksForUnits = op === 'check' || op === 'reserve' || op === 'consume'
  throw error instanceof NotMade && !asksForUnits ? error.problem : error
}

/**
 * Whether a request may make a user: the first message of one, that is otherwise accepted.
 *
 * @param callOf makes its command
 * @throws what it is refused with
 */
export function mayMakeUser(
  { permissions }: Principal,
  op: SenderOp,
  { force = false }: SenderRequest,
  callOf: (userId: number) => unknown,
): boolean {
  if ((op !== 'reserve' && op !== 'consume') || (force && !permissions.has('force'))) return false
  callOf(0)
  return true
}

const mayName = ({ senderUsers }: Principal, userId: number) => senderUsers === 'all' || senderUsers.has(userId)

export function createSenderUsers(
  { references, db, now, settings }: SenderUserParts,
  monotonicMs?: () => number,
): SenderUsers {
  const { autoUsers, defaultPlanUsersPerMinute: perMinute } = settings
  const isObserved = settings.enforcement === 'observe'
  const room = createRoom(perMinute, monotonicMs)
  const making = new Map<string, Promise<number | undefined>>()

  /** Calls at the same time share one. */
  function make(ref: string, { principal, requestId }: Caller): Promise<number | undefined> {
    const joined = making.get(ref)
    if (joined !== undefined) return joined
    // In observe mode nothing is denied.
    if (!room.take(ref) && !isObserved) return Promise.reject(new NotMade(ref))
    const begun = makeUser(db, ref, { now: now(), actor: principal.subject, requestId })
    const ended = begun.finally(() => making.delete(ref))
    making.set(ref, ended)
    return ended
  }

  async function find(caller: Caller, ref: string, mayMake: () => boolean): Promise<number> {
    const { principal } = caller
    const found = await references.find(ref)
    if (typeof found === 'number' && mayName(principal, found)) return found
    if (typeof found === 'number' || principal.senderUsers !== 'all') throw foreignReference()
    if (found === null || !autoUsers) throw unknownUser(ref, found, autoUsers)
    const refusal = refusalOfNew(ref)
    if (refusal !== undefined) throw refusal
    if (!mayMake()) throw new NotYetMade(ref, room.has(ref) || isObserved ? null : new NotMade(ref))
    const made = await make(ref, caller)
    if (made === undefined) throw unknownUser(ref, null, true)
    return made
  }

  return {
    identify(caller, { user_id, user_ref }, mayMake) {
      if (user_id !== undefined) return user_id
      if (user_ref === undefined) throw new TypeError('a validated request names no user')
      const known = references.recall(user_ref)
      // A user that the token does not allow is looked up each time, as a reference of no user is: the time shall not reveal which it is.
      if (known !== undefined && mayName(caller.principal, known)) return known
      return find(caller, user_ref, mayMake)
    },
  }
}
