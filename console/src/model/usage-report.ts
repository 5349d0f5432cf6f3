import type { Api } from '../api/types.ts'
import { addDays, dayIn } from './local-time.ts'
import { day, oneOf, type StateOf } from './url-parameters.ts'

/** A counted quantity of units and messages. */
export type Measure = Exclude<
  keyof Api['Usage']['total'],
  'denied_by_reason' | 'committed_segments' | 'verified_messages'
>

export const MEASURES = ['committed', 'refunded', 'denied', 'unfunded'] as const satisfies readonly Measure[]
export const GROUPS = ['country', 'message_type', 'quota'] as const
export type Group = (typeof GROUPS)[number]
export const DAYS = ['7', '30', '90'] as const
/** From the first of a month. */
export const THIS_MONTH = 'month'
export const PERIODS = [...DAYS, THIS_MONTH] as const

/** URL state of the usage report. A custom period (`from`, `to`) takes precedence over `days`. */
export const USAGE_STATE = {
  days: oneOf(PERIODS, '30'),
  from: day,
  to: day,
  measure: oneOf(MEASURES, 'committed'),
  group_by: oneOf(GROUPS, null),
  as: oneOf(['chart', 'table'], 'chart'),
}
export type UsageState = StateOf<typeof USAGE_STATE>

/** The first and last shown day, inclusive. */
export interface Period {
  first: string
  last: string
}

/** @param now the time of the service; its day in the time zone is the last one unless `to` is set */
export function periodOf({ days, from, to }: UsageState, now: string, timeZone: string): Period {
  const last = to ?? dayIn(timeZone, now)
  const first = days === THIS_MONTH ? `${last.slice(0, 7)}-01` : addDays(last, 1 - Number(days))
  return { first: from ?? first, last }
}

/** How a report is grouped. While it is stale, it may have the grouping before. */
export function shownGroup({ items }: Api['Usage'], wanted: Group | null): Group | null {
  const [item] = items
  if (item === undefined) return wanted
  if (item.country !== undefined) return 'country'
  if (item.message_type !== undefined) return 'message_type'
  return item.quota_id === undefined ? null : 'quota'
}

type Cap = Api['QuotaSummary']['caps'][number]

/** The cap by the day that stops all messages first; its days are those of the chart. Undefined: there is none. */
export function dailyCapOf({ caps }: Pick<Api['QuotaSummary'], 'caps'>): (Cap & { limit: number }) | undefined {
  return caps
    .flatMap(cap => (cap.limit === null ? [] : [{ ...cap, limit: cap.limit }]))
    .filter(({ period, counts }) => period === 'day' && counts === 'units')
    .filter(({ countries, message_types }) => countries === null && message_types === null)
    .toSorted((one, other) => one.limit - other.limit)[0]
}
