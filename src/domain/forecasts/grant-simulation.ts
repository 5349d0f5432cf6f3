import type { Quota } from '../quotas/quota.ts'
import { firstAfter } from '../time/calendar.ts'
import type { StepBudget } from '../time/step-budget.ts'
import { type EpochMs, HOUR_MS } from '../time/time.ts'
import {
  type Clock,
  drawFrom,
  type Group,
  type Kind,
  type Lane,
  OVERAGE,
  OWN,
  type Pool,
  poolOf,
  tick,
} from './burn-order.ts'

/** A shortage below this many units is an error of rounding. */
export const ROUNDING = 1e-6

/**
 * When the grants have nothing left for a constant use of `unitsPerMs`; Infinity if not before `until`. They are drawn in burn
 * order, their own units first, then their overage. They start, reset, carry over and expire.
 *
 * @param grants enabled grants, rolled to `now`
 */
export function exhaustedAt(
  grants: readonly Quota[],
  unitsPerMs: number,
  now: EpochMs,
  until: EpochMs,
  budget: StepBudget,
): EpochMs {
  const isEndless = ({ limit, starts_at, expires_at }: Quota) =>
    limit === null && starts_at <= now && (expires_at ?? Number.POSITIVE_INFINITY) >= until
  if (grants.some(isEndless)) return Number.POSITIVE_INFINITY
  const simulation = new GrantSimulation(grants, now)
  let at = now
  while (at < until) {
    budget.take(1 + simulation.lanes)
    at = simulation.skipHours(at, until)
    simulation.advance(at)
    const end = Math.min(until, simulation.nextChange())
    const needed = unitsPerMs * (end - at)
    const short = simulation.draw(needed)
    if (short > ROUNDING) return at + (needed - short) / unitsPerMs
    at = end
  }
  return Number.POSITIVE_INFINITY
}

/** Goes from one beginning or end of a window to the next. Each costs some nanoseconds per grant that it concerns. */
class GrantSimulation {
  private readonly hours: Clock[] = []
  private others: Clock[] = []
  /** By priority. */
  private groups: Group[] = []
  /** Grants that have not started, the next one last. */
  private readonly waiting: Quota[]
  private readonly now: EpochMs
  /** Whether nothing but hours has begun or ended since the pools noted what was left. */
  private isCycle = false

  constructor(grants: readonly Quota[], now: EpochMs) {
    this.now = now
    this.waiting = grants.toSorted((one, other) => other.starts_at - one.starts_at)
  }

  /** How many lanes can pay: a change goes through them, at most. */
  get lanes(): number {
    return this.groups.reduce((sum, { lanes }) => sum + lanes.length, 0)
  }

  /** When the next window or grant begins or ends. */
  nextChange(): EpochMs {
    let first = this.nextOtherChange()
    for (const { end } of this.hours) if (end < first) first = end
    return first
  }

  private nextOtherChange(): EpochMs {
    let first = this.waiting.at(-1)?.starts_at ?? Number.POSITIVE_INFINITY
    for (const { end } of this.others) if (end < first) first = end
    return first
  }

  /** Ends what ends at `at`, and begins what begins. */
  advance(at: EpochMs): void {
    const moving: Pool[] = []
    for (const clock of this.hours) if (clock.end <= at) tick(clock, moving)
    for (const clock of this.others) {
      if (clock.end > at) continue
      this.isCycle = false
      tick(clock, moving)
    }
    for (let grant = this.waiting.at(-1); grant !== undefined && grant.starts_at <= at; grant = this.waiting.at(-1)) {
      this.waiting.pop()
      moving.push(poolOf(grant, this.now))
    }
    if (moving.length === 0) return
    this.isCycle = false
    this.others = this.others.filter(({ end }) => end > at)
    for (const holder of [...this.hours, ...this.others, ...this.groups]) {
      holder.lanes = holder.lanes.filter(({ clock, pools }) => clock.end > at && pools.length > 0)
    }
    for (const pool of moving) if (pool.expiresAt > at) this.join(pool, at)
  }

  /** Puts a pool where its window ends. */
  private join(pool: Pool, at: EpochMs): void {
    const calendar = pool.boundaries && this.clockOf(pool.boundaries, pool.isHourly ? this.hours : this.others, at)
    const windowEnd = pool.firstEnd ?? calendar?.end ?? Number.POSITIVE_INFINITY
    const end = Math.min(windowEnd, pool.expiresAt)
    const lane = this.laneOf(calendar?.end === end ? calendar : this.clockOnce(end), pool.priority)
    lane.pools.push(pool)
    lane.pools.sort((one, other) => one.id - other.id)
    lane.expiresAt = Math.min(lane.expiresAt, pool.expiresAt)
    lane.first = [0, 0]
    lane.mustReset = true
    lane.carries ||= pool.rolloverLimit > 0
  }

  private clockOf(boundaries: Float64Array, clocks: Clock[], at: EpochMs): Clock {
    const known = clocks.find(clock => clock.boundaries === boundaries)
    if (known !== undefined) return known
    const next = firstAfter(boundaries, at)
    const clock = { end: boundaries[next] ?? Number.POSITIVE_INFINITY, boundaries, next: next + 1, lanes: [] }
    clocks.push(clock)
    return clock
  }

  private clockOnce(end: EpochMs): Clock {
    const known = this.others.find(clock => clock.boundaries === null && clock.end === end)
    if (known !== undefined) return known
    const clock = { end, boundaries: null, next: 0, lanes: [] }
    this.others.push(clock)
    return clock
  }

  private laneOf(clock: Clock, priority: number): Lane {
    const known = clock.lanes.find(({ group }) => group.priority === priority)
    if (known !== undefined) return known
    const group = this.groupOf(priority)
    const expiresAt = Number.POSITIVE_INFINITY
    const lane: Lane = { clock, group, pools: [], expiresAt, first: [0, 0], mustReset: true, carries: false }
    group.lanes.push(lane)
    group.isSorted = false
    clock.lanes.push(lane)
    return lane
  }

  private groupOf(priority: number): Group {
    const known = this.groups.find(group => group.priority === priority)
    if (known !== undefined) return known
    const group = { priority, lanes: [], isSorted: true }
    this.groups.push(group)
    this.groups.sort((one, other) => one.priority - other.priority)
    return group
  }

  /** Draws units from the grants in burn order. Returns how many they do not have. */
  draw(units: number): number {
    let rest = units
    for (const kind of [OWN, OVERAGE] as const) {
      for (const group of this.groups) {
        if (rest <= 0) return 0
        rest = drawFrom(group, rest, kind)
      }
    }
    return rest
  }

  /**
   * Where hours only repeat themselves, goes on to the last of them before anything else changes. An hour repeats if the one
   * before left every hourly grant as it found it, the others have enough left for more of the same, and its windows last as long.
   */
  skipHours(at: EpochMs, until: EpochMs): EpochMs {
    if (this.hours[0]?.end !== at) return at
    let change = Math.min(until, this.nextOtherChange())
    if (change - at < 2 * HOUR_MS) return at
    for (const { lanes } of this.hours) for (const { expiresAt } of lanes) change = Math.min(change, expiresAt)
    let hours = Math.floor((change - at) / HOUR_MS) - 1
    if (hours < 1) return at
    if (this.isCycle) hours = Math.min(hours, this.repetitions())
    for (const clock of this.hours) if (this.isCycle) hours = Math.min(hours, evenWindows(clock, hours))
    const skips = this.isCycle && hours >= 1
    for (const pool of this.pools()) {
      if (skips) for (const kind of [OWN, OVERAGE] as const) pool.left[kind] -= hours * drawnFrom(pool, kind)
      pool.before[OWN] = pool.left[OWN]
      pool.before[OVERAGE] = pool.left[OVERAGE]
    }
    this.isCycle = !skips
    if (!skips) return at
    for (const clock of this.hours) {
      clock.end += hours * HOUR_MS
      clock.next += hours
    }
    return at + hours * HOUR_MS
  }

  /** How many hours can repeat the one before. */
  private repetitions(): number {
    let hours = Number.POSITIVE_INFINITY
    for (const pool of this.pools()) {
      for (const kind of [OWN, OVERAGE] as const) {
        const drawn = drawnFrom(pool, kind)
        if (drawn === 0) continue
        // Hourly units come back; if an hour leaves fewer or more of them, the next differs.
        if (drawn < 0 || pool.isHourly) return 0
        hours = Math.min(hours, Math.floor(pool.left[kind] / drawn) - 1)
      }
    }
    return hours
  }

  private *pools(): Iterable<Pool> {
    for (const { lanes } of this.groups) for (const { pools } of lanes) yield* pools
  }
}

/**
 * How many windows ahead last an hour, as the one that ended last did; at most `most`. Where a clock changes by half an hour, a
 * window lasts an hour and a half, or half an hour.
 */
function evenWindows({ boundaries, next }: Clock, most: number): number {
  let windows = -1
  const isEven = (index: number) => boundaries !== null && boundaries[index] === (boundaries[index - 1] ?? 0) + HOUR_MS
  while (windows < most && isEven(next + windows)) windows++
  return windows
}

/** Units drawn in the hour before; 0 where there is no end of them. */
function drawnFrom(pool: Pool, kind: Kind): number {
  const left = pool.left[kind]
  return Number.isFinite(left) ? pool.before[kind] - left : 0
}
