import { queryOptions } from '@tanstack/react-query'
import { retryDelayOf } from '../api/problem.ts'
import { queryOf } from './calls.ts'

const NEWEST = { query: { page_size: 1 } }

/** The quota that was created last; null as long as the service has none. */
export function newestQuotaQuery() {
  return queryOptions({ ...queryOf('GET /admin/quota/list', NEWEST), select: ({ items }) => items[0] ?? null })
}

const POLL_MS = 2_000
/** Ten minutes; then the user asks again. */
const MAX_POLLS = 300

/** The newest message of a user, asked for until there is one. */
export function firstMessageQuery(user_id: number) {
  return queryOptions({
    ...queryOf('GET /admin/quota/reservations', { query: { user_id, page_size: 1 } }),
    select: ({ items }) => items[0] ?? null,
    refetchInterval: ({ state: { data, error, dataUpdateCount } }) => {
      if (error !== null) return retryDelayOf(error) ?? false
      return data?.items.length === 0 && dataUpdateCount < MAX_POLLS ? POLL_MS : false
    },
  })
}
