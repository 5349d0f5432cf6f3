import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Api } from '../api/types.ts'
import { request } from '../session/client.ts'

/** Changes by administrators of what a page is about. */
export interface Changes {
  plans: Api['PlanChange']
  webhooks: Api['WebhookChange']
}

const PAGE_SIZE = 20

export const changesKey = (of: keyof Changes, id: number) => [of, id, 'history']

/** A page of changes, newest first. */
export function changesQuery<Of extends keyof Changes>(of: Of, id: number, cursor: string | null) {
  return queryOptions({
    queryKey: [...changesKey(of, id), cursor],
    queryFn: ({ signal }) =>
      request<{ items: Changes[Of][]; next_cursor: string | null }>(`/admin/${of}/${id}/history`, {
        query: { cursor, page_size: PAGE_SIZE },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
}
