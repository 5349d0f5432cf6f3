import type { Api } from '../../../api/types.ts'
import { counts, isLive, messageKindOf, sendableUnits } from '../../../components/quota-dialogs/sendable.ts'
import { CONTINUED_BY } from '../../../components/raised-cap.ts'

/** Which caps keep a user from sending units that are added to a grant. */

type Quota = Api['SmsQuota']

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PERIOD_MS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS, month: 30.44 * DAY_MS, year: 365.25 * DAY_MS }

export interface CapInTheWay {
  cap: Quota
  /** Whether nothing can be sent under it now; otherwise not all can be sent until the units end. */
  isReached: boolean
  /** How many of the added units it lets pass before they end, at most: the user may send those that are left first. */
  usable: number
}

/**
 * @param quotas of the user
 * @param quota the grant that the units are added to
 * @param end when the units end; null if they do not
 */
export function capsInTheWay(
  quotas: readonly Quota[],
  { quota, units, end }: { quota: Quota; units: number; end: string | null },
): CapInTheWay[] {
  const kind = messageKindOf(quota)
  const live = quotas.filter(isLive)
  const left = sendableUnits(
    live.filter(({ kind }) => kind === 'grant'),
    kind,
  )
  return live
    .filter(cap => cap.kind === 'cap' && counts(cap, kind))
    .flatMap(cap => {
      const isReached = cap.remaining === 0
      const later = laterCap(cap, quotas)
      const capacity = capacityUntil(end, cap, later)
      const isInTheWay = isReached || (left !== null && capacity < left + units)
      return isInTheWay ? [{ cap: isReached ? cap : later, isReached, usable: Math.min(units, capacity) }] : []
    })
}

/** The cap after the current window: another one with the old limit if it is raised for this window only. */
function laterCap(cap: Quota, quotas: readonly Quota[]): Quota {
  const next = cap.metadata[CONTINUED_BY]
  return quotas.find(({ id, status }) => String(id) === next && status === 'scheduled') ?? cap
}

/** How many units a cap lets pass until a time. The lengths of periods are averages: a note does not need more. */
function capacityUntil(end: string | null, { period, remaining, window_end }: Quota, later: Quota): number {
  if (remaining === null || later.limit === null) return Number.POSITIVE_INFINITY
  const ends = end === null ? Number.POSITIVE_INFINITY : Date.parse(end)
  if (later.expires_at !== null && Date.parse(later.expires_at) < ends) return Number.POSITIVE_INFINITY
  if (period === null || window_end === null) return remaining
  // An hour more or less, where clocks change, is not another day.
  const further = Math.max(0, Math.ceil((ends - Date.parse(window_end)) / PERIOD_MS[period] - 0.06))
  return remaining + later.limit * further
}
