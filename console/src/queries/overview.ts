import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { retryDelayOf } from '../api/problem.ts'
import { LOCAL_ZONE } from '../formats.ts'
import { lastDay, lastHour, type TimeRange, weekBefore } from '../model/time-ranges.ts'
import { blocksAll, type DestinationGroup, type GroupSum, type GroupSums, type TrafficGroup } from '../model/traffic.ts'
import { call } from '../session/client.ts'
import { readAll } from './calls.ts'

/** Refetch interval of the overview, while the tab is visible. */
const OVERVIEW_INTERVAL_MS = 12_000
/** Refetch interval of reports that cost the service more and change less. */
export const SLOW_INTERVAL_MS = 20_000

/** The pause is at least 9 times the duration of the last response, so that reports take at most 10% of the time. */
const PAUSE_FACTOR = 9

/** A query that is refetched while the tab is visible. */
export function useLive<T>(
  queryKey: readonly unknown[],
  read: (signal: AbortSignal) => Promise<T>,
  intervalMs: number,
) {
  const tookMs = useRef(0)
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const startedAt = performance.now()
      const result = await read(signal)
      tookMs.current = performance.now() - startedAt
      return result
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { error } }) =>
      retryDelayOf(error) ?? Math.max(intervalMs, PAUSE_FACTOR * tookMs.current),
  })
}

/** Whether all is well, what needs a decision, the usage of today and the latest events: one call for all of it. */
export function useOverview() {
  const query = { time_zone: LOCAL_ZONE }
  return useLive(
    ['GET /admin/overview'],
    signal => call('GET /admin/overview', { query, signal }),
    OVERVIEW_INTERVAL_MS,
  )
}

/* ── Traffic ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Where messages went in the last 24 hours, and usually go; or who sent them. */
export function useDestinations(group: TrafficGroup) {
  // A new key, and a new report of the week, every hour.
  const before = weekBefore(new Date())
  const usual = useQuery({
    queryKey: ['GET /admin/quota/usage', 'destinations', group, before],
    queryFn: ({ signal }) => readGroups(before, group, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const read = async (signal: AbortSignal) => ({ group, sums: await readGroups(lastDay(new Date()), group, signal) })
  const now = useLive(['GET /admin/quota/usage', 'destinations', group], read, SLOW_INTERVAL_MS)
  return { now, usual: usual.data }
}

/** How fast it goes now: of each destination or sender, what it asked for in the last hour. Read where one is unusual. */
export function useLastHour(group: TrafficGroup) {
  const read = (signal: AbortSignal) => readGroups(lastHour(new Date()), group, signal)
  return useLive(['GET /admin/quota/usage', 'last-hour', group], read, SLOW_INTERVAL_MS)
}

const NONE: GroupSum = { asked: 0, denied: 0, sent: 0, messages: 0, verified: 0 }

async function readGroups(period: TimeRange, group: TrafficGroup, signal: AbortSignal): Promise<GroupSums> {
  const query = { ...period, interval: 'month', group_by: group } as const
  const { items } = await call('GET /admin/quota/usage', { query, signal })
  const sums = new Map<string | null, GroupSum>()
  // Two rows of a group if the period contains the end of a month.
  for (const item of items) {
    const key = item[group] ?? null
    const { asked, denied, sent, messages, verified } = sums.get(key) ?? NONE
    sums.set(key, {
      asked: asked + item.committed.units + item.denied.units,
      denied: denied + item.denied.units,
      sent: sent + item.committed.units,
      messages: messages + item.committed.messages,
      verified: verified + item.verified_messages,
    })
  }
  return sums
}

const BLOCKS_PAGE = 200
const MAX_BLOCK_PAGES = 50

/** The caps of 0 that block all messages to a destination, by user; of more than 10,000, the newest. */
export function useBlocksOfDestination(group: DestinationGroup, key: string) {
  return useQuery({
    queryKey: ['GET /admin/quota/list', 'blocks', group, key],
    queryFn: async ({ signal }) => {
      const filter = { kind: 'cap', status: 'exhausted', [group]: key, sort: '-id' } as const
      const quotas = await readAll(cursor => {
        const query = { ...(cursor === null ? filter : { cursor }), page_size: BLOCKS_PAGE }
        return call('GET /admin/quota/list', { query, signal })
      }, MAX_BLOCK_PAGES)
      return new Map(quotas.filter(quota => blocksAll(group, quota)).map(({ user_id, id }) => [user_id, id]))
    },
  })
}
