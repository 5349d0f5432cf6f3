/** What the user has chosen about the units that the users of a file get. */

/** Which grant of each user gets the units: the one with this period, or the one-time one. */
export const WHICH = ['hour', 'day', 'week', 'month', 'year', 'once'] as const
export type Which = (typeof WHICH)[number]

/** When units on a one-time grant end: with the calendar month, or with the grant. */
export const ONCE_ENDS = ['pack', 'month'] as const
export type OnceEnd = (typeof ONCE_ENDS)[number]

export interface TopUpInput {
  /** For lines without units of their own. */
  units: string
  which: Which
  isThisWindowOnly: boolean
  /** When units on a one-time grant end; null if not chosen: as `isThisWindowOnly` means. */
  onceEnd: OnceEnd | null
  /** Where the calendar month ends; null for the zone of most monthly grants. */
  monthZone: string | null
  reason: string
}

/** When units on one-time grants end, also of users who are left out with this choice. "Today" is no month. */
export function onceEndOf({ which, isThisWindowOnly, onceEnd }: TopUpInput): OnceEnd {
  if (onceEnd !== null) return onceEnd
  return isThisWindowOnly && (which === 'month' || which === 'once') ? 'month' : 'pack'
}

/** Whether the units are a grant of their own, which a repeated file does not give twice. */
export function addsGrant({ which, isThisWindowOnly }: TopUpInput): boolean {
  return which === 'once' || isThisWindowOnly
}

/** The input for users who are left out with the input of the file. Their month ends in the same time zone. */
export function inputFor(which: Which, input: TopUpInput, monthZone: string): TopUpInput {
  return { ...input, which, onceEnd: onceEndOf(input), monthZone }
}
