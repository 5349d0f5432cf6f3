import type { Quota } from '../../src/domain/quotas/quota.ts'
import { balanceOf, isLive, roll } from '../../src/domain/quotas/quota.ts'
import { DAY_MS, type EpochMs } from '../../src/domain/time/time.ts'
import { nextChange, offsetAt } from '../../src/domain/time/window.ts'

/**
 * A naive model of `runsOutAt`: it rolls every quota at every beginning and end of any window, as the service does, and moves
 * counters. It takes seconds for a year of hours.
 */
export function naiveRunOut(
  quotas: readonly Quota[],
  unitsPerMs: number,
  now: EpochMs,
  horizon = now + 366 * DAY_MS,
): EpochMs | null {
  let all = quotas.filter(({ enabled, kind, countries, message_types }) => {
    return enabled && (kind === 'grant' || (countries === null && message_types === null))
  })
  for (let at = now; at < horizon; ) {
    all = all.map(quota => roll(quota, at).quota)
    const live = all.filter(quota => isLive(quota, at))
    const until = Math.min(horizon, ...all.flatMap(quota => changesOf(quota, at).filter(time => time > at)))
    const needed = unitsPerMs * (until - at)
    const rooms = live
      .filter(({ kind }) => kind === 'cap')
      .map(cap => balanceOf(cap) + unitsPerMs * repeatedMs(cap, now, at))
    const sendable = Math.max(0, Math.min(needed, payableBy(live), ...rooms))
    if (sendable < needed - 1e-6) return Math.floor(at + sendable / unitsPerMs)
    const drawn = draw(live, needed)
    all = all.map(quota => ({ ...quota, used: quota.used + (drawn.get(quota.id) ?? 0) }))
    at = until
  }
  return null
}

/** Times that a zone's clock shows again do not count, except for hours. */
function repeatedMs({ period, time_zone, starts_at, window_start }: Quota, now: EpochMs, at: EpochMs): number {
  if (period === null || period === 'hour') return 0
  return Math.max(0, offsetAt(time_zone, Math.max(now, starts_at, window_start)) - offsetAt(time_zone, at))
}

/** No step is longer than two days, so that none passes over a change of the clock. */
function changesOf({ starts_at, window_end, expires_at, time_zone }: Quota, at: EpochMs): number[] {
  const change = nextChange(time_zone, at, at + 2 * DAY_MS) ?? at + 2 * DAY_MS
  return [starts_at, window_end, expires_at, change].filter(time => time !== null)
}

const roomOf = (quota: Quota) => Math.max(0, balanceOf(quota) + quota.overage_limit)

function payableBy(live: readonly Quota[]): number {
  return live.filter(({ kind }) => kind === 'grant').reduce((sum, grant) => sum + roomOf(grant), 0)
}

/** What each live quota counts: caps all units, grants what they pay in burn order. */
function draw(live: readonly Quota[], units: number): Map<number, number> {
  const drawn = new Map<number, number>()
  for (const { id, kind } of live) if (kind === 'cap') drawn.set(id, units)
  const endOf = ({ window_end, expires_at }: Quota) => Math.min(window_end ?? Infinity, expires_at ?? Infinity)
  const grants = live
    .filter(({ kind }) => kind === 'grant')
    .sort((one, other) => {
      if (one.priority !== other.priority) return one.priority - other.priority
      return endOf(one) === endOf(other) ? one.id - other.id : endOf(one) < endOf(other) ? -1 : 1
    })
  let rest = units
  for (const room of [(grant: Quota) => Math.max(0, balanceOf(grant)), roomOf]) {
    for (const grant of grants) {
      const before = drawn.get(grant.id) ?? 0
      const share = Math.min(rest, room({ ...grant, used: grant.used + before }))
      drawn.set(grant.id, before + share)
      rest -= share
    }
  }
  return drawn
}
