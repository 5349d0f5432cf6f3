import { CONTINUED_BY } from '../../../src/domain/extra-grant.ts'
import { counts, messageKindOf, sendableUnits } from '../../../src/domain/sendable.ts'
import type { Api } from '../api/types.ts'
import { isLive } from './quota-status.ts'

/** Which caps keep a user from sending units that are added to a grant. */

type Quota = Api['SmsQuota']

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PERIOD_MS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS, month: 30.44 * DAY_MS, year: 365.25 * DAY_MS }

export interface CapInTheWay {
  cap: Quota
  /** Whether nothing can be sent under it now; otherwise not all can be sent until the units end. */
  isReached: boolean
  /** How many units of all grants it lets pass before the added ones end. */
  capacity: number
  /** How many units that end by then the user has without the added ones; null: unlimited. */
  ending: number | null
  /** How many of the added units can be sent in addition to those, at most. */
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
  const ending = sendableUnits(
    live.filter(grant => grant.kind === 'grant' && endsBy(end, grant)),
    kind,
  )
  return live
    .filter(cap => cap.kind === 'cap' && counts(cap, kind))
    .flatMap(cap => {
      const isReached = cap.remaining === 0
      const later = laterCap(cap, quotas)
      const capacity = capacityUntil(end, cap, later)
      const usable = ending === null ? 0 : Math.max(0, Math.min(units, capacity - ending))
      if (!isReached && usable === units) return []
      return [{ cap: isReached ? cap : later, isReached, capacity, ending, usable }]
    })
}

/** The cap after the current window: another one with the old limit if it is raised for this window only. */
function laterCap(cap: Quota, quotas: readonly Quota[]): Quota {
  const next = cap.metadata[CONTINUED_BY]
  return quotas.find(({ id, status }) => String(id) === next && status === 'scheduled') ?? cap
}

/** Whether what a grant has left is gone at a time: the user would send it before, or lose it. */
function endsBy(end: string | null, { window_end, expires_at, rollover_limit }: Quota): boolean {
  const ends = window_end === null || rollover_limit > 0 ? expires_at : window_end
  return end === null || (ends !== null && Date.parse(ends) <= Date.parse(end))
}

/** How many units a cap lets pass until a time. The lengths of periods are averages: a note does not need more. */
function capacityUntil(end: string | null, { period, remaining, window_end }: Quota, later: Quota): number {
  if (remaining === null || later.limit === null) return Number.POSITIVE_INFINITY
  const ends = end === null ? Number.POSITIVE_INFINITY : Date.parse(end)
  if (later.expires_at !== null && Date.parse(later.expires_at) < ends) return Number.POSITIVE_INFINITY
  if (period === null || window_end === null) return remaining
  // An hour more or less, where clocks change, is not another day.
  const further = Math.max(0, Math.ceil((ends - Date.parse(window_end)) / PERIOD_MS[period] - 0.06))
  // A cap of 0 lets nothing pass, however long.
  return later.limit === 0 ? remaining : remaining + later.limit * further
}
