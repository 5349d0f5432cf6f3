import { MAX_INTEGER } from '../basics/bounds.ts'
import { DAY_MS, type EpochMs } from '../time/time.ts'
import { FORECAST_DAYS } from './forecast.ts'

/** The days of a customer's figures, each of 24 hours back from when they were made. Those before them tell the growth. */
export const FIGURE_DAYS = 30

/** The units that a user sent and was denied on a day. */
export interface DayOfUsage {
  /** 0 is the latest. */
  day: number
  sent: number
  denied: number
  /** Of `denied`, for lack of units or of room under a cap: not because the destination was paused. */
  unmet: number
  /** Units that grants paid for, less refunds. */
  funded: number
}

/** The sums of a customer's usage, in units. */
export interface Figures {
  /** Units sent on each day, the latest last. */
  daily: readonly number[]
  sent: number
  /** Units sent on as many days before. */
  sent_before: number
  denied: number
  /** The share that was denied of what was asked for, in millionths. */
  denied_share: number
  unmet: number
  /**
   * Percent by which a day of `sent` is above a day of `sent_before`, of which those count since the first message, rounded. `NEWLY_GROWN`
   * if they are fewer than a week, or none.
   */
  growth: number
}

/** Growth from nothing: no percent says it, and it is the largest. */
export const NEWLY_GROWN = 2 ** 31 - 1
/** Of fewer days, weekends would tell the growth. */
const DAYS_TO_COMPARE = 7

/** @param days at most one for each day, of twice as many days as the figures have */
export function figuresOf(days: readonly DayOfUsage[]): Figures {
  const [late, early] = [days.filter(({ day }) => day < FIGURE_DAYS), days.filter(({ day }) => day >= FIGURE_DAYS)]
  const sum = (of: readonly DayOfUsage[], name: 'sent' | 'denied' | 'unmet') =>
    of.reduce((total, day) => Math.min(total + day[name], MAX_INTEGER), 0)
  const sentOn = new Map(late.map(({ day, sent }) => [day, sent]))
  const [sent, denied] = [sum(late, 'sent'), sum(late, 'denied')]
  const sent_before = sum(early, 'sent')
  return {
    daily: Array.from({ length: FIGURE_DAYS }, (_, index) => sentOn.get(FIGURE_DAYS - 1 - index) ?? 0),
    sent,
    sent_before,
    denied,
    denied_share: denied === 0 ? 0 : Math.floor((denied / (sent + denied)) * 1_000_000),
    unmet: sum(late, 'unmet'),
    growth: growthOf(sent, sent_before, daysSinceFirst(early)),
  }
}

/** How many of the days before the figures' came since something was sent for the first time, as far as the days tell. */
function daysSinceFirst(early: readonly DayOfUsage[]): number {
  return Math.max(FIGURE_DAYS - 1, ...early.filter(({ sent }) => sent > 0).map(({ day }) => day)) - (FIGURE_DAYS - 1)
}

function growthOf(sent: number, before: number, days: number): number {
  if (sent === 0) return before === 0 ? 0 : -100
  if (days < DAYS_TO_COMPARE) return NEWLY_GROWN
  const expected = (before / days) * FIGURE_DAYS
  return Math.min(Math.round(((sent - expected) / expected) * 100), NEWLY_GROWN - 1)
}

/** All figures are made anew after this time, because their days go by. */
const FIGURES_EVERY_MS = DAY_MS

/** When the figures are to be made anew at the latest. @param change when the standing can change by time alone */
export const figuresDueAt = (change: EpochMs, now: EpochMs): EpochMs => Math.min(change, now + FIGURES_EVERY_MS)

/** Units that grants paid for on each of the days that a forecast looks back, the latest first. */
export function fundedDays(days: readonly DayOfUsage[]): number[] {
  const funded = new Map(days.map(({ day, funded: units }) => [day, units]))
  return Array.from({ length: FORECAST_DAYS }, (_, day) => funded.get(day) ?? 0)
}

/** What names are sorted by, without case and accents. No character lies behind U+10FFFF. */
export function nameKeyOf(name: string | null): string {
  return name?.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase() ?? '\u{10FFFF}'
}
