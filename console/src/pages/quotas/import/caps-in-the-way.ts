import type { Api } from '../../../api/types.ts'
import { counts, messageKindOf, sendableUnits } from '../../../components/quota-dialogs/sendable.ts'

/** Which caps keep a user from sending units that are added to a grant. */

type Quota = Api['SmsQuota']

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PERIOD_MS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS, month: 30.44 * DAY_MS, year: 365.25 * DAY_MS }

export interface CapInTheWay {
  cap: Quota
  /** Whether nothing can be sent under it now; otherwise not all can be sent until the units end. */
  isReached: boolean
}

/**
 * @param live the live quotas of the user
 * @param quota the grant that the units are added to
 * @param end when the units end; null if they do not
 */
export function capsInTheWay(
  live: readonly Quota[],
  { quota, units, end }: { quota: Quota; units: number; end: string | null },
): CapInTheWay[] {
  const kind = messageKindOf(quota)
  const left = sendableUnits(
    live.filter(({ kind }) => kind === 'grant'),
    kind,
  )
  const fits = (cap: Quota) => left === null || capacityUntil(end, cap) >= left + units
  return live
    .filter(cap => cap.kind === 'cap' && counts(cap, kind))
    .map(cap => ({ cap, isReached: cap.remaining === 0 }))
    .filter(({ cap, isReached }) => isReached || !fits(cap))
}

/** How many units a cap lets pass until a time. The lengths of periods are averages: a note does not need more. */
function capacityUntil(end: string | null, { period, limit, remaining, window_end, expires_at }: Quota): number {
  if (remaining === null || limit === null) return Number.POSITIVE_INFINITY
  const ends = end === null ? Number.POSITIVE_INFINITY : Date.parse(end)
  if (expires_at !== null && Date.parse(expires_at) < ends) return Number.POSITIVE_INFINITY
  if (period === null || window_end === null) return remaining
  // An hour more or less, where clocks change, is not another day.
  const further = Math.max(0, Math.ceil((ends - Date.parse(window_end)) / PERIOD_MS[period] - 0.06))
  return remaining + limit * further
}
