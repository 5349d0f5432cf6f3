import type { SenderOp, SenderRequest } from '../../contract/sender.ts'
import type { Principal } from '../auth/claims.ts'
import { asUnmade, mayMakeUser, NotMade } from '../auth/sender-users.ts'
import type { ServerParts } from '../context.ts'
import { commandOf, type SenderCall } from './requests.ts'
import { answerOf } from './responses.ts'
import { checkRights, readsNotes } from './rights.ts'

/** The caller of an operation. */
interface Caller {
  readonly principal: Principal
  readonly requestId: string
}

/** Takes the answer of a call, or the error that is answered in its place. Callbacks instead of a promise: fewer objects per call. */
export interface Answering {
  send(answer: unknown): unknown
}

export interface SenderCalls {
  /** Performs a call. @throws Problem `forbidden` */
  perform(call: SenderCall, principal: Principal, to: Answering): void
  /** Performs a validated request. @throws what it is refused with, if that is known at once */
  operate(op: SenderOp, body: SenderRequest, caller: Caller, to: Answering): void
}

export function createSenderCalls({
  engine,
  authenticator,
  settings,
  senderUsers: users,
}: Pick<ServerParts, 'engine' | 'authenticator' | 'settings' | 'senderUsers'>): SenderCalls {
  function perform(call: SenderCall, principal: Principal, to: Answering): void {
    checkRights(authenticator, principal, call.command)
    engine.enqueue(call.command, {
      resolve(outcome) {
        try {
          to.send(answerOf(call, outcome, readsNotes(principal)))
        } catch (error) {
          to.send(error)
        }
      },
      reject: error => to.send(error),
    })
  }

  return {
    perform,
    operate(op, body, caller, to) {
      const { principal, requestId } = caller
      const origin = { principal: principal.subject, requestId }
      const callOf = (userId: number) => commandOf(op, userId, body, origin, settings)
      const userId = users.identify(caller, body, () => mayMakeUser(principal, op, body, callOf))
      if (typeof userId === 'number') return perform(callOf(userId), principal, to)
      userId
        .catch(error => asUnmade(op, error))
        .then(id => perform(callOf(id), principal, to))
        .catch(error => to.send(error instanceof NotMade ? error.denial : error))
    },
  }
}
