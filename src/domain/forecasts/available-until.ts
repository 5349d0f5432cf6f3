import { MAX_LOOKAHEAD_STEPS } from '../basics/bounds.ts'
import { type Allowance, boundsUnits, effectiveTime, headroomOf, shownWindowEnd } from '../quotas/quota.ts'
import { boundariesAhead, firstAfter } from '../time/calendar.ts'
import { calendarOf } from '../time/period.ts'
import { type StepBudget, withinSteps } from '../time/step-budget.ts'
import { DAY_MS, type EpochMs } from '../time/time.ts'
import { capacityOf, type Matches } from '../units/matching.ts'

/** The next change of a user's grants, and the most units that can be sent until then. */
export interface AvailableUntil {
  at: EpochMs
  units: number
}

/** How far ahead caps are followed. */
const HORIZON_MS = 366 * DAY_MS

/**
 * What can be sent of messages that match these quotas until their grants change. Null if nothing limits it, or if no
 * grant starts, resets or ends within `HORIZON_MS`, or if it would take more steps than `maxSteps`.
 */
export function availableUntil(matches: Matches, now: EpochMs, maxSteps = MAX_LOOKAHEAD_STEPS): AvailableUntil | null {
  const starting = matches.skipped.filter(({ verdict }) => verdict === 'scheduled').map(({ quota }) => quota)
  const starts = starting.filter(({ kind }) => kind === 'grant').map(({ starts_at }) => starts_at)
  const ends = matches.grants.map(grant => (grant.limit === null ? grant.expires_at : shownWindowEnd(grant)))
  const at = Math.min(...starts, ...ends.map(end => end ?? Number.POSITIVE_INFINITY))
  if (matches.grants.length === 0 || at > now + HORIZON_MS) return null
  const caps = [...matches.caps, ...starting.filter(({ kind }) => kind === 'cap')].filter(boundsUnits)
  const payable = capacityOf(matches).grants
  const units = withinSteps(maxSteps, budget => sendableUntil(at, payable, caps, now, budget))
  return units !== null && Number.isFinite(units) ? { at, units } : null
}

/**
 * The most units that can be sent from now until `until`, if as many as possible are sent in each window of a cap.
 *
 * @param payable what the grants can pay until then
 */
function sendableUntil(
  until: EpochMs,
  payable: number,
  caps: readonly Allowance[],
  now: EpochMs,
  budget: StepBudget,
): number {
  const ceilings = caps.map(cap => new Ceiling(cap, now))
  let sent = 0
  let at = now
  while (at < until && sent < payable) {
    budget.take(1 + ceilings.length)
    let units = payable - sent
    let next = until
    // Hours of a year under many caps are a million steps: no lists in between.
    for (const { room, changesAt } of ceilings) {
      if (room < units) units = room
      if (changesAt < next) next = changesAt
    }
    for (const ceiling of ceilings) ceiling.take(units, next)
    sent += units
    at = next
  }
  return sent
}

/** The room under a cap over time: none to mind before it starts and after it ends. */
class Ceiling {
  room: number
  changesAt: EpochMs
  private readonly cap: Allowance
  private readonly boundaries: Float64Array
  private next: number

  constructor(cap: Allowance, now: EpochMs) {
    const windowEnd = shownWindowEnd(cap) ?? Number.POSITIVE_INFINITY
    const isStarted = cap.starts_at <= effectiveTime(cap, now)
    this.cap = cap
    const calendar = calendarOf(cap)
    this.boundaries = calendar === null ? NONE : boundariesAhead(calendar, now)
    this.next = firstAfter(this.boundaries, isStarted ? windowEnd : cap.starts_at)
    this.room = isStarted ? Math.max(0, headroomOf(cap)) : Number.POSITIVE_INFINITY
    this.changesAt = isStarted ? windowEnd : cap.starts_at
  }

  /** Takes units, and goes on to a later time, at most `changesAt`. */
  take(units: number, at: EpochMs): void {
    this.room -= units
    if (at < this.changesAt) return
    const expiry = this.cap.expires_at ?? Number.POSITIVE_INFINITY
    const windowEnd = this.boundaries[this.next++] ?? Number.POSITIVE_INFINITY
    this.room = at < expiry ? (this.cap.limit ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
    this.changesAt = at < expiry ? Math.min(expiry, windowEnd) : Number.POSITIVE_INFINITY
  }
}

const NONE = new Float64Array(0)
