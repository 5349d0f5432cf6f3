import { isLive, type Quota, remainingOf, roll } from './quota.ts'
import { DAY_MS, type EpochMs, formatTimestampOrNull } from './time.ts'

const DAYS_A_WEEK = 7

/** How far back a forecast looks: whole weeks, so that each counts every day of the week once. */
export const FORECAST_DAYS = 28

/** What a week weighs, the last one first: recent ones more, yet no one week decides alone. */
const WEIGHTS = [4, 3, 2, 1]

/** What grants paid for in the past, net of refunds. */
export interface PastUsage {
  /** When anything was first used, ever; null if nothing was. */
  first: EpochMs | null
  /** Units of the last `FORECAST_DAYS` stretches of 24 hours, the last one first. */
  days: readonly number[]
}

/**
 * When a user's remaining units run out, if the user goes on like that. Null when there is too little to tell: less than
 * one whole week since the first use.
 *
 * The rate is an average over whole weeks. A busy Monday then weighs the same whether today is Monday or Sunday; a burst
 * a month ago weighs a quarter of one of this week.
 */
export function forecast(quotas: readonly Quota[], { first, days }: PastUsage, now: EpochMs) {
  if (first === null) return null
  const weeks = Math.min(WEIGHTS.length, Math.floor((now - first) / (DAYS_A_WEEK * DAY_MS)))
  if (weeks === 0) return null
  const rate = rateOf(days, weeks)
  return {
    // To the hundredth of a unit; the end is reckoned from the rate as it is.
    daily_rate: Math.round(rate * 100) / 100,
    runs_out_at: rate > 0 ? formatTimestampOrNull(runsOutAt(quotas, rate / DAY_MS, now)) : null,
  }
}

/** Units a day. What is refunded of older weeks cannot make it less than nothing. */
function rateOf(days: readonly number[], weeks: number): number {
  const weights = WEIGHTS.slice(0, weeks)
  const used = weights.reduce((sum, weight, week) => {
    const units = days.slice(week * DAYS_A_WEEK, (week + 1) * DAYS_A_WEEK).reduce((total, day) => total + day, 0)
    return sum + weight * Math.max(0, units)
  }, 0)
  return used / DAYS_A_WEEK / weights.reduce((sum, weight) => sum + weight, 0)
}

/** How far ahead the end is looked for, and over how many beginnings and ends of windows. */
const HORIZON_MS = 366 * DAY_MS
const MAX_TURNS = 100

/**
 * Goes from one beginning or end of a window to the next, drawing at an even rate on what is live: windows start anew,
 * roll over and expire as they will. Null if the units last for as far as can be looked, or are unlimited. Scopes, caps
 * and overage are left out of it.
 */
function runsOutAt(quotas: readonly Quota[], unitsPerMs: number, now: EpochMs): EpochMs | null {
  let grants = quotas.filter(quota => quota.kind === 'grant' && quota.enabled)
  let at = now
  for (let turn = 0; turn < MAX_TURNS && at < now + HORIZON_MS; turn++) {
    grants = grants.map(grant => roll(grant, at).quota)
    const live = grants.filter(grant => isLive(grant, at))
    if (live.some(grant => grant.limit === null)) return null
    const left = live.reduce((sum, grant) => sum + (remainingOf(grant) ?? 0), 0)
    const until = nextTurn(grants, at)
    if (left < unitsPerMs * (until - at) || left === 0) {
      const end = Math.floor(at + left / unitsPerMs)
      return end < now + HORIZON_MS ? end : null
    }
    if (!Number.isFinite(until)) return null
    const drawn = drawFrom(live, unitsPerMs * (until - at))
    grants = grants.map(grant => ({ ...grant, used: grant.used + (drawn.get(grant.id) ?? 0) }))
    at = until
  }
  return null
}

/** The next moment at which a grant starts, starts anew or ends; Infinity if none does. */
function nextTurn(grants: readonly Quota[], at: EpochMs): EpochMs {
  const moments = grants.flatMap(({ starts_at, window_end, expires_at }) => [starts_at, window_end, expires_at])
  return Math.min(...moments.filter(moment => moment !== null && moment > at).map(Number))
}

/** Who pays for so many units: by priority, then the one whose units would be lost soonest. */
function drawFrom(live: readonly Quota[], units: number): Map<number, number> {
  const end = ({ window_end, expires_at }: Quota) =>
    Math.min(window_end ?? Number.POSITIVE_INFINITY, expires_at ?? Number.POSITIVE_INFINITY)
  const inOrder = live.toSorted((one, other) => {
    if (one.priority !== other.priority) return one.priority - other.priority
    return end(one) === end(other) ? one.id - other.id : end(one) - end(other)
  })
  const drawn = new Map<number, number>()
  let open = units
  for (const grant of inOrder) {
    const share = Math.min(open, remainingOf(grant) ?? 0)
    drawn.set(grant.id, share)
    open -= share
  }
  return drawn
}
