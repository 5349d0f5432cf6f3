import type { Api } from '../../api/types.ts'
import { day, oneOf, type StateOf } from '../url-state.ts'
import { addDays, dayOf } from './days.ts'

/** What can be counted. */
export type Measure = keyof Api['Usage']['total']

export const MEASURES = ['committed', 'refunded', 'denied', 'unfunded'] as const satisfies readonly Measure[]
export const GROUPS = ['country', 'message_type', 'quota'] as const
export type Group = (typeof GROUPS)[number]

/** What a report of usage shows, and how. A period of its own (`from`, `to`) goes before a number of days. */
export const USAGE_STATE = {
  days: oneOf(['7', '30', '90'], '90'),
  from: day,
  to: day,
  measure: oneOf(MEASURES, 'committed'),
  group_by: oneOf(GROUPS, null),
  as: oneOf(['chart', 'table'], 'chart'),
}
export type UsageState = StateOf<typeof USAGE_STATE>

/** The first and the last day that are shown, both included. */
export interface Period {
  first: string
  last: string
}

/** @param now the moment the service believes it is: whose day is the last one unless another is named */
export function periodOf({ days, from, to }: UsageState, now: string): Period {
  const last = to ?? dayOf(now)
  return { first: from ?? addDays(last, 1 - Number(days)), last }
}
