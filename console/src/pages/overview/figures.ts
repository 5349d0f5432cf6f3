import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { request } from '../../api/client.ts'
import { retryDelayOf } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { daysUntilNow, lastHour, midnight, VIEWERS_ZONE, yesterdayUntilNow } from './periods.ts'

type Usage = Api['Usage']

/** How often what changes with every message is read, while the tab is seen. */
const EVERY_MS = 3_000
/** The same of what costs the service more, and changes less. */
const SLOWLY_MS = 20_000

/** As many of those who are about to run out are shown. */
export const MOST_ALERTS = 20

export const TOP_PERIODS = ['today', 'week'] as const
export type TopPeriod = (typeof TOP_PERIODS)[number]

const live = (everyMs: number) => ({
  refetchInterval: ({ state: { error } }: { state: { error: Error | null } }) => retryDelayOf(error) ?? everyMs,
})

/** Usage of all users by the hours of yesterday and today. */
export function useHours() {
  return useQuery({
    queryKey: ['usage', 'hours'],
    queryFn: async ({ signal }) => {
      const now = new Date()
      const query = { ...daysUntilNow(1, now), interval: 'hour', time_zone: VIEWERS_ZONE }
      const { items } = await request<Usage>('/admin/quota/usage', { query, signal })
      const isToday = ({ start }: { start: string }) => Date.parse(start) >= midnight(now).getTime()
      return { today: items.filter(isToday), yesterday: items.filter(hour => !isToday(hour)) }
    },
    ...live(EVERY_MS),
  })
}

/** What had been used yesterday by this time of the day. It changes no more, but for each quarter of an hour. */
export function useYesterday(now: Date) {
  const period = yesterdayUntilNow(now)
  return useQuery({
    queryKey: ['usage', 'yesterday', period],
    queryFn: ({ signal }) => request<Usage>('/admin/quota/usage', { query: { ...period, interval: 'month' }, signal }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function useLastHour() {
  return useQuery({
    queryKey: ['usage', 'last-hour'],
    queryFn: ({ signal }) =>
      request<Usage>('/admin/quota/usage', { query: { ...lastHour(new Date()), interval: 'month' }, signal }),
    ...live(EVERY_MS),
  })
}

export function useTopUsers(period: TopPeriod) {
  return useQuery({
    queryKey: ['usage', 'top', period],
    queryFn: ({ signal }) => {
      const query = { ...daysUntilNow(period === 'today' ? 0 : 6, new Date()), limit: 10 }
      return request<Api['TopUsers']>('/admin/quota/usage/top', { query, signal })
    },
    placeholderData: keepPreviousData,
    ...live(SLOWLY_MS),
  })
}

export function useAlerts() {
  return useQuery({
    queryKey: ['alerts'],
    queryFn: ({ signal }) =>
      request<Api['QuotaAlerts']>('/admin/quota/alerts', { query: { limit: MOST_ALERTS }, signal }),
    ...live(EVERY_MS),
  })
}
