import { queryOptions, useMutation } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/basics/bounds.ts'
import { queryClient } from '../api/query-client.ts'
import { receiverOf, type Transfer } from '../model/transfers.ts'
import { call } from '../session/client.ts'
import { queryOf, refetchAfter } from './calls.ts'
import { userIdOf } from './profile.ts'
import { quotaQuery } from './quota.ts'

/** Units that users hand on to each other. */

/** The latest transfers from and to a user, as many as one call gives. */
export function latestTransfersQuery(user_id: number) {
  return queryOptions({
    ...queryOf('GET /admin/transfers', { query: { user_id, page_size: MAX_PAGE_SIZE } }),
    select: ({ items }) => items,
  })
}

/** What the user of a transfer has typed. */
export interface TransferInput {
  receiver: string
  units: number | string
  reason: string | null
  expires_at: string | null
}

/** The service takes the receiver's id. A text that names none is sent as it is: the service says what it accepts. */
async function receiverId(text: string): Promise<number | string> {
  const receiver = receiverOf(text)
  if (receiver === null) return text.trim()
  if ('user_id' in receiver) return receiver.user_id
  return userIdOf(receiver.ref)
}

/** Hands units of a grant on. With the same key, a repeated request moves them once. */
export function useTransfer(id: number, key: string, onDone: (transfer: Transfer) => void) {
  return useMutation({
    mutationFn: async ({ receiver, ...terms }: TransferInput) => {
      const body = { to_user_id: await receiverId(receiver), ...terms }
      return call('POST /admin/quota/{id}/transfer', { id, body, idempotencyKey: key })
    },
    onSuccess: ({ transfer, quota }) => {
      queryClient.setQueryData(quotaQuery(id).queryKey, quota)
      onDone(transfer)
    },
    // Also after an error: of units that are not there, the page says how many are.
    onSettled: () => refetchAfter('POST /admin/quota/{id}/transfer'),
  })
}
