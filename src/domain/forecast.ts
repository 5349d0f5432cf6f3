import { isLive, type Quota, remainingOf, roll } from './quota.ts'
import { DAY_MS, type EpochMs, formatTimestampOrNull } from './time.ts'

const DAYS_PER_WEEK = 7

/** Days of past usage that a forecast reads: whole weeks, so that each weekday counts equally. */
export const FORECAST_DAYS = 28

/** Weights of the weeks, the latest first: recent weeks count more, and no single week decides. */
const WEIGHTS = [4, 3, 2, 1]

/** Units that grants paid for in the past, less refunds. */
export interface PastUsage {
  /** The first use ever; null if there was none. */
  first: EpochMs | null
  /** Units of each of the last `FORECAST_DAYS` periods of 24 hours, the latest first. */
  days: readonly number[]
}

/**
 * When a user's remaining units run out at the past rate of use. Null during the first week after the first use, when
 * there is too little data.
 *
 * The rate is a weighted average over whole weeks: a busy Monday weighs the same whether today is Monday or Sunday, and a
 * burst four weeks ago weighs a quarter of one this week.
 */
export function forecast(quotas: readonly Quota[], { first, days }: PastUsage, now: EpochMs) {
  if (first === null) return null
  const weeks = Math.min(WEIGHTS.length, Math.floor((now - first) / (DAYS_PER_WEEK * DAY_MS)))
  if (weeks === 0) return null
  const rate = rateOf(days, weeks)
  return {
    // Rounded to hundredths; `runs_out_at` is computed from the exact rate.
    daily_rate: Math.round(rate * 100) / 100,
    runs_out_at: rate > 0 ? formatTimestampOrNull(runsOutAt(quotas, rate / DAY_MS, now)) : null,
  }
}

/** Units per day. Refunds of units from earlier weeks do not make a week negative. */
function rateOf(days: readonly number[], weeks: number): number {
  const weights = WEIGHTS.slice(0, weeks)
  const used = weights.reduce((sum, weight, week) => {
    const units = days.slice(week * DAYS_PER_WEEK, (week + 1) * DAYS_PER_WEEK).reduce((total, day) => total + day, 0)
    return sum + weight * Math.max(0, units)
  }, 0)
  return used / DAYS_PER_WEEK / weights.reduce((sum, weight) => sum + weight, 0)
}

/** How far ahead a forecast simulates, in time and in window changes. */
const HORIZON_MS = 366 * DAY_MS
const MAX_CHANGES = 100

/**
 * Simulates draws at a constant rate from one change of a window to the next: quotas start, reset, roll over and expire.
 * Null if the units last beyond the horizon or are unlimited. Ignores scopes, caps and overage.
 */
function runsOutAt(quotas: readonly Quota[], unitsPerMs: number, now: EpochMs): EpochMs | null {
  let grants = quotas.filter(quota => quota.kind === 'grant' && quota.enabled)
  let at = now
  for (let change = 0; change < MAX_CHANGES && at < now + HORIZON_MS; change++) {
    grants = grants.map(grant => roll(grant, at).quota)
    const live = grants.filter(grant => isLive(grant, at))
    if (live.some(grant => grant.limit === null)) return null
    const remaining = live.reduce((sum, grant) => sum + (remainingOf(grant) ?? 0), 0)
    const until = nextChange(grants, at)
    if (remaining < unitsPerMs * (until - at) || remaining === 0) {
      const end = Math.floor(at + remaining / unitsPerMs)
      return end < now + HORIZON_MS ? end : null
    }
    if (!Number.isFinite(until)) return null
    const drawn = drawFrom(live, unitsPerMs * (until - at))
    grants = grants.map(grant => ({ ...grant, used: grant.used + (drawn.get(grant.id) ?? 0) }))
    at = until
  }
  return null
}

/** When the next grant starts, resets or expires; Infinity if none does. */
function nextChange(grants: readonly Quota[], at: EpochMs): EpochMs {
  const times = grants.flatMap(({ starts_at, window_end, expires_at }) => [starts_at, window_end, expires_at])
  return Math.min(...times.filter(time => time !== null && time > at).map(Number))
}

/** Which grants pay for `units`: by priority, then the grant whose units expire soonest. */
function drawFrom(live: readonly Quota[], units: number): Map<number, number> {
  const end = ({ window_end, expires_at }: Quota) =>
    Math.min(window_end ?? Number.POSITIVE_INFINITY, expires_at ?? Number.POSITIVE_INFINITY)
  const inOrder = live.toSorted((one, other) => {
    if (one.priority !== other.priority) return one.priority - other.priority
    return end(one) === end(other) ? one.id - other.id : end(one) - end(other)
  })
  const drawn = new Map<number, number>()
  let rest = units
  for (const grant of inOrder) {
    const share = Math.min(rest, remainingOf(grant) ?? 0)
    drawn.set(grant.id, share)
    rest -= share
  }
  return drawn
}
