import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts'
import { retryDelayOf } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { LOCAL_ZONE } from '../formats.ts'
import type { Blocks } from '../model/blocked-users.ts'
import {
  daysUntilNow,
  lastDay,
  lastHour,
  type TimeRange,
  weekBefore,
  yesterday,
  yesterdayUntilNow,
} from '../model/time-ranges.ts'
import { blocksAll, type DestinationGroup, type GroupSum, type GroupSums, type TrafficGroup } from '../model/traffic.ts'
import { request } from '../session/client.ts'

type Usage = Api['Usage']
type Alert = Api['QuotaAlerts']['items'][number]

/** Refetch interval of figures that change with every message, while the tab is visible. */
const INTERVAL_MS = 3_000
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

/* ── Usage ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Usage of all users today, by hour. */
export function useToday() {
  const read = (signal: AbortSignal) => readHours(daysUntilNow(0, new Date()), signal)
  return useLive(['usage', 'today'], read, INTERVAL_MS)
}

/** Usage of all users in the last 24 hours, by hour: with the denials and their reasons. */
export function useLastDay() {
  const read = (signal: AbortSignal) => readHours(lastDay(new Date()), signal)
  return useLive(['usage', 'last-day'], read, INTERVAL_MS)
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

export const TOP_PERIODS = ['today', 'week'] as const
export type TopPeriod = (typeof TOP_PERIODS)[number]

export function useTopUsers(period: TopPeriod) {
  const read = (signal: AbortSignal) => readTopUsers(daysUntilNow(period === 'today' ? 0 : 6, new Date()), 10, signal)
  return useLive(['usage', 'top', period], read, SLOW_INTERVAL_MS)
}

export function readTopUsers(period: TimeRange, limit: number, signal: AbortSignal): Promise<Api['TopUsers']> {
  return request<Api['TopUsers']>('/admin/quota/usage/top', { query: { ...period, limit }, signal })
}

/* ── Destinations ───────────────────────────────────────────────────────────────────────────────────────────────── */

/** Where messages went in the last 24 hours, and usually go; or who sent them. */
export function useDestinations(group: TrafficGroup) {
  // A new key, and a new report of the week, every hour.
  const before = weekBefore(new Date())
  const usual = useQuery({
    queryKey: ['usage', 'destinations', group, before],
    queryFn: ({ signal }) => readGroups(before, group, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const read = async (signal: AbortSignal) => ({ group, sums: await readGroups(lastDay(new Date()), group, signal) })
  const now = useLive(['usage', 'destinations', group], read, SLOW_INTERVAL_MS)
  return { now, usual: usual.data }
}

/** How fast it goes now: of each destination or sender, what it asked for in the last hour. Read where one is unusual. */
export function useLastHour(group: TrafficGroup) {
  const read = (signal: AbortSignal) => readGroups(lastHour(new Date()), group, signal)
  return useLive(['usage', 'last-hour', group], read, SLOW_INTERVAL_MS)
}

const NONE: GroupSum = { asked: 0, denied: 0, sent: 0, messages: 0, verified: 0 }

async function readGroups(period: TimeRange, group: TrafficGroup, signal: AbortSignal): Promise<GroupSums> {
  const query = { ...period, interval: 'month', group_by: group }
  const { items } = await request<Usage>('/admin/quota/usage', { query, signal })
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
    queryKey: ['quotas', 'blocks', group, key],
    queryFn: async ({ signal }) => {
      const filter = { kind: 'cap', status: 'exhausted', [group]: key }
      const blocks = new Map<number, number>()
      let from: object = { ...filter, sort: '-id' }
      for (let page = 0; page < MAX_BLOCK_PAGES; page++) {
        const query = { ...from, page_size: BLOCKS_PAGE }
        const { items, next_cursor }: Api['QuotaPage'] = await request('/admin/quota/list', { query, signal })
        for (const { user_id, id } of items.filter(quota => blocksAll(group, quota))) blocks.set(user_id, id)
        if (next_cursor === null) break
        from = { cursor: next_cursor }
      }
      return blocks
    },
  })
}

/* ── Quotas and users ───────────────────────────────────────────────────────────────────────────────────────────── */

/** Alerts that a part of the overview reads. */
export const MAX_ALERTS = 20
/** Alerts that the API gives at once. */
const MAX_ALERTS_PER_CALL = 100
const MAX_ALERT_PAGES = 5
const MAX_DENIALS = 100

/** The first alerts below 100%, highest first. */
export function useNearLimit(count: number) {
  return useLive(['alerts', 'near', count], signal => readAlerts(100, signal, count), INTERVAL_MS)
}

export function useBlocks() {
  const read = async (signal: AbortSignal): Promise<Blocks> => {
    const from = new Date(Date.now() - HOUR_MS).toISOString()
    const [alerts, denials] = await Promise.all([
      readAlerts(null, signal),
      request<Api['DenialPage']>('/admin/denials', { query: { from, page_size: MAX_DENIALS }, signal }),
    ])
    const reached = alerts.items.filter(({ percent }) => percent >= 100)
    const hasMore = denials.next_cursor !== null || (alerts.next_cursor !== null && reached.length === MAX_ALERTS)
    return { alerts: reached, denials: denials.items, from, hasMore }
  }
  return useLive(['alerts', 'blocks'], read, INTERVAL_MS)
}

/**
 * The first alerts. Right after many windows have ended, a page can be short because most of what it read no longer holds:
 * then a few further ones are read.
 */
export async function readAlerts(
  below_percent: number | null,
  signal: AbortSignal,
  max = MAX_ALERTS,
): Promise<Api['QuotaAlerts']> {
  const items: Alert[] = []
  let cursor: string | null = null
  for (let page = 0; page < MAX_ALERT_PAGES; page++) {
    const query = { limit: Math.min(max - items.length, MAX_ALERTS_PER_CALL), below_percent, cursor }
    const alerts: Api['QuotaAlerts'] = await request('/admin/quota/alerts', { query, signal })
    items.push(...alerts.items)
    cursor = alerts.next_cursor
    if (cursor === null || items.length === max) break
  }
  return { items, next_cursor: cursor }
}

export const ENDING_DAYS = 7
const MAX_ENDING = 200

/** Quotas that are in use and end this week: of all users, those that end first. */
export function useEnding() {
  const read = (signal: AbortSignal) => {
    const now = Date.now()
    const query = {
      status: 'active',
      sort: 'expires_at',
      expires_after: new Date(now).toISOString(),
      expires_before: new Date(now + ENDING_DAYS * DAY_MS).toISOString(),
      page_size: MAX_ENDING,
    }
    return request<Api['QuotaPage']>('/admin/quota/list', { query, signal })
  }
  return useLive(['quotas', 'ending'], read, SLOW_INTERVAL_MS)
}

/* ── Webhooks ───────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Webhooks whose deliveries fail, or that the service has disabled because they did. */
export function useFailingWebhooks() {
  const read = async (signal: AbortSignal) => {
    const { items } = await request<Api['WebhookList']>('/admin/webhooks', { signal })
    return items.filter(({ failing_since, disabled_reason }) => failing_since !== null || disabled_reason !== null)
  }
  return useLive(['webhooks', 'failing'], read, SLOW_INTERVAL_MS)
}
