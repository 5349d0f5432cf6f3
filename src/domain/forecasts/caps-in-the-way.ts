import { MAX_INTEGER } from '../basics/bounds.ts'
import { boundsUnits, isLive, type Quota, remainingOf, shownWindowEnd, statusOf } from '../quotas/quota.ts'
import { averageMs } from '../time/period.ts'
import type { EpochMs } from '../time/time.ts'
import { CONTINUED_BY } from './raised-cap.ts'
import { counts, messageKindOf, sendableUnits } from './sendable.ts'

/** Which caps keep a user from sending units that are added to a grant. */

export interface CapInTheWay {
  cap: Quota
  /** Whether nothing can be sent under it now; otherwise not all can be sent until the units end. */
  isReached: boolean
  /** How many units of all grants it lets pass before the added ones end; null: unlimited. */
  capacity: number | null
  /** How many units that end by then the user has without the added ones; null: unlimited. */
  ending: number | null
  /** How many of the added units can be sent in addition to those, at most. */
  usable: number
}

/**
 * @param quotas of the user, in their windows of `now`
 * @param gift the grant that the units are added to, and when they end; null if they do not
 */
export function capsInTheWay(
  quotas: readonly Quota[],
  { quota, units, end }: { quota: Quota; units: number; end: EpochMs | null },
  now: EpochMs,
): CapInTheWay[] {
  const kind = messageKindOf(quota)
  const live = quotas.filter(one => isLive(one, now))
  const ending = sendableUnits(
    live.filter(grant => grant.kind === 'grant' && endsBy(end, grant)),
    kind,
  )
  return live
    .filter(cap => cap.kind === 'cap' && boundsUnits(cap) && counts(cap, kind))
    .flatMap(cap => {
      const isReached = remainingOf(cap) === 0
      const later = laterCap(cap, quotas, now)
      const capacity = capacityUntil(end, cap, later)
      const usable = ending === null ? 0 : Math.max(0, Math.min(units, capacity - ending))
      if (!isReached && usable === units) return []
      const shown = Number.isFinite(capacity) ? Math.min(capacity, MAX_INTEGER) : null
      return [{ cap: isReached ? cap : later, isReached, capacity: shown, ending, usable }]
    })
}

/** The cap after the current window: another one with the old limit if it is raised for this window only. */
function laterCap(cap: Quota, quotas: readonly Quota[], now: EpochMs): Quota {
  const next = cap.metadata[CONTINUED_BY]
  return quotas.find(one => String(one.id) === next && statusOf(one, now) === 'scheduled') ?? cap
}

/** Whether what a grant has left is gone at a time: the user would send it before, or lose it. */
function endsBy(end: EpochMs | null, grant: Quota): boolean {
  const ends = grant.rollover_limit > 0 ? grant.expires_at : shownWindowEnd(grant)
  return end === null || (ends !== null && ends <= end)
}

/** How many units a cap lets pass until a time. The lengths of periods are averages: a note does not need more. */
function capacityUntil(end: EpochMs | null, cap: Quota, later: Quota): number {
  const remaining = remainingOf(cap)
  const windowEnd = shownWindowEnd(cap)
  if (remaining === null || later.limit === null) return Number.POSITIVE_INFINITY
  const ends = end ?? Number.POSITIVE_INFINITY
  if (later.expires_at !== null && later.expires_at < ends) return Number.POSITIVE_INFINITY
  if (cap.period === null || windowEnd === null) return remaining
  // An hour more or less, where clocks change, is not another day.
  const further = Math.max(0, Math.ceil((ends - windowEnd) / averageMs(cap.period) - 0.06))
  // A cap of 0 lets nothing pass, however long.
  return later.limit === 0 ? remaining : remaining + later.limit * further
}
