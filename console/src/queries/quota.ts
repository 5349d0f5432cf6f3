import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/bounds.ts'
import { retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { untilNextWindow } from '../model/next-window.ts'
import { request } from '../session/client.ts'

/** One quota: what its page, forms and dialogs read. */

type Quota = Api['SmsQuota']

/** The first elements of the query keys whose data depends on quotas. */
const DEPENDENT_KEYS = ['quotas', 'summary', 'overview', 'audit', 'plan-of-user']

/** Reads again what a change of a quota affects, on any page. */
export function refetchDependents(queryClient: QueryClient): Promise<unknown> {
  return Promise.all(DEPENDENT_KEYS.map(key => queryClient.invalidateQueries({ queryKey: [key] })))
}

export function quotaQuery(id: number) {
  return queryOptions({
    queryKey: ['quotas', id],
    queryFn: ({ signal }) => request<Quota>(`/admin/quota/${id}`, { signal }),
    refetchInterval: ({ state: { data, error } }) =>
      retryDelayOf(error) ?? untilNextWindow(data === undefined ? [] : [data], Date.now()),
  })
}

/** A page of the changes of a quota, newest first. @param cursor null for the first page */
export function historyQuery(id: number, cursor: string | null) {
  return queryOptions({
    queryKey: ['quotas', id, 'history', cursor],
    queryFn: ({ signal }) => request<Api['QuotaHistory']>(`/admin/quota/${id}/history`, { query: { cursor }, signal }),
    placeholderData: keepPreviousData,
  })
}

/** A page of the past windows of a quota, newest first. @param cursor null for the first page */
export function windowsQuery(id: number, cursor: string | null) {
  return queryOptions({
    queryKey: ['quotas', id, 'windows', cursor],
    queryFn: ({ signal }) =>
      request<Api['QuotaWindowPage']>(`/admin/quota/${id}/windows`, { query: { cursor }, signal }),
    placeholderData: keepPreviousData,
  })
}

/** The live quotas of a user. One page has them all: a user has at most 200 unexpired quotas. */
export function liveQuotasQuery(userId: number) {
  const list = (status: string, signal: AbortSignal) =>
    request<Api['QuotaPage']>('/admin/quota/list', {
      query: { user_id: userId, status, page_size: MAX_PAGE_SIZE },
      signal,
    })
  return queryOptions({
    queryKey: ['quotas', { liveOf: userId }],
    queryFn: async ({ signal }): Promise<Quota[]> => {
      const pages = await Promise.all(['active', 'exhausted'].map(status => list(status, signal)))
      return pages.flatMap(({ items }) => items)
    },
    // It answers what a change would do now.
    staleTime: 0,
  })
}
