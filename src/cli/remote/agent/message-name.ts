import type { MessageName } from '../../../../client/src/user.ts'
import type { SenderRequest } from '../../../contract/sender.ts'

/** The message of a validated request, as the client names it; a check has no id. A user that is named in both ways is two of them here. */
export function messageNameOf({ user_id, user_ref, id = '' }: SenderRequest): MessageName {
  if (user_id !== undefined) return { userId: user_id, id }
  if (user_ref !== undefined) return { userRef: user_ref, id }
  throw new TypeError('a validated request names no user')
}
