import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { retryDelayOf } from '../api/problem.ts'
import { queryClient } from '../api/query-client.ts'
import type { Api } from '../api/types.ts'
import { request } from '../session/client.ts'

const NEWEST_QUOTA = ['quotas', 'newest']

/** The quota that was created last; null as long as the service has none. */
export function newestQuotaQuery() {
  return queryOptions({
    queryKey: NEWEST_QUOTA,
    queryFn: async ({ signal }) => {
      const { items } = await request<Api['QuotaPage']>('/admin/quota/list', { query: { page_size: 1 }, signal })
      return items[0] ?? null
    },
  })
}

/** The service checks the values and names what is wrong. */
export interface FirstQuota {
  user_id: number | string
  limit: number | string
  period: 'month'
}

/** @param idempotencyKey makes a repeated request create one quota */
export function createFirstQuota(idempotencyKey: string) {
  return mutationOptions({
    mutationFn: (body: FirstQuota) =>
      request<Api['SmsQuota']>('/admin/quota', { method: 'POST', body, idempotencyKey }),
    onSuccess: quota => {
      queryClient.setQueryData(NEWEST_QUOTA, quota)
      void queryClient.invalidateQueries({ queryKey: ['quotas'] })
    },
  })
}

const POLL_MS = 2_000
/** Ten minutes; then the user asks again. */
const MAX_POLLS = 300

/** The newest message of a user, asked for until there is one. */
export function firstMessageQuery(user_id: number) {
  return queryOptions({
    queryKey: ['reservations', 'first', user_id],
    queryFn: async ({ signal }) => {
      const query = { user_id, page_size: 1 }
      const { items } = await request<Api['ReservationPage']>('/admin/quota/reservations', { query, signal })
      return items[0] ?? null
    },
    refetchInterval: ({ state: { data, error, dataUpdateCount } }) => {
      if (error !== null) return retryDelayOf(error) ?? false
      return data === null && dataUpdateCount < MAX_POLLS ? POLL_MS : false
    },
  })
}
