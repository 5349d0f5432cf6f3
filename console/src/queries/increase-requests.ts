import { queryOptions, useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { MAX_PAGE_SIZE } from '../../../src/domain/basics/bounds.ts'
import type { Input } from '../api/operations.ts'
import type { draftOf, IncreaseRequest } from '../model/increase-requests.ts'
import { call } from '../session/client.ts'
import { callOnce, every, pageOf, refetchAfter, type SentCalls } from './calls.ts'
import { SUMMARY_MS } from './user.ts'

/** Users' requests for more units. */

/** A page of users' requests, newest first. Others decide them meanwhile. @param cursor null for the first page */
export function requestsQuery(filter: Input<'GET /admin/requests'>['query'], cursor: string | null = null) {
  return {
    ...pageOf('GET /admin/requests', { query: cursor === null ? filter : { cursor } }),
    refetchInterval: every(SUMMARY_MS),
  }
}

/** A request as it is now; null if it is not among the user's latest. A user has few open ones, so those are always found. */
export function requestQuery({ id, user_id }: Pick<IncreaseRequest, 'id' | 'user_id'>) {
  return queryOptions({
    queryKey: ['GET /admin/requests', { id, user_id }],
    queryFn: async ({ signal }) => {
      for (const filter of [{ status: 'open' }, { page_size: MAX_PAGE_SIZE }] as const) {
        const { items } = await call('GET /admin/requests', { query: { user_id, ...filter }, signal })
        const found = items.find(one => one.id === id)
        if (found !== undefined) return found
      }
      return null
    },
  })
}

type Draft = ReturnType<typeof draftOf>

/** Asks for more units; for the same as it was, with its key and its end. */
export function useAskForMore() {
  const [sent] = useState<SentCalls<Draft>>(() => new Map())
  return useMutation({
    /** @param name says which requests are the same */
    mutationFn: ({ name, draft }: { name: string; draft: Draft }) =>
      callOnce(sent, name, draft, input => call('POST /quota/requests', input)),
    // Also after an error: it may have been made, and the list says so.
    onSettled: () => refetchAfter('POST /quota/requests'),
  })
}
