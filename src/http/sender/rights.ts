import type { SenderRequest } from '../../contract/sender.ts'
import type { Command } from '../../domain/command.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Principal } from '../auth/claims.ts'
import { foreignReference } from '../auth/refusals.ts'
import { type UserReferences, unknownUser } from '../users/references.ts'

/** A command of a sender: it settles, draws or finds. */
type SenderCommand = Pick<Command, 'user_id'> & { force?: boolean }

/** Refuses a command that the sender's token does not allow. @throws Problem `forbidden` */
export function checkRights(authenticator: Authenticator, principal: Principal, command: SenderCommand): void {
  authenticator.requireSenderUser(principal, command.user_id)
  // All but a plain no is refused: the types do not hold for what a schema let through.
  if (command.force !== undefined && command.force !== false) authenticator.require(principal, 'force')
}

/** What finds the users that senders name by a reference. */
export interface SenderUsers {
  /**
   * The user of a request, directly if it names the id, or a reference that this process remembers.
   * @throws Problem `unknown_user`, or `forbidden` if the sender's token is for some users only, and not for this one
   */
  identify(principal: Principal, request: SenderRequest): number | Promise<number>
}

const mayName = ({ senderUsers }: Principal, userId: number) => senderUsers === 'all' || senderUsers.has(userId)

export function createSenderUsers(references: UserReferences): SenderUsers {
  async function find(principal: Principal, ref: string): Promise<number> {
    const userId = await references.find(ref)
    if (userId !== undefined && mayName(principal, userId)) return userId
    throw principal.senderUsers === 'all' ? unknownUser() : foreignReference()
  }

  return {
    identify(principal, { user_id, user_ref }) {
      if (user_id !== undefined) return user_id
      if (user_ref === undefined) throw new TypeError('a validated request names no user')
      const known = references.recall(user_ref)
      // A user that the token does not allow is looked up each time, as a reference of no user is: the time shall not reveal which it is.
      if (known !== undefined && mayName(principal, known)) return known
      return find(principal, user_ref)
    },
  }
}
