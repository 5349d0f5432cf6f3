import { ApiProblem } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import type { ViewedUser } from '../model/addresses.ts'
import { request } from '../session/client.ts'
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
    queryKey: ['reservations', 'message', user, id],
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Message> => {
      const [reservation, page] = await Promise.all([readReservation(user, id, signal), readDenials(user, id, signal)])
      return { reservation, denials: page.items, hasMoreDenials: page.next_cursor !== null }
    },
    refetchInterval: messagesInterval,
  }
}

async function readReservation(
  { user_id, isOwn }: ViewedUser,
  id: string,
  signal: AbortSignal,
): Promise<MessageReservation | null> {
  const base = isOwn ? '/quota/reservations' : `/admin/quota/reservations/${user_id}`
  try {
    return await request<MessageReservation>(`${base}/${encodeURIComponent(id)}`, { signal })
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'not_found') return null
    throw error
  }
}

async function readDenials(
  { user_id, isOwn }: ViewedUser,
  id: string,
  signal: AbortSignal,
): Promise<Api['DenialPage']> {
  // The service's own reservations have ids that no sender can use, so that none is denied.
  if (id.startsWith('_')) return { items: [], page_size: MAX_DENIALS, next_cursor: null, scanned_until: null }
  const query = { id, page_size: MAX_DENIALS, user_id: isOwn ? null : user_id }
  return request<Api['DenialPage']>(isOwn ? '/quota/denials' : '/admin/denials', { query, signal })
}
