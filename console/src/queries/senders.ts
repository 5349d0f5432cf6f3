import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { ApiProblem } from '../api/problem.ts'
import { type DestinationUsers, destinationUsersOf, type SenderPeriod, senderRange } from '../model/shares.ts'
import type { DestinationGroup } from '../model/traffic.ts'
import { call } from '../session/client.ts'
import { SLOW_INTERVAL_MS, useLive } from './overview.ts'

/** The most users of a list of the top ones. */
const TOP = 100

/** Who sent to a destination or was denied there, most first: all of them, or of very many the top ones. */
export function usersOfDestinationQuery(group: DestinationGroup, key: string, period: SenderPeriod) {
  return queryOptions({
    queryKey: ['GET /admin/quota/usage', 'users-of-destination', group, key, period],
    queryFn: async ({ signal }): Promise<DestinationUsers> => {
      const query = { ...senderRange(period, new Date()), [group]: key }
      const usage = { ...query, interval: 'month' } as const
      try {
        const byUser = { ...usage, group_by: 'user' } as const
        const { items } = await call('GET /admin/quota/usage', { query: byUser, signal })
        return destinationUsersOf(items, null)
      } catch (error) {
        if (!isTooLarge(error)) throw error
      }
      const [top, { total }] = await Promise.all([
        call('GET /admin/quota/usage/top', { query: { ...query, limit: TOP }, signal }),
        call('GET /admin/quota/usage', { query: usage, signal }),
      ])
      return destinationUsersOf(top.items, { total: total.committed.units, most: top.unlisted_up_to })
    },
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
}

/** The users with the most units of a period, and what all sent. */
export function useTopUsers(period: SenderPeriod) {
  const read = async (signal: AbortSignal) => {
    const range = senderRange(period, new Date())
    const [top, { total }] = await Promise.all([
      call('GET /admin/quota/usage/top', { query: { ...range, limit: 10 }, signal }),
      call('GET /admin/quota/usage', { query: { ...range, interval: 'month' } as const, signal }),
    ])
    const { users } = destinationUsersOf(top.items, { total: total.committed.units, most: top.unlisted_up_to })
    return { from: range.from, users: users.toSorted((one, other) => other.sent - one.sent) }
  }
  return useLive(['GET /admin/quota/usage', 'top', period], read, SLOW_INTERVAL_MS)
}

/** Whether the service refused a report because it would have too many rows, or read too many. */
function isTooLarge(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 400 && error.issues.some(({ path }) => path === 'group_by')
}
