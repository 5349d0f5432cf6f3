import { keepPreviousData } from '@tanstack/react-query'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import type { ViewedUser } from '../user/viewed-user.ts'
import type { DenialsState } from './denials-state.ts'

const PAGE_SIZE = 25

/** The user whose denials are shown; null for those of all users, which administrators read. */
export type Scope = ViewedUser | null

const pathOf = (scope: Scope) => (scope?.isOwn ? '/quota/denials' : '/admin/denials')

/** Query options for a page of denials, newest first. */
export function denialsQuery(scope: Scope, { reason, id, cursor }: DenialsState) {
  // The user's own endpoint knows the user from the token.
  const user_id = scope?.isOwn ? null : scope?.user_id
  const query = { user_id, reason, id, cursor, page_size: PAGE_SIZE }
  return {
    queryKey: ['denials', scope, query],
    queryFn: ({ signal }: { signal: AbortSignal }) => request<Api['DenialPage']>(pathOf(scope), { query, signal }),
    placeholderData: keepPreviousData,
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

/** The user of a denial, as the viewer sees that user. */
export function userOf(scope: Scope, { user_id }: Pick<Api['DenialRecord'], 'user_id'>): ViewedUser {
  return { user_id, isOwn: scope?.isOwn ?? false }
}
