import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { untilNextWindow } from '../model/next-window.ts'
import { type Filters, filterOf, type ListState } from '../model/quota-lists.ts'
import { call } from '../session/client.ts'
import { pageOf } from './calls.ts'
import type { Export } from './csv-file.ts'

/** A page of the list of all quotas. */
export const quotaListQuery = (state: ListState) =>
  queryOptions({
    queryKey: ['GET /admin/quota/list', state],
    queryFn: ({ signal }) => {
      const { sort, page, page_size, cursor } = state
      // A cursor fixes the filters, so they are not repeated: the end of a week has moved since the first page.
      const query = cursor === null ? { ...filterOf(state, Date.now()), sort, page, page_size } : { cursor, page_size }
      return call('GET /admin/quota/list', { query, signal })
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data, error } }) =>
      retryDelayOf(error) ?? untilNextWindow(data?.items ?? [], Date.now()),
  })

/** Users whose id, reference or name begins so; at most 20. */
export const userSearchQuery = (q: string) => ({
  ...pageOf('GET /admin/search', { query: { q } }),
  select: ({ users, has_more }: Api['SearchResult']) => ({ users, hasMore: has_more.users }),
})

/** Loads the export when it is begun. */
export const exportQuotas: Export<Filters> = async (...given) =>
  (await import('./many-quotas.ts')).exportToFile(...given)
