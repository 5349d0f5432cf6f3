import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Api } from '../api/types.ts'
import type { ViewedUser } from '../model/addresses.ts'
import type { DenialsState } from '../model/denial-filters.ts'
import { call } from '../session/client.ts'
import { queryOf } from './calls.ts'
import { messagesInterval } from './user.ts'

const PAGE_SIZE = 25

/** The user whose denials a page shows; null for those of all users, which administrators read. */
export type Scope = ViewedUser | null

/** Query options for a page of the denials of a user, newest first. */
export function denialsQuery({ user_id, isOwn }: ViewedUser, { denial: _, ...filters }: DenialsState) {
  const query = { ...filters, page_size: PAGE_SIZE }
  const without = filters.without === 'sender' ? null : filters.without
  return queryOptions({
    queryKey: ['GET /quota/denials', { user_id, isOwn }, query],
    queryFn: ({ signal }) =>
      isOwn
        ? call('GET /quota/denials', { query: { ...query, without }, signal })
        : call('GET /admin/denials', { query: { ...query, user_id }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: messagesInterval,
  })
}

/** Query options for a denial with its explanation. */
export function denialQuery(scope: Scope, denial_id: string) {
  const operation = scope?.isOwn ? 'GET /quota/denials/{denial_id}' : 'GET /admin/denials/{denial_id}'
  return queryOf(operation, { denial_id })
}

/** The user of a denial, as the viewer sees that user. */
export function userOf(scope: Scope, { user_id }: Pick<Api['DenialRecord'], 'user_id'>): ViewedUser {
  return { user_id, isOwn: scope?.isOwn ?? false }
}

/** What pauses and caps denied in the last 24 hours. */
export function ruleDenialsQuery() {
  return { ...queryOf('GET /admin/denials/rules', {}), staleTime: 60_000 }
}
