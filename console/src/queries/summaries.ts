import { useQueries } from '@tanstack/react-query'
import { request } from '../api/client.ts'
import type { Api } from '../api/types.ts'
import { SLOW_INTERVAL_MS, useLive } from './overview.ts'

const MAX_SUMMARIES = 20

/**
 * The summaries of the first of these users, by user, read one after the other. A user who is new to the list is read at once, and
 * `loading` until then. The keys are none that events invalidate.
 *
 * @param list whose users they are
 */
export function useSummaries(list: 'blocked' | 'near', ids: readonly number[], max = MAX_SUMMARIES) {
  const first = ids.slice(0, max)
  const read = async (signal: AbortSignal) => {
    const summaries = await readSummaries(first, signal)
    return new Map(summaries.map(summary => [summary.user_id, summary]))
  }
  // A list that has become longer by a page is read anew.
  const { data, isPending, isPlaceholderData } = useLive(
    ['sending', list, Math.ceil(first.length / MAX_SUMMARIES)],
    read,
    SLOW_INTERVAL_MS,
  )
  const added = isPlaceholderData ? [] : first.filter(user_id => data?.has(user_id) === false)
  const further = useQueries({
    queries: added.map(user_id => ({
      queryKey: ['sending', list, 'added', user_id],
      queryFn: ({ signal }: { signal: AbortSignal }) => readSummaries([user_id], signal),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
    })),
  })
  const found = further.flatMap(query => query.data ?? [])
  return {
    isPending,
    data: new Map([...found.map(summary => [summary.user_id, summary] as const), ...(data ?? [])]),
    loading: new Set(added.filter((_, index) => further[index]?.isLoading)),
  }
}

export async function readSummaries(ids: Iterable<number>, signal: AbortSignal): Promise<Api['QuotaSummary'][]> {
  const summaries: Api['QuotaSummary'][] = []
  for (const user_id of ids) {
    summaries.push(await request<Api['QuotaSummary']>('/admin/quota/summary', { query: { user_id }, signal }))
  }
  return summaries
}
