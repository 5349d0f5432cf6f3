import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Api } from '../api/types.ts'
import type { ViewedUser } from '../model/addresses.ts'
import type { DenialsState } from '../model/denial-filters.ts'
import { request } from '../session/client.ts'
import { messagesInterval } from './user.ts'

const PAGE_SIZE = 25

/** The user whose denials a page shows; null for those of all users, which administrators read. */
export type Scope = ViewedUser | null

const pathOf = (scope: Scope) => (scope?.isOwn ? '/quota/denials' : '/admin/denials')

/** Query options for a page of the denials of a user, newest first. */
export function denialsQuery(user: ViewedUser, { denial: _, ...filters }: DenialsState) {
  // The user's own endpoint knows the user from the token.
  const query = { ...filters, user_id: user.isOwn ? null : user.user_id, page_size: PAGE_SIZE }
  return {
    queryKey: ['denials', user, query],
    queryFn: ({ signal }: { signal: AbortSignal }) => request<Api['DenialPage']>(pathOf(user), { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: messagesInterval,
  }
}

/** Query options for a denial with its explanation. */
export function denialQuery(scope: Scope, denialId: string) {
  const path = `${pathOf(scope)}/${denialId}`
  return {
    queryKey: ['denials', path],
    queryFn: ({ signal }: { signal: AbortSignal }) => request<Api['DenialDetail']>(path, { signal }),
  }
}

/** Query options for the messages of all users whose id begins with this. Only reservations are found, not denials. */
export function messageSearchQuery(id: string) {
  return {
    queryKey: ['reservations', 'search', id],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      request<Api['SearchResult']>('/admin/search', { query: { q: id }, signal }),
  }
}

/** The user of a denial, as the viewer sees that user. */
export function userOf(scope: Scope, { user_id }: Pick<Api['DenialRecord'], 'user_id'>): ViewedUser {
  return { user_id, isOwn: scope?.isOwn ?? false }
}

/** What pauses and caps denied in the last 24 hours. */
export function ruleDenialsQuery() {
  return queryOptions({
    queryKey: ['denials', 'rules'],
    queryFn: ({ signal }) => request<Api['RuleDenials']>('/admin/denials/rules', { signal }),
    staleTime: 60_000,
  })
}
