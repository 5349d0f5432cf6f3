import { keepPreviousData, type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/bounds.ts'
import type { Api } from '../api/types.ts'
import { receiverOf, type Transfer } from '../model/transfers.ts'
import { request } from '../session/client.ts'
import { userIdOf } from './profile.ts'
import { quotaQuery, refetchDependents } from './quota.ts'

/** Units that users hand on to each other. */

type Page = Omit<Api['TransferPage'], 'items'> & { items: Transfer[] }
type Answer = Omit<Api['TransferAnswer'], 'transfer'> & { transfer: Transfer }

/** A page of the transfers from and to a user, newest first. @param cursor null for the first page */
export function transfersQuery(user_id: number, cursor: string | null) {
  return queryOptions({
    queryKey: ['transfers', { user_id, cursor }],
    queryFn: ({ signal }) =>
      request<Page>('/admin/transfers', { query: cursor === null ? { user_id } : { cursor }, signal }),
    placeholderData: keepPreviousData,
  })
}

/** The latest transfers from and to a user, as many as one call gives. */
export function latestTransfersQuery(user_id: number) {
  return queryOptions({
    queryKey: ['transfers', { user_id }],
    queryFn: async ({ signal }) =>
      (await request<Page>('/admin/transfers', { query: { user_id, page_size: MAX_PAGE_SIZE }, signal })).items,
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
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async ({ receiver, ...terms }: TransferInput) => {
      const body = { to_user_id: await receiverId(receiver), ...terms }
      return request<Answer>(`/admin/quota/${id}/transfer`, { method: 'POST', body, idempotencyKey: key })
    },
    onSuccess: ({ transfer, quota }) => {
      queryClient.setQueryData(quotaQuery(id).queryKey, quota)
      onDone(transfer)
    },
    // Also after an error: of units that are not there, the page says how many are.
    onSettled: () => refetchMoved(queryClient),
  })
}

/** Gives units of a transfer back. With the same key, a repeated request does so once. */
export function useReturn(id: number, key: string, onDone: (transfer: Transfer) => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ units, reason }: { units: number | string | null; reason: string | null }) =>
      request<Answer>(`/admin/transfers/${id}/return`, {
        method: 'POST',
        body: { reason, ...(units === null ? {} : { units }) },
        idempotencyKey: key,
      }),
    onSuccess: ({ transfer }) => onDone(transfer),
    onSettled: () => refetchMoved(queryClient),
  })
}

/** Both quotas, what depends on them, and the lists of users that a transfer may have made. */
function refetchMoved(queryClient: QueryClient): Promise<unknown> {
  const keys = ['transfers', 'users', 'reservations']
  return Promise.all([
    refetchDependents(queryClient),
    ...keys.map(key => queryClient.invalidateQueries({ queryKey: [key] })),
  ])
}
