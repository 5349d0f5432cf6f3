import { COMMON_PERIODS, type Period } from '../../../src/domain/time/period.ts'
import type { Api } from '../api/types.ts'
import { wholeNumber } from './typed.ts'

/** What the user has chosen about the units that the users of a file get. */

/** Which grant of each user gets the units: the one with this period, or the one-time one. */
export type Which = Period | 'once'
export const WHICH: readonly Which[] = [...COMMON_PERIODS, 'once']

export const periodOf = ({ period }: Pick<Api['GiftQuota'], 'period'>): Which => period ?? 'once'

/** When units on a one-time grant end: with the calendar month, or with the grant. */
export const ONCE_ENDS = ['pack', 'month'] as const
export type OnceEnd = (typeof ONCE_ENDS)[number]

export interface GiveInput {
  /** For lines without units of their own. */
  units: string
  which: Which
  isThisWindowOnly: boolean
  /** When units on a one-time grant end; null if not chosen: as `isThisWindowOnly` means. */
  onceEnd: OnceEnd | null
  /** Where the calendar month ends; null for the zone that the service finds. */
  monthZone: string | null
  reason: string
}

export function onceEndOf({ isThisWindowOnly, onceEnd }: GiveInput): OnceEnd {
  return onceEnd ?? (isThisWindowOnly ? 'month' : 'pack')
}

/** Whether the units are a grant of their own, which a repeated file does not give twice. */
export function addsGrant({ which, isThisWindowOnly }: GiveInput): boolean {
  return which === 'once' || isThisWindowOnly
}

/** Units as the API gives them. */
export function giftRequest(
  users: readonly { user_id: number; units: number | null }[],
  input: GiveInput,
): Api['GiveReq'] {
  const { which, isThisWindowOnly, monthZone, reason } = input
  const ofAll = wholeNumber(input.units)
  const once = onceEndOf(input) === 'pack' ? 'window_end' : 'month_end'
  const lasting = isThisWindowOnly ? 'window_end' : 'for_good'
  return {
    users: users.map(({ user_id, units }) => ({ user_id, ...(units === null ? {} : { units }) })),
    ...(typeof ofAll === 'number' ? { units: ofAll } : {}),
    period: which === 'once' ? null : which,
    until: which === 'once' ? once : lasting,
    ...(monthZone === null ? {} : { time_zone: monthZone }),
    reason,
  }
}
