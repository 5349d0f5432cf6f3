import { useQuery } from '@tanstack/react-query'
import { ApiProblem } from '../api/problem.ts'
import type { Api } from '../api/types.ts'
import { lastDay } from '../model/time-ranges.ts'
import type { DestinationGroup } from '../model/traffic.ts'
import { type DestinationUsers, usersOf } from '../model/traffic.ts'
import { request } from '../session/client.ts'

/** The most users of a list of the top ones. */
const TOP = 100

/** Who sent to a destination in the last 24 hours or was denied there, most first: all of them, or of very many the top ones. */
export function useUsersOfDestination(group: DestinationGroup, key: string) {
  return useQuery({
    queryKey: ['usage', 'users-of-destination', group, key],
    queryFn: async ({ signal }): Promise<DestinationUsers> => {
      const query = { ...lastDay(new Date()), [group]: key }
      const usage = { ...query, interval: 'month' }
      try {
        const byUser = { ...usage, group_by: 'user' }
        const { items } = await request<Api['Usage']>('/admin/quota/usage', { query: byUser, signal })
        return { users: usersOf(items), others: null }
      } catch (error) {
        if (!isTooLarge(error)) throw error
      }
      const [top, { total }] = await Promise.all([
        request<Api['TopUsers']>('/admin/quota/usage/top', { query: { ...query, limit: TOP }, signal }),
        request<Api['Usage']>('/admin/quota/usage', { query: usage, signal }),
      ])
      const users = usersOf(top.items)
      const listed = users.reduce((units, { sent }) => units + sent, 0)
      return { users, others: { sent: Math.max(0, total.committed.units - listed), most: top.unlisted_up_to } }
    },
    staleTime: 60_000,
  })
}

/** Whether the service refused a report because it would have too many rows, or read too many. */
function isTooLarge(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 400 && error.issues.some(({ path }) => path === 'group_by')
}
