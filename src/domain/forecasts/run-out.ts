import { boundsUnits, headroomOf, isUnscoped, type Quota } from '../quotas/quota.ts'
import { boundariesAhead, firstAfter } from '../time/calendar.ts'
import { calendarOf } from '../time/period.ts'
import type { StepBudget } from '../time/step-budget.ts'
import { DAY_MS, type EpochMs } from '../time/time.ts'
import { offsetAt } from '../time/window.ts'
import { exhaustedAt, ROUNDING } from './grant-simulation.ts'

/** How far ahead a forecast looks. */
const HORIZON_MS = 366 * DAY_MS

/** Whether a quota is a cap that counts every unit that the simulation draws. */
export const capsUse = (quota: Quota): boolean =>
  quota.enabled && quota.kind === 'cap' && isUnscoped(quota) && boundsUnits(quota)

/**
 * The first time within the horizon at which a constant use of `unitsPerMs` could not be sent: no live grant has units left, or
 * a live cap without a scope has no headroom. Null if there is no such time.
 *
 * It draws as messages do: from the grants in burn order, first their own units and then their overage, while quotas start, reset,
 * carry units over and expire. Scopes are left out: every grant pays for any message, and caps with a scope bound nothing.
 *
 * @param quotas the user's undeleted quotas, rolled to `now`
 * @param unitsPerMs more than 0
 * @param horizonMs how far it looks ahead, at most `HORIZON_MS`
 */
export function runsOutAt(
  quotas: readonly Quota[],
  unitsPerMs: number,
  now: EpochMs,
  budget: StepBudget,
  horizonMs = HORIZON_MS,
): EpochMs | null {
  const enabled = quotas.filter(quota => quota.enabled)
  const blocks = enabled.filter(capsUse).map(cap => blocksAt(cap, unitsPerMs, now, budget))
  const grants = enabled.filter(quota => quota.kind === 'grant')
  const first = Math.min(...blocks, now + horizonMs)
  const end = Math.min(first, exhaustedAt(grants, unitsPerMs, now, first, budget))
  return end < now + horizonMs ? Math.floor(end) : null
}

/**
 * When a cap has no headroom for the use; Infinity if always. Caps do not depend on each other nor on the grants: until
 * the first of them blocks, each counts every unit.
 */
function blocksAt(cap: Quota, unitsPerMs: number, now: EpochMs, budget: StepBudget): EpochMs {
  const expiry = cap.expires_at ?? Number.POSITIVE_INFINITY
  const horizon = Math.min(expiry, now + HORIZON_MS)
  const calendar = calendarOf(cap)
  const boundaries = calendar === null ? NONE : boundariesAhead(calendar, now)
  let start = Math.max(now, cap.starts_at)
  let end = cap.window_end ?? Number.POSITIVE_INFINITY
  let next = firstAfter(boundaries, end)
  let left = Math.max(0, headroomOf(cap))
  while (start < horizon) {
    budget.take(1)
    const until = Math.min(end, horizon)
    const needed = unitsPerMs * (until - start)
    // Most windows have room, and a look at the zone's clock costs more than the rest.
    if (needed > left + ROUNDING) {
      const block = start + left / unitsPerMs
      const after = block + repeatedMs(cap, start, Math.floor(block))
      if (unitsPerMs * (until - after) > ROUNDING) return after
    }
    start = end
    end = boundaries[next] ?? Number.POSITIVE_INFINITY
    next++
    left = cap.limit ?? Number.POSITIVE_INFINITY
  }
  return Number.POSITIVE_INFINITY
}

/**
 * How long the zone's clock shows times again that it has shown before. Use follows days: one of 25 hours has the messages of
 * any other, and a daily cap that always suffices suffices on it, too.
 */
function repeatedMs({ period, time_zone }: Quota, start: EpochMs, end: EpochMs): number {
  return period === null || period === 'hour' || period === 'minute'
    ? 0
    : Math.max(0, offsetAt(time_zone, start) - offsetAt(time_zone, end))
}

const NONE = new Float64Array(0)
