import type { Api } from '../api/types.ts'
import type { ViewedUser } from '../model/addresses.ts'
import { call } from '../session/client.ts'
import { orNull } from './calls.ts'
import { messagesInterval } from './user.ts'

/** What is shown of the denials of one message: the newest. */
const MAX_DENIALS = 20

/** A reservation, with who made and settled it where the viewer may see that. */
export type MessageReservation = Api['ReservationDetail'] & Partial<Api['AuthoredRecord']>

/** All that is known of one message. */
export interface Message {
  /** Null: nothing was reserved or sent under this id, or it is not kept any more. */
  reservation: MessageReservation | null
  /** Newest first, at most `MAX_DENIALS`. */
  denials: Api['DenialRecord'][]
  hasMoreDenials: boolean
}

/** Query options for the life of a message. @param id the sender's */
export function messageQuery(user: ViewedUser, id: string) {
  return {
    queryKey: ['GET /quota/reservations/{id}', user, id],
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Message> => {
      const [reservation, page] = await Promise.all([readReservation(user, id, signal), readDenials(user, id, signal)])
      return { reservation, denials: page.items, hasMoreDenials: page.next_cursor !== null }
    },
    refetchInterval: messagesInterval,
  }
}

function readReservation({ user_id, isOwn }: ViewedUser, id: string, signal: AbortSignal) {
  return orNull<MessageReservation>(
    isOwn
      ? call('GET /quota/reservations/{id}', { id, signal })
      : call('GET /admin/quota/reservations/{user_id}/{id}', { user_id, id, signal }),
  )
}

async function readDenials(
  { user_id, isOwn }: ViewedUser,
  id: string,
  signal: AbortSignal,
): Promise<Api['DenialPage']> {
  // The service's own reservations have ids that no sender can use, so that none is denied.
  if (id.startsWith('_')) return { items: [], page_size: MAX_DENIALS, next_cursor: null, scanned_until: null }
  const query = { id, page_size: MAX_DENIALS }
  return isOwn
    ? call('GET /quota/denials', { query, signal })
    : call('GET /admin/denials', { query: { ...query, user_id }, signal })
}
