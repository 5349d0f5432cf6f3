import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { counts } from '../../../src/domain/forecasts/sendable.ts'
import { DAY_MS, HOUR_MS } from '../../../src/domain/time/time.ts'
import type { Input } from '../api/operations.ts'
import type { Api } from '../api/types.ts'
import { comparedPeriod, type Demand, WINDOWS_BEFORE } from '../model/demand.ts'
import { isBlock } from '../model/quota-status.ts'
import { lastDay, type TimeRange, wholeQuarters } from '../model/time-ranges.ts'
import { call } from '../session/client.ts'
import { liveQuotasQuery } from './quota.ts'

type Quota = Api['SmsQuota']
type Interval = Input<'GET /admin/quota/usage'>['query']['interval']
type Group = Api['Usage']['items'][number]

const WINDOW_MS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS, month: 31 * DAY_MS }

/** Null where no report says it: there are reports by country and by message type, and none by both. */
export function demandQuery(quota: Quota) {
  return queryOptions({
    queryKey: ['GET /admin/quota/usage', 'demand', quota.id],
    queryFn: async ({ client, signal }): Promise<Demand | null> => {
      const blocks = quota.kind === 'cap' ? await blocksBeside(quota, client) : []
      const isScopedBy = (scope: 'countries' | 'message_types') => [quota, ...blocks].some(one => one[scope] !== null)
      const [byCountry, byType] = [isScopedBy('countries'), isScopedBy('message_types')]
      if (byCountry && byType) return null
      const group_by = byCountry ? 'country' : byType ? 'message_type' : null
      const read = async (range: TimeRange, interval: Interval): Promise<Group[]> => {
        const query = { user_id: quota.user_id, ...range, interval, time_zone: quota.time_zone, group_by } as const
        const { items } = await call('GET /admin/quota/usage', { query, signal })
        return items.filter(item => isCounted(quota, item) && !blocks.some(block => isCounted(block, item)))
      }
      const now = sumOf(quota, await read(windowOf(quota), 'month'))
      const { window_start } = quota
      const period = comparedPeriod(quota)
      if (period === null) return { ...now, busiest: null, deniedBefore: 0 }
      const from = new Date(Date.parse(window_start) - WINDOWS_BEFORE[period] * WINDOW_MS[period]).toISOString()
      const before = Map.groupBy(await read(wholeQuarters(from, window_start), period), ({ start }) => start)
      const sums = [...before.values()].map(groups => sumOf(quota, groups))
      return {
        ...now,
        busiest: Math.max(0, ...sums.map(({ committed, denied }) => committed + denied)),
        deniedBefore: sums.filter(({ denied }) => denied > 0).length,
      }
    },
    staleTime: 0,
  })
}

/** What other caps block on purpose is no demand that this one could meet. */
async function blocksBeside({ id, user_id }: Quota, client: QueryClient): Promise<Quota[]> {
  const live = await client.fetchQuery(liveQuotasQuery(user_id))
  return live.filter(quota => quota.id !== id && isBlock(quota))
}

function windowOf({ period, window_start, window_end }: Quota): TimeRange {
  return period === null || window_end === null ? lastDay(new Date()) : wholeQuarters(window_start, window_end)
}

function isCounted(quota: Quota, { country = null, message_type = null }: Group): boolean {
  return counts(quota, { country, message_type })
}

function sumOf({ kind }: Quota, groups: readonly Group[]): Pick<Demand, 'committed' | 'denied'> {
  const reason = kind === 'cap' ? 'cap_reached' : 'quota_exhausted'
  const sum = (of: (group: Group) => number) => groups.reduce((total, group) => total + of(group), 0)
  return {
    committed: sum(({ committed }) => committed.units),
    denied: sum(group => group.denied_by_reason[reason].units),
  }
}
