/** The grants of a simulation, in the order in which they burn. */

import { balanceOf, headroomOf, type Quota } from '../quotas/quota.ts'
import { boundariesAhead } from '../time/calendar.ts'
import { calendarOf } from '../time/period.ts'
import type { EpochMs } from '../time/time.ts'

/** The two kinds of units of a grant. */
export const OWN = 0
export const OVERAGE = 1
export type Kind = typeof OWN | typeof OVERAGE

/** A grant in the window that is simulated. Its units are fractions. */
export interface Pool {
  id: number
  priority: number
  /** Infinity: unlimited. */
  limit: number
  rolloverLimit: number
  overageLimit: number
  expiresAt: EpochMs
  isHourly: boolean
  /** The boundaries of its windows; null: a single window. */
  boundaries: Float64Array | null
  /** The end of its first window, which is stored; null in later windows, which end with the calendar. */
  firstEnd: EpochMs | null
  /** Units left, by kind. */
  left: [own: number, overage: number]
  /** What was left an hour before. */
  before: [own: number, overage: number]
}

/** An end that pools have in common: that of the windows of one calendar, again and again, or one that comes once. */
export interface Clock {
  end: EpochMs
  /** Null: it ends once. */
  boundaries: Float64Array | null
  /** The index of the boundary after `end`. */
  next: number
  lanes: Lane[]
}

/** Grants of one priority. */
export interface Group {
  priority: number
  /** In burn order if `isSorted`: those that end first come first. */
  lanes: Lane[]
  isSorted: boolean
}

/** Grants of one priority that end together. They pay one after the other, by id. */
export interface Lane {
  clock: Clock
  group: Group
  pools: Pool[]
  /** The first expiry of its pools. */
  expiresAt: EpochMs
  /** The index of the first pool that may have units left, by kind. */
  first: [own: number, overage: number]
  /** Whether its next window differs from the one before, because of draws or of units that carry over. */
  mustReset: boolean
  carries: boolean
}

/** Ends a window or what ends once. Pools that cannot stay with this clock are `moving`. */
export function tick(clock: Clock, moving: Pool[]): void {
  const { boundaries, lanes } = clock
  if (boundaries === null) {
    for (const { pools } of lanes) moving.push(...pools.map(reset))
    return
  }
  clock.end = boundaries[clock.next++] ?? Number.POSITIVE_INFINITY
  for (const lane of lanes) {
    if (lane.mustReset || lane.carries) for (const pool of lane.pools) reset(pool)
    lane.first = [0, 0]
    lane.mustReset = false
    lane.group.isSorted = lane.group.lanes.length === 1
    if (lane.expiresAt >= clock.end) continue
    moving.push(...lane.pools.filter(pool => pool.expiresAt < clock.end))
    lane.pools = lane.pools.filter(pool => pool.expiresAt >= clock.end)
    lane.expiresAt = lane.pools.reduce((first, pool) => Math.min(first, pool.expiresAt), Number.POSITIVE_INFINITY)
  }
}

/** Opens the next window of a pool, as `roll` does for a quota. */
function reset(pool: Pool): Pool {
  pool.left[OWN] = pool.limit + Math.min(pool.rolloverLimit, pool.left[OWN])
  pool.left[OVERAGE] = pool.overageLimit
  pool.firstEnd = null
  return pool
}

/** Draws units from the grants of one priority: from those that end first, and by id. Returns how many they do not have. */
export function drawFrom(group: Group, units: number, kind: Kind): number {
  const { lanes } = group
  if (!group.isSorted) sortByEnd(lanes)
  group.isSorted = true
  let rest = units
  let tied = 0
  for (let index = 0; index < lanes.length && rest > 0; index = tied) {
    tied = index + 1
    if (isEmpty(lanes[index], kind)) continue
    while (tied < lanes.length && lanes[tied]?.clock.end === lanes[index]?.clock.end) tied++
    let lane = nextOf(lanes, index, tied, kind)
    while (lane !== undefined && rest > 0) {
      rest = drawNext(lane, rest, kind)
      lane = nextOf(lanes, index, tied, kind)
    }
  }
  return rest
}

function isEmpty(lane: Lane | undefined, kind: Kind): boolean {
  return lane === undefined || lane.first[kind] >= lane.pools.length
}

/** Draws from the next pool of a lane. */
function drawNext(lane: Lane, units: number, kind: Kind): number {
  const pool = lane.pools[lane.first[kind]]
  if (pool === undefined) return units
  const share = Math.min(units, pool.left[kind])
  pool.left[kind] -= share
  lane.mustReset = true
  if (pool.left[kind] <= 0) lane.first[kind]++
  return units - share
}

/** Of tied lanes, the one whose next pool has the lowest id; undefined if none has units left. */
function nextOf(lanes: readonly Lane[], from: number, to: number, kind: Kind): Lane | undefined {
  let lowest = Number.POSITIVE_INFINITY
  let found: Lane | undefined
  for (let index = from; index < to; index++) {
    const lane = lanes[index]
    const id = lane?.pools[lane.first[kind]]?.id
    if (id === undefined || id >= lowest) continue
    lowest = id
    found = lane
  }
  return found
}

/** Insertion sort: the lanes are nearly always in order. */
function sortByEnd(lanes: Lane[]): void {
  for (let index = 1; index < lanes.length; index++) {
    const lane = lanes[index]
    if (lane === undefined) continue
    let place = index
    for (let before = lanes[place - 1]; before && before.clock.end > lane.clock.end; before = lanes[place - 1]) {
      lanes[place] = before
      place--
    }
    lanes[place] = lane
  }
}

export function poolOf(grant: Quota, now: EpochMs): Pool {
  const { id, priority, limit, rollover_limit, overage_limit, period } = grant
  const calendar = calendarOf(grant)
  const overage = limit === null ? 0 : Math.max(0, Math.min(overage_limit, headroomOf(grant)))
  return {
    id,
    priority,
    limit: limit ?? Number.POSITIVE_INFINITY,
    rolloverLimit: rollover_limit,
    overageLimit: overage_limit,
    expiresAt: grant.expires_at ?? Number.POSITIVE_INFINITY,
    isHourly: period === 'hour',
    boundaries: calendar === null ? null : boundariesAhead(calendar, now),
    firstEnd: grant.window_end ?? Number.POSITIVE_INFINITY,
    left: [Math.max(0, balanceOf(grant)), overage],
    before: [0, 0],
  }
}
