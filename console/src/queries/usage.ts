import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { LOCAL_ZONE } from '../formats.ts'
import type { ViewedUser } from '../model/addresses.ts'
import { addDays, startOfDay } from '../model/local-time.ts'
import { requestOfUser } from './user.ts'

export interface UsageReport {
  /** The first and the last day, inclusive. */
  first: string
  last: string
  group_by: string | null
}

/** A user's usage by day of the reader's time zone. */
export function usageQuery(user: ViewedUser, { first, last, group_by }: UsageReport) {
  const query = {
    from: startOfDay(first),
    to: startOfDay(addDays(last, 1)),
    interval: 'day',
    time_zone: LOCAL_ZONE,
    group_by,
  }
  return queryOptions({
    queryKey: ['usage', user, query],
    queryFn: ({ signal }) => requestOfUser(user, 'usage', query, signal),
    placeholderData: keepPreviousData,
  })
}
