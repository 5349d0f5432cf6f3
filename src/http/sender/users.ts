import { makeUser } from '../../admin/make-user.ts'
import type { SenderOp, SenderRequest } from '../../contract/sender.ts'
import { UNMADE_USER_ID } from '../../domain/user-profile.ts'
import { Problem } from '../../errors.ts'
import type { Principal } from '../auth/claims.ts'
import { foreignReference } from '../auth/refusals.ts'
import type { RouteContext } from '../context.ts'
import { createRoom } from '../platform/rate-limiter.ts'
import { NO_SUCH_USER, refusalOfNew, unknownUser } from '../users/references.ts'

/** The part that finds the users that senders name by a reference, and makes them if the service is set so. */
export interface SenderUsers {
  /**
   * The user of a request, directly if it names the id, or a reference that this process remembers.
   *
   * @param mayMake whether the request may make a user that its reference does not name yet; asked only then
   * @throws Problem `unknown_user`, or `forbidden` if the sender's token is for some users only, and not for this one; `NotMade`; `NotYetMade`
   */
  identify(caller: Caller, request: SenderRequest, mayMake: () => boolean): number | Promise<number>
}

interface Caller {
  principal: Principal
  requestId: string
}

export type SenderUserParts = Pick<RouteContext, 'references' | 'db' | 'now' | 'settings'>

/** The service makes no user for a request now, so it is denied. */
export class NotMade extends Error {
  readonly denial: object

  constructor(user_ref: string) {
    super('too many users were made within a minute')
    const nothing = { remaining: 0, limiting_quota_id: null, retry_at: null }
    this.denial = { granted: false, user_ref, reason: 'no_quota', ...nothing }
  }
}

/** The first `reserve` or `consume` would make the user, and this request does not: it is refused as for any unknown user, unless it is a check. */
class NotYetMade extends Problem {
  constructor() {
    super('unknown_user', NO_SUCH_USER)
  }
}

/**
 * The id on which a check of a user who is not made yet is decided.
 *
 * @param error that kept the user of the request from being found
 * @throws the error, if the request is another one
 */
export function asUnmade(op: SenderOp, error: unknown): number {
  if (op === 'check' && error instanceof NotYetMade) return UNMADE_USER_ID
  throw error
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

export function createSenderUsers({ references, db, now, settings }: SenderUserParts): SenderUsers {
  const { autoUsers, defaultPlanUsersPerMinute: perMinute } = settings
  const room = createRoom(perMinute)
  const making = new Map<string, Promise<number | undefined>>()

  /** Calls at the same time share one. */
  function make(ref: string, { principal, requestId }: Caller): Promise<number | undefined> {
    const joined = making.get(ref)
    if (joined !== undefined) return joined
    if (!room.take()) return Promise.reject(new NotMade(ref))
    const begun = makeUser(db, ref, { now: now(), actor: principal.subject, requestId })
    const ended = begun.finally(() => making.delete(ref))
    making.set(ref, ended)
    return ended
  }

  async function find(caller: Caller, ref: string, mayMake: () => boolean): Promise<number> {
    const { principal } = caller
    const found = await references.find(ref)
    const isFree = found === undefined && autoUsers && principal.senderUsers === 'all'
    const refusal = isFree ? refusalOfNew(ref) : undefined
    if (refusal !== undefined) throw refusal
    if (isFree && !mayMake()) throw new NotYetMade()
    const userId = isFree ? await make(ref, caller) : found
    if (userId !== undefined && mayName(principal, userId)) return userId
    throw principal.senderUsers === 'all' ? unknownUser(ref) : foreignReference()
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
