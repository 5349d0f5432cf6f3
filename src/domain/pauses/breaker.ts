/**
 * The breaker: it pauses a destination of a user to which codes are sent that no person enters, as artificial traffic does. Its
 * budgets come from a simulation (docs/reference/breaker.md).
 */

import { USAGE_BUCKET_MS } from '../basics/bounds.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../time/time.ts'

/** How long a message is young: its code may still be entered. Older ones that were not verified are unverified. */
export const YOUNG_MS = 300_000

/** Days of past traffic that say how much a destination usually has. */
export const HISTORY_DAYS = 14

/** Unverified messages of a destination that are no reason to pause it. */
export interface Budgets {
  /** Of the last 24 hours. */
  readonly day: number
  /** Of the last hour. */
  readonly hour: number
  /** Young ones. */
  readonly flight: number
  /** A destination with much traffic may have this part of its verified messages, if that is more. */
  readonly share: number
}

export const DEFAULT_BUDGETS: Budgets = { day: 40, hour: 15, flight: 25, share: 0.3 }

/**
 * Messages to a destination that were sent in [start, end), and how many of them were verified. Those that came back are not among them: where
 * they come back in another slot, it may have less than none.
 */
export interface Slot {
  readonly start: EpochMs
  readonly end: EpochMs
  readonly sent: number
  readonly verified: number
}

/** Recent traffic of a destination. Where a slot lies partly in a period, its messages count as spread evenly. */
export interface Figures {
  readonly young: number
  readonly unverified_hour: number
  readonly unverified_day: number
  /** In the last quarter of an hour, in the last hour, in the last 24 hours. */
  readonly verified_quarter: number
  readonly verified_hour: number
  readonly verified_day: number
}

/** The most that was verified of a destination on one day, and in one quarter of an hour, of the last `HISTORY_DAYS`. */
export interface History {
  readonly day: number
  readonly quarter: number
}

/** The one that shows an attack soonest comes first. */
export const BUDGET_NAMES = ['flight', 'hour', 'day'] as const

/** Why a destination is paused: the budget that it exceeded, and what that was made of. */
export interface Evidence extends Figures {
  readonly budget: (typeof BUDGET_NAMES)[number]
  readonly counted: number
  readonly allowed: number
  readonly usual_day: number
  readonly usual_quarter: number
}

/** Adds up slots, which overlap nowhere, from before 24 hours up to now. */
export function measure(slots: readonly Slot[], now: EpochMs): Figures {
  const quarter = sumSince(slots, now - USAGE_BUCKET_MS, now)
  const hour = sumSince(slots, now - HOUR_MS, now)
  const day = sumSince(slots, now - DAY_MS, now)
  const young = unverifiedOf(sumSince(slots, now - YOUNG_MS, now))
  return {
    young,
    unverified_hour: Math.max(0, unverifiedOf(hour) - young),
    unverified_day: Math.max(0, unverifiedOf(day) - young),
    verified_quarter: quarter.verified,
    verified_hour: hour.verified,
    verified_day: day.verified,
  }
}

/** A commit that came late was sent, for the counts, after its code was entered: only sums are never negative. */
const unverifiedOf = ({ sent, verified }: Pick<Slot, 'sent' | 'verified'>) => Math.max(0, sent - verified)

function sumSince(slots: readonly Slot[], since: EpochMs, now: EpochMs) {
  const sum = { sent: 0, verified: 0 }
  for (const { start, end, sent, verified } of slots) {
    if (end <= since) continue
    const part = start >= since ? 1 : (Math.min(end, now) - since) / (Math.min(end, now) - start)
    sum.sent += part * sent
    sum.verified += part * verified
  }
  return sum
}

/** What is usual, of quarters of an hour before the UTC day of `now`: so it holds for a day. */
export function historyOf(quarters: Iterable<Pick<Slot, 'start' | 'verified'>>, now: EpochMs): History {
  const today = Math.floor(now / DAY_MS)
  const days = new Array<number>(HISTORY_DAYS).fill(0)
  let most = 0
  for (const { start, verified } of quarters) {
    const day = today - 1 - Math.floor(start / DAY_MS)
    const sum = days[day]
    if (sum === undefined) continue
    days[day] = sum + verified
    most = Math.max(most, verified)
  }
  return { day: Math.max(...days), quarter: most }
}

/** Of a destination whose past is not known. */
export const NOTHING_USUAL: History = { day: 0, quarter: 0 }

/** Which budget a destination exceeds, if any: the one that shows an attack soonest. */
export function judge(figures: Figures, history: History, budgets: Budgets): Evidence | null {
  const { share } = budgets
  const day = Math.max(budgets.day, share * history.day, share * figures.verified_day)
  const hour = Math.max(budgets.hour, day / 6, share * figures.verified_hour)
  const flight = Math.max(budgets.flight, history.quarter, figures.verified_quarter)
  const exceeded = (
    [
      { budget: 'flight', counted: figures.young, allowed: flight },
      { budget: 'hour', counted: figures.unverified_hour, allowed: hour },
      { budget: 'day', counted: figures.unverified_day, allowed: day },
    ] as const
  ).find(({ counted, allowed }) => counted > allowed)
  return exceeded === undefined
    ? null
    : { ...exceeded, ...figures, usual_day: history.day, usual_quarter: history.quarter }
}

const hundredths = (figure: number) => Math.round(100 * figure) / 100

/** Evidence as the API shows it. Slots that lie partly in a period leave long fractions. */
export function evidenceViewOf(evidence: Evidence): Evidence {
  return {
    budget: evidence.budget,
    counted: hundredths(evidence.counted),
    allowed: hundredths(evidence.allowed),
    young: hundredths(evidence.young),
    unverified_hour: hundredths(evidence.unverified_hour),
    unverified_day: hundredths(evidence.unverified_day),
    verified_quarter: hundredths(evidence.verified_quarter),
    verified_hour: hundredths(evidence.verified_hour),
    verified_day: hundredths(evidence.verified_day),
    usual_day: evidence.usual_day,
    usual_quarter: evidence.usual_quarter,
  }
}

/** The first pause of a destination, and the longest. */
const FIRST_PAUSE_MS = HOUR_MS
const LONGEST_PAUSE_MS = DAY_MS

/** A pause of a destination, as long as it was made for. */
export interface BreakerPause {
  readonly from: EpochMs
  readonly until: EpochMs
}

/** How long a destination is paused: twice as long as the last time, if that ended less than a day ago. */
export function pauseMsOf(last: BreakerPause | null, now: EpochMs): number {
  if (last === null || now >= last.until + DAY_MS) return FIRST_PAUSE_MS
  return Math.min(LONGEST_PAUSE_MS, 2 * (last.until - last.from))
}
