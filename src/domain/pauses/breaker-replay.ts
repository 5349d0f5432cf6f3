import { DAY_MS, type EpochMs } from '../time/time.ts'
import {
  type BreakerPause,
  type Budgets,
  type Evidence,
  HISTORY_DAYS,
  historyOf,
  judge,
  measure,
  NOTHING_USUAL,
  pauseMsOf,
  type Slot,
} from './breaker.ts'

/** A pause that budgets would have made in the past, and what was sent to the destination while it would have lasted. */
export interface ReplayedPause extends BreakerPause {
  readonly evidence: Evidence
  /** Messages that would not have left, and those of them that were verified. */
  readonly stopped: number
  readonly stopped_verified: number
}

/**
 * Replays the past of a destination by quarters of an hour, from `since` on: those before are its history, as far back as
 * `HISTORY_DAYS`. What a pause stops counts for nothing afterwards.
 *
 * Usage is kept by the quarter of an hour, and that blurs: a quarter is judged at its end, up to 15 minutes later than live; a third of
 * the last one counts as young; and what was verified counts in the quarter in which that was reported.
 *
 * @param quarters those with traffic, ascending
 */
export function replay(quarters: readonly Slot[], since: EpochMs, budgets: Budgets): ReplayedPause[] {
  const pauses: (ReplayedPause & { stopped: number; stopped_verified: number })[] = []
  const kept: Slot[] = []
  let [dayStart, historyStart] = [0, 0]
  for (const [index, quarter] of quarters.entries()) {
    const last = pauses.at(-1)
    if (last !== undefined && quarter.start < last.until) {
      last.stopped += Math.max(0, quarter.sent)
      last.stopped_verified += quarter.verified
      continue
    }
    kept.push(quarter)
    // Its youngest messages are judged with the next quarter, which has none of its own if it is not listed.
    const next = quarters[index + 1]
    const width = quarter.end - quarter.start
    const isNextEmpty = next === undefined || next.start > quarter.end
    for (const now of isNextEmpty ? [quarter.end, quarter.end + width] : [quarter.end]) {
      if (now <= since) continue
      while ((kept[dayStart]?.end ?? now) <= now - DAY_MS) dayStart++
      const figures = measure(kept.slice(dayStart), now)
      // Most destinations never exceed the plain budgets: their past is not read.
      if (judge(figures, NOTHING_USUAL, budgets) === null) continue
      while ((kept[historyStart]?.end ?? now) <= now - (HISTORY_DAYS + 1) * DAY_MS) historyStart++
      const evidence = judge(figures, historyOf(kept.slice(historyStart), now), budgets)
      if (evidence === null) continue
      const until = now + pauseMsOf(last ?? null, now)
      pauses.push({ from: now, until, evidence, stopped: 0, stopped_verified: 0 })
      break
    }
  }
  return pauses
}
