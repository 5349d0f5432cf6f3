import { queryOptions } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/basics/bounds.ts'
import { retryDelayOf } from '../api/problem.ts'
import { untilNextWindow } from '../model/next-window.ts'
import { call } from '../session/client.ts'
import { queryOf } from './calls.ts'

/** One quota: what its page, forms and dialogs read. */

export function quotaQuery(id: number) {
  return queryOptions({
    ...queryOf('GET /admin/quota/{id}', { id }),
    refetchInterval: ({ state: { data, error } }) =>
      retryDelayOf(error) ?? untilNextWindow(data === undefined ? [] : [data], Date.now()),
  })
}

/** The live quotas of a user. One page has them all: a user has at most 200 unexpired quotas. */
export function liveQuotasQuery(user_id: number) {
  return queryOptions({
    queryKey: ['GET /admin/quota/list', { liveOf: user_id }],
    queryFn: async ({ signal }) => {
      const list = (status: 'active' | 'exhausted') =>
        call('GET /admin/quota/list', { query: { user_id, status, page_size: MAX_PAGE_SIZE }, signal })
      const pages = await Promise.all([list('active'), list('exhausted')])
      return pages.flatMap(({ items }) => items)
    },
    // It answers what a change would do now.
    staleTime: 0,
  })
}
