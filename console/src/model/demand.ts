import { isSameAnchor } from '../../../src/domain/time/anchor.ts'
import type { Period } from '../../../src/domain/time/period.ts'
import type { Api } from '../api/types.ts'
import { wholeNumber } from './typed.ts'

/** What was asked for of a quota, and the change of its limit that this proposes. */

type Quota = Api['SmsQuota']

/** What was asked for of the messages that a quota counts, in its current window, or in the last 24 hours if it has none. */
export interface Demand {
  committed: number
  /** For the reason of which the quota can be the cause: a cap, or too few units. Each attempt counts. */
  denied: number
  /** The most that was asked for in one of the windows before, as many as `WINDOWS_BEFORE` says; null without such windows. */
  busiest: number | null
  /** In how many of those windows something was denied for that reason; 0 without such windows. */
  deniedBefore: number
}

/** This many windows before the current one show what is usual. */
export const WINDOWS_BEFORE = { hour: 24, day: 7, week: 4, month: 3 } satisfies Partial<Record<Period, number>>

/** A period that is compared with the windows before; of a longer one there are too few. */
export type ComparedPeriod = keyof typeof WINDOWS_BEFORE

const isCompared = (period: Period): period is ComparedPeriod => Object.hasOwn(WINDOWS_BEFORE, period)

/** The period of a quota if its windows are compared with those before; else null. Reports have no months with an anchor. */
export function comparedPeriod({ period, anchor }: Pick<Quota, 'period' | 'anchor'>): ComparedPeriod | null {
  return period !== null && isCompared(period) && isSameAnchor(period, anchor, null) ? period : null
}

/** Whether too little in the current window is an exception: in most of the windows before nothing was denied. */
export function isException(quota: Pick<Quota, 'period' | 'anchor'>, demand: Demand | null): boolean {
  const period = comparedPeriod(quota)
  return demand === null || period === null || demand.deniedBefore <= WINDOWS_BEFORE[period] / 2
}

/** What is granted by the figures that the dialog shows; of a grant, and where nothing resets, by the report. */
export function grantedOf({ kind, period, used, reserved }: Quota, { committed }: Demand): number {
  return kind === 'cap' && period !== null ? (used ?? 0) + (reserved ?? 0) : committed
}

/** Units to add to a limit. */
export interface Proposal {
  amount: number
  /** It allows as much as in the busiest window before, of this period; null: it covers what was denied. */
  busiestOf: ComparedPeriod | null
}

/** As much as in the busiest window before, or what is missing for all that was asked for, if that is more; null: nothing is missing. */
export function proposalOf(quota: Quota, { denied, busiest }: Demand): Proposal | null {
  const { limit, rolled_over, used, reserved } = quota
  if (limit === null || used === null || reserved === null) return null
  const period = comparedPeriod(quota)
  const missing = denied - (limit + rolled_over - used - reserved)
  const upToBusiest = (busiest ?? 0) - limit - rolled_over
  if (period !== null && upToBusiest > Math.max(0, missing)) return { amount: upToBusiest, busiestOf: period }
  return missing > 0 ? { amount: missing, busiestOf: null } : null
}

/** The change of a limit as the user enters it. */
export interface Amount {
  units: string
  isDecrease: boolean
}

/** Amounts add up: "+100" pressed twice is 200. What is no number counts as nothing. @param bound of the caller's role */
export function addedTo(input: Amount, amount: number, bound: number | null): Partial<Amount> {
  const current = deltaOf(input)
  const sum = (typeof current === 'number' ? current : 0) + amount
  const units = Math.min(Math.abs(sum), bound ?? Number.POSITIVE_INFINITY)
  return { units: units === 0 ? '' : String(units), isDecrease: sum < 0 }
}

/** The signed change; invalid input stays a string, which the service rejects with a message. */
export function deltaOf({ units, isDecrease }: Amount): number | string {
  const value = wholeNumber(units)
  return typeof value === 'number' && isDecrease ? -value : value
}
