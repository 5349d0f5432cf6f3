import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { SearchResult } from '../../../src/contract/search.ts'
import { retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { untilNextWindow } from '../model/next-window.ts'
import { type Filters, filterOf, type ListState } from '../model/quota-lists.ts'
import { request } from '../session/client.ts'
import type { Save } from './csv-file.ts'

/** Every list of quotas begins its key so. */
const QUOTAS = 'quotas'

/** A page of the list of all quotas. Keeps the previous rows until the next page is loaded. */
export const quotaListQuery = (state: ListState) =>
  queryOptions({
    queryKey: [QUOTAS, state],
    queryFn: ({ signal }) => {
      const { sort, page, page_size, cursor } = state
      // A cursor fixes the filters, so they are not repeated: the end of a week has moved since the first page.
      const query = cursor === null ? { ...filterOf(state, Date.now()), sort, page, page_size } : { cursor, page_size }
      return request<Api['QuotaPage']>('/admin/quota/list', { query, signal })
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data, error } }) =>
      retryDelayOf(error) ?? untilNextWindow(data?.items ?? [], Date.now()),
  })

/** Users whose id, reference or name begins so; at most 20. */
export const userSearchQuery = (text: string) =>
  queryOptions({
    queryKey: ['users', 'search', text],
    queryFn: ({ signal }) => request<SearchResult>('/admin/search', { query: { q: text }, signal }),
    select: ({ users, has_more }: SearchResult) => ({ users, hasMore: has_more.users }),
    placeholderData: keepPreviousData,
  })

/** Writes all quotas that match filters to a file of CSV. @param onCount gets how many have been read */
export async function exportQuotas(
  filters: Filters,
  signal: AbortSignal,
  onCount: (count: number) => void,
  save: Save,
): Promise<void> {
  const { exportToFile } = await import('./many-quotas.ts')
  await exportToFile(filters, signal, onCount, save)
}
