import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { request } from '../../api/client.ts'
import { retryDelayOf } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { daysUntilNow, lastHour, type Stretch, VIEWERS_ZONE, yesterday, yesterdayUntilNow } from './periods.ts'

type Usage = Api['Usage']

/** How often what changes with every message is read, while the tab is seen. */
const EVERY_MS = 3_000
/** The same of what costs the service more, and changes less. */
const SLOWLY_MS = 20_000

/** As many of those who are about to run out are shown. */
export const MAX_ALERTS = 20

export const TOP_PERIODS = ['today', 'week'] as const
export type TopPeriod = (typeof TOP_PERIODS)[number]

/** Nine times as long as an answer took nothing is asked: on a large platform a report of all users costs the service. */
const REST = 9

/** Reads something again and again, while the tab is seen. */
function useLive<T>(queryKey: readonly unknown[], read: (signal: AbortSignal) => Promise<T>, everyMs: number) {
  const tookMs = useRef(0)
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const begun = performance.now()
      const answer = await read(signal)
      tookMs.current = performance.now() - begun
      return answer
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { error } }) => retryDelayOf(error) ?? Math.max(everyMs, REST * tookMs.current),
  })
}

/** Usage of all users by the hours of today. */
export function useToday() {
  const read = (signal: AbortSignal) => readHours(daysUntilNow(0, new Date()), signal)
  return useLive(['usage', 'today'], read, EVERY_MS)
}

/** The same of yesterday, which changes no more. */
export function useYesterday(now: Date) {
  const period = yesterday(now)
  return useQuery({
    queryKey: ['usage', 'hours', period],
    queryFn: ({ signal }) => readHours(period, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

function readHours(period: Stretch, signal: AbortSignal): Promise<Usage> {
  const query = { ...period, interval: 'hour', time_zone: VIEWERS_ZONE }
  return request<Usage>('/admin/quota/usage', { query, signal })
}

/** What had been used yesterday by this time of the day. It changes no more, but for each quarter of an hour. */
export function useYesterdayUntilNow(now: Date) {
  const period = yesterdayUntilNow(now)
  return useQuery({
    queryKey: ['usage', 'yesterday', period],
    queryFn: ({ signal }) => request<Usage>('/admin/quota/usage', { query: { ...period, interval: 'month' }, signal }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function useLastHour() {
  const read = (signal: AbortSignal) =>
    request<Usage>('/admin/quota/usage', { query: { ...lastHour(new Date()), interval: 'month' }, signal })
  return useLive(['usage', 'last-hour'], read, EVERY_MS)
}

export function useTopUsers(period: TopPeriod) {
  const read = (signal: AbortSignal) => {
    const query = { ...daysUntilNow(period === 'today' ? 0 : 6, new Date()), limit: 10 }
    return request<Api['TopUsers']>('/admin/quota/usage/top', { query, signal })
  }
  return useLive(['usage', 'top', period], read, SLOWLY_MS)
}

export function useAlerts() {
  const read = (signal: AbortSignal) =>
    request<Api['QuotaAlerts']>('/admin/quota/alerts', { query: { limit: MAX_ALERTS }, signal })
  return useLive(['alerts'], read, EVERY_MS)
}
