import { averageMs, PERIODS } from '../../../src/domain/period.ts'
import { DAY_MS } from '../../../src/domain/time.ts'
import type { Api } from '../api/types.ts'
import type { NamedUser } from './addresses.ts'

const SOON_MS = 15 * 60_000

/** Whether an estimated time is so near that people say "within minutes". */
export function isWithinMinutes(at: string, now: string): boolean {
  return Date.parse(at) - Date.parse(now) < SOON_MS
}

const DAYS = 7

/** A user who will run out within 7 days at the daily rate. */
export interface RunOut extends NamedUser {
  runsOutAt: string
  isSoon: boolean
  dailyRate: number
  left: number | null
  /** Of `left`, what would still be unused then: the units end before they run out. 0 if that is less than a day's. */
  unused: number
  /** The units that the user would send from then until the next reset, or to the end of the 7 days if that is before. */
  missing: { units: number; until: string }
}

/** Caps that reset within the 7 days: a user that only they stop can go on before the week is over. */
const SHORT_PERIODS: readonly string[] = PERIODS.filter(period => averageMs(period) <= DAYS * DAY_MS)

/** None for a user whose units last longer, and for one who can send nothing now: that one is blocked. */
export function runOutWithinDays(summary: Api['QuotaSummary']): RunOut[] {
  const { user_id, user_ref, user_name, as_of, forecast, available, remaining, caps, next_reset } = summary
  if (forecast === null) return []
  const { runs_out_at, units_run_out_at, daily_rate } = forecast
  const isCapped = caps.some(({ period }) => period !== null && SHORT_PERIODS.includes(period))
  const end = isCapped ? units_run_out_at : runs_out_at
  if (end === null || end <= as_of) return []
  const horizon = new Date(Date.parse(as_of) + DAYS * DAY_MS).toISOString()
  if (end > horizon) return []
  const left = isCapped ? remaining : available
  const until = next_reset !== null && next_reset.at > end && next_reset.at < horizon ? next_reset.at : horizon
  const missing = Math.ceil((daily_rate * (Date.parse(until) - Date.parse(end))) / DAY_MS)
  const unused = Math.floor((left ?? 0) - (daily_rate * (Date.parse(end) - Date.parse(as_of))) / DAY_MS)
  return [
    {
      user_id,
      user_ref,
      user_name,
      runsOutAt: end,
      isSoon: isWithinMinutes(end, as_of),
      dailyRate: daily_rate,
      left,
      unused: unused > daily_rate ? unused : 0,
      missing: { units: missing, until },
    },
  ]
}
