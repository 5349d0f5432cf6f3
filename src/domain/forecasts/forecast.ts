import { MAX_LOOKAHEAD_STEPS } from '../basics/bounds.ts'
import type { Quota } from '../quotas/quota.ts'
import { withinSteps } from '../time/step-budget.ts'
import { DAY_MS, type EpochMs, formatTimestampOrNull } from '../time/time.ts'
import { capsUse, runsOutAt } from './run-out.ts'

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

export interface Forecast {
  daily_rate: number
  runs_out_at: string | null
  units_run_out_at: string | null
}

/**
 * When a user can no longer send at the past rate of use (`runsOutAt`). Null during the first week after the first use, when
 * there is too little data, and if an end would take more steps than `maxSteps`: null there means that there is none. `quotas` are the user's undeleted quotas, rolled to `now`.
 *
 * The rate is a weighted average over whole weeks: a busy Monday weighs the same whether today is Monday or Sunday, and a
 * burst four weeks ago weighs a quarter of one this week.
 */
export function* forecastInSlices(
  quotas: readonly Quota[],
  past: PastUsage,
  now: EpochMs,
  maxSteps = MAX_LOOKAHEAD_STEPS,
): Generator<undefined, Forecast | null, void> {
  const rate = dailyRateOf(past, now)
  if (rate === null) return null
  const endOf = (counted: readonly Quota[]) =>
    withinSteps(maxSteps, budget => ({ at: rate > 0 ? runsOutAt(counted, rate / DAY_MS, now, budget) : null }))
  const end = endOf(quotas)
  if (end !== null) yield
  // Without such caps it is the same, which takes some ten milliseconds for many grants of short windows.
  const unitsEnd = quotas.some(capsUse) ? endOf(quotas.filter(({ kind }) => kind === 'grant')) : end
  if (end === null || unitsEnd === null) return null
  return {
    // Rounded to hundredths; the ends are computed from the exact rate.
    daily_rate: Math.round(rate * 100) / 100,
    runs_out_at: formatTimestampOrNull(end.at),
    units_run_out_at: formatTimestampOrNull(unitsEnd.at),
  }
}

/** Units per day; null before a full week of use. Refunds of units from earlier weeks do not make a week negative. */
export function dailyRateOf({ first, days }: PastUsage, now: EpochMs): number | null {
  if (first === null) return null
  const weeks = Math.min(WEIGHTS.length, Math.floor((now - first) / (DAYS_PER_WEEK * DAY_MS)))
  if (weeks === 0) return null
  const weights = WEIGHTS.slice(0, weeks)
  const used = weights.reduce((sum, weight, week) => {
    const units = days.slice(week * DAYS_PER_WEEK, (week + 1) * DAYS_PER_WEEK).reduce((total, day) => total + day, 0)
    return sum + weight * Math.max(0, units)
  }, 0)
  return used / DAYS_PER_WEEK / weights.reduce((sum, weight) => sum + weight, 0)
}
