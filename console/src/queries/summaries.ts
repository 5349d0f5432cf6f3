import { useQueries } from '@tanstack/react-query'
import type { Api } from '../api/types.ts'
import { request } from '../session/client.ts'
import { SLOW_INTERVAL_MS, useLive } from './overview.ts'

/** A list that grows by this many users is read anew. */
const STEP = 20
/** Summaries that are read at the same time. */
const LANES = 4

/**
 * The summaries of these users, by user. A user who is new to the list is read at once, and `loading` until then. The keys are none that events invalidate.
 *
 * @param list whose users they are
 */
export function useSummaries(list: 'blocked' | 'near', ids: readonly number[]) {
  const read = async (signal: AbortSignal) => {
    const summaries = await readSummaries(ids, signal)
    return new Map(summaries.map(summary => [summary.user_id, summary]))
  }
  // A list that has become longer by a page is read anew.
  const { data, isPending, isPlaceholderData } = useLive(
    ['sending', list, Math.ceil(ids.length / STEP)],
    read,
    SLOW_INTERVAL_MS,
  )
  const added = isPlaceholderData ? [] : ids.filter(user_id => data?.has(user_id) === false)
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

/** In the order in which the service answers. */
export async function readSummaries(ids: readonly number[], signal: AbortSignal): Promise<Api['QuotaSummary'][]> {
  const summaries: Api['QuotaSummary'][] = []
  const rest = ids.values()
  const lane = async () => {
    for (const user_id of rest)
      summaries.push(await request<Api['QuotaSummary']>('/admin/quota/summary', { query: { user_id }, signal }))
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return summaries
}
