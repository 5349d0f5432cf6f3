import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { LOCAL_ZONE } from '../formats.ts'
import type { ViewedUser } from '../model/addresses.ts'
import { addDays, startOfDayIn } from '../model/local-time.ts'
import { userCountriesOf } from '../model/shares.ts'
import { daysUntilNow } from '../model/time-ranges.ts'
import { requestOfUser } from './user.ts'

export interface UsageReport {
  /** The first and the last day, inclusive. */
  first: string
  last: string
  group_by: string | null
  /** By default the reader's. */
  time_zone?: string
}

/** A user's usage by day of a time zone. */
export function usageQuery(user: ViewedUser, { first, last, group_by, time_zone = LOCAL_ZONE }: UsageReport) {
  const query = {
    from: startOfDayIn(time_zone, first),
    to: startOfDayIn(time_zone, addDays(last, 1)),
    interval: 'day',
    time_zone,
    group_by,
  }
  return queryOptions({
    queryKey: ['usage', user, query],
    queryFn: ({ signal }) => requestOfUser(user, 'usage', query, signal),
    placeholderData: keepPreviousData,
  })
}

/** A user's usage by country, of the last 30 days. */
export function userCountriesQuery(user: ViewedUser) {
  const query = { ...daysUntilNow(29, new Date()), interval: 'month', group_by: 'country' }
  return queryOptions({
    queryKey: ['usage', user, query],
    queryFn: ({ signal }) => requestOfUser(user, 'usage', query, signal),
    select: ({ from, items }) => ({ from, rows: userCountriesOf(items) }),
    placeholderData: keepPreviousData,
  })
}
