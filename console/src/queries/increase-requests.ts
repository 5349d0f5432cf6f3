import { keepPreviousData, type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { MAX_PAGE_SIZE } from '../../../src/domain/bounds.ts'
import { newIdempotencyKey } from '../api/http.ts'
import { ApiProblem, retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import type { draftOf, IncreaseRequest } from '../model/increase-requests.ts'
import { request } from '../session/client.ts'
import { refetchDependents } from './quota.ts'
import { SUMMARY_MS } from './user.ts'

/** Users' requests for more units. */

type Page = Api['IncreaseRequestPage']

const KEY = 'requests'
const PATH = '/admin/requests'

/** A page of the caller's own requests, newest first. An answer is to be seen soon. @param cursor null for the first page */
export function ownRequestsQuery(cursor: string | null) {
  return queryOptions({
    queryKey: [KEY, 'own', cursor],
    queryFn: ({ signal }) => request<Page>('/quota/requests', { query: { cursor }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { error } }) => retryDelayOf(error) ?? SUMMARY_MS,
  })
}

export interface RequestFilter {
  status: IncreaseRequest['status'] | null
  user_id: number | null
}

/** A page of users' requests, newest first. Others decide them meanwhile. @param cursor null for the first page */
export function requestsQuery(filter: RequestFilter, cursor: string | null = null) {
  return queryOptions({
    queryKey: [KEY, filter, cursor],
    queryFn: ({ signal }) => request<Page>(PATH, { query: cursor === null ? { ...filter } : { cursor }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { error } }) => retryDelayOf(error) ?? SUMMARY_MS,
  })
}

/** A request as it is now; null if it is not among the user's latest. A user has few open ones, so those are always found. */
export function requestQuery({ id, user_id }: Pick<IncreaseRequest, 'id' | 'user_id'>) {
  return queryOptions({
    queryKey: [KEY, { id, user_id }],
    queryFn: async ({ signal }) => {
      for (const filter of [{ status: 'open' }, { page_size: MAX_PAGE_SIZE }]) {
        const { items } = await request<Page>(PATH, { query: { user_id, ...filter }, signal })
        const found = items.find(one => one.id === id)
        if (found !== undefined) return found
      }
      return null
    },
  })
}

/** What a decision is seen in: the units are on quotas. */
function refetch(queryClient: QueryClient): Promise<unknown> {
  return Promise.all([queryClient.invalidateQueries({ queryKey: [KEY] }), refetchDependents(queryClient)])
}

type Draft = ReturnType<typeof draftOf>

/** Asks for more units. A call without an answer may have taken effect, so the same is asked for as it was, with its key and its end. */
export function useAskForMore() {
  const queryClient = useQueryClient()
  const [calls] = useState(() => new Map<string, { draft: Draft; key: string }>())
  return useMutation({
    /** @param name says which requests are the same */
    mutationFn: async ({ name, draft }: { name: string; draft: Draft }) => {
      const call = calls.get(name) ?? { draft, key: newIdempotencyKey() }
      calls.set(name, call)
      try {
        const body = call.draft
        return await request<IncreaseRequest>('/quota/requests', { method: 'POST', body, idempotencyKey: call.key })
      } catch (error) {
        if (error instanceof ApiProblem && error.status < 500) calls.delete(name)
        throw error
      }
    },
    // Also after an error: it may have been made, and the list says so.
    onSettled: () => refetch(queryClient),
  })
}

/** Takes an own request back. A repetition changes nothing. */
export function useTakeBack(onDone: () => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (id: number) => request<undefined>(`/quota/requests/${id}`, { method: 'DELETE' }),
    onSuccess: onDone,
    onSettled: () => refetch(queryClient),
  })
}

export type Decision = 'approve' | 'decline'

/** Approves or declines a request. A repetition changes nothing; after another decision it is refused. */
export function useDecide(id: number, onDone: (decided: IncreaseRequest) => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ decision, body }: { decision: Decision; body: object }) =>
      request<IncreaseRequest>(`${PATH}/${id}/${decision}`, { method: 'POST', body }),
    onSuccess: onDone,
    onSettled: () => refetch(queryClient),
  })
}
