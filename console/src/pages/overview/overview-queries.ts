import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { request } from '../../api/client.ts'
import { retryDelayOf } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { LOCAL_ZONE } from '../../formats.ts'
import { daysUntilNow, lastHour, type TimeRange, yesterday, yesterdayUntilNow } from './time-ranges.ts'

type Usage = Api['Usage']

/** Refetch interval of figures that change with every message, while the tab is visible. */
const INTERVAL_MS = 3_000
/** Refetch interval of reports that cost the service more and change less. */
const SLOW_INTERVAL_MS = 20_000

/** Alerts shown on the overview. */
const MAX_ALERTS = 20
const MAX_ALERT_PAGES = 5

export const TOP_PERIODS = ['today', 'week'] as const
export type TopPeriod = (typeof TOP_PERIODS)[number]

/** The pause is at least 9 times the duration of the last response, so that reports take at most 10% of the time. */
const PAUSE_FACTOR = 9

/** A query that is refetched while the tab is visible. */
function useLive<T>(queryKey: readonly unknown[], read: (signal: AbortSignal) => Promise<T>, intervalMs: number) {
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

/** Usage of all users today, by hour. */
export function useToday() {
  const read = (signal: AbortSignal) => readHours(daysUntilNow(0, new Date()), signal)
  return useLive(['usage', 'today'], read, INTERVAL_MS)
}

/** Usage of all users yesterday, by hour. It no longer changes. */
export function useYesterday(now: Date) {
  const period = yesterday(now)
  return useQuery({
    queryKey: ['usage', 'hours', period],
    queryFn: ({ signal }) => readHours(period, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

function readHours(period: TimeRange, signal: AbortSignal): Promise<Usage> {
  const query = { ...period, interval: 'hour', time_zone: LOCAL_ZONE }
  return request<Usage>('/admin/quota/usage', { query, signal })
}

/** Usage until this time yesterday. Its key changes every 15 minutes. */
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
  return useLive(['usage', 'last-hour'], read, INTERVAL_MS)
}

export function useTopUsers(period: TopPeriod) {
  const read = (signal: AbortSignal) => {
    const query = { ...daysUntilNow(period === 'today' ? 0 : 6, new Date()), limit: 10 }
    return request<Api['TopUsers']>('/admin/quota/usage/top', { query, signal })
  }
  return useLive(['usage', 'top', period], read, SLOW_INTERVAL_MS)
}

/**
 * The first alerts. Right after many windows have ended, a page can be short because most of what it read no longer holds:
 * then a few further ones are read.
 */
async function readAlerts(signal: AbortSignal): Promise<Api['QuotaAlerts']> {
  const items: Api['QuotaAlerts']['items'] = []
  let cursor: string | null = null
  for (let page = 0; page < MAX_ALERT_PAGES; page++) {
    const query = { limit: MAX_ALERTS - items.length, cursor }
    const alerts: Api['QuotaAlerts'] = await request('/admin/quota/alerts', { query, signal })
    items.push(...alerts.items)
    cursor = alerts.next_cursor
    if (cursor === null || items.length === MAX_ALERTS) break
  }
  return { items, next_cursor: cursor }
}

export function useAlerts() {
  return useLive(['alerts'], readAlerts, INTERVAL_MS)
}
