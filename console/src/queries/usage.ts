import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Input } from '../api/operations.ts'
import { LOCAL_ZONE } from '../formats.ts'
import type { ViewedUser } from '../model/addresses.ts'
import { addDays, startOfDayIn } from '../model/local-time.ts'
import { userCountriesOf } from '../model/shares.ts'
import { daysUntilNow } from '../model/time-ranges.ts'
import { call } from '../session/client.ts'

export interface UsageReport {
  /** The first and the last day, inclusive. */
  first: string
  last: string
  group_by: Input<'GET /quota/usage'>['query']['group_by']
  /** By default the reader's. */
  time_zone?: string
}

/** A user's usage by day of a time zone. */
export function usageQuery(user: ViewedUser, { first, last, group_by, time_zone = LOCAL_ZONE }: UsageReport) {
  return ofUser(user, {
    from: startOfDayIn(time_zone, first),
    to: startOfDayIn(time_zone, addDays(last, 1)),
    interval: 'day',
    time_zone,
    group_by,
  })
}

/** A user's usage by country, of the last 30 days. */
export function userCountriesQuery(user: ViewedUser) {
  return queryOptions({
    ...ofUser(user, { ...daysUntilNow(29, new Date()), interval: 'month', group_by: 'country' }),
    select: ({ from, items }) => ({ from, rows: userCountriesOf(items) }),
  })
}

function ofUser({ user_id, isOwn }: ViewedUser, query: Input<'GET /quota/usage'>['query']) {
  return queryOptions({
    queryKey: ['GET /quota/usage', { user_id, isOwn }, query],
    queryFn: ({ signal }) =>
      isOwn
        ? call('GET /quota/usage', { query, signal })
        : call('GET /admin/quota/usage', { query: { user_id, ...query }, signal }),
    placeholderData: keepPreviousData,
  })
}
