import type { Command } from '../../domain/units/command.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Principal } from '../auth/claims.ts'

/** A sender that is bounded to some users is one of theirs: what administrators wrote for themselves is not for it. */
export const readsNotes = ({ senderUsers }: Principal): boolean => senderUsers === 'all'

/** A command of a sender: it settles, draws or finds. */
type SenderCommand = Pick<Command, 'user_id'> & { force?: boolean }

/** Refuses a command that the sender's token does not allow. @throws Problem `forbidden` */
export function checkRights(authenticator: Authenticator, principal: Principal, command: SenderCommand): void {
  authenticator.requireSenderUser(principal, command.user_id)
  // All but a plain no is refused: the types do not hold for what a schema let through.
  if (command.force !== undefined && command.force !== false) authenticator.require(principal, 'force')
}
