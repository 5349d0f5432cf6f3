import { UnknownValue } from '../basics/unknown-value.ts'
import { type AnchorKind, type Calendar, lengthOf, PERIODS, type Period } from './period.ts'
import { DAY_MS } from './time.ts'

/** Where months and years begin, and the dates on which windows begin, the same in every time zone. */

/** A month of the year and a day, from 1. */
interface Start {
  readonly month: number
  readonly day: number
}

/** The kinds of anchors: how one is written, in words and as a pattern. */
export const ANCHORS = {
  day: { words: 'a day of the month from "1" to "31"', pattern: /^([1-9]|[12][0-9]|3[01])$/ },
  date: {
    words: 'a month and a day such as "04-01"',
    pattern: /^((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))$/,
  },
} as const satisfies Record<AnchorKind, object>

/** In a slot of a plan: the day on which the user got it. A quota of the slot has that day. */
export const JOINED = 'joined'

/** The anchor of a period whose windows begin on a date; null if they cannot. */
export function anchorOn(period: Period | null, { month, day }: Start): string | null {
  const kind = kindOf(period)
  if (kind === undefined) return null
  return kind === 'day' ? String(day) : [month, day].map(part => String(part).padStart(2, '0')).join('-')
}

const ANCHORED = PERIODS.filter(period => kindOf(period) !== undefined)

function kindOf(period: Period | null): AnchorKind | undefined {
  const length = period === null ? null : lengthOf(period)
  return length?.unit === 'month' ? length.anchor : undefined
}

/** Whether windows of this period can begin elsewhere than those of the calendar. */
export const canHaveAnchor = (period: Period | null) => kindOf(period) !== undefined

const OWN_START: Start = { month: 1, day: 1 }

/** Where months or years begin; undefined if this is no anchor of the period. */
function startOf(period: Period | null, anchor: string | null): Start | undefined {
  if (anchor === null) return OWN_START
  const kind = kindOf(period)
  if (kind === undefined || !ANCHORS[kind].pattern.test(anchor)) return undefined
  const [day = 1, month = 1] = anchor.split('-').map(Number).reverse()
  return { month, day }
}

/** What is wrong with the anchor of a quota with this period; null if nothing is. */
export function anchorError(period: Period | null, anchor: string | null): string | null {
  if (startOf(period, anchor) !== undefined) return null
  const kind = kindOf(period)
  if (kind !== undefined) return `must be null or ${ANCHORS[kind].words} for the period ${period}`
  return `must be null unless the period is ${ANCHORED.join(' or ')}`
}

/** Whether windows begin at the same dates: "1" and "01-01" are where they begin without an anchor. */
export function isSameAnchor(period: Period | null, one: string | null, other: string | null): boolean {
  const [first, second] = [startOf(period, one), startOf(period, other)]
  return first !== undefined && first.month === second?.month && first.day === second.day
}

/* ── Dates ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Windows of whole dates, numbered without a gap. A date is its number of days since 1970-01-01. */
export interface DateWindows {
  /** The number of the window that contains a date. */
  numberAt(date: number): number
  /** The first date of a window. */
  firstDate(number: number): number
}

/**
 * The windows of a calendar by their dates, in any time zone; null: they are hours or minutes.
 *
 * @throws UnknownValue for a period or an anchor of a newer version
 */
export function dateWindowsOf({ period, anchor }: Omit<Calendar, 'time_zone'>): DateWindows | null {
  const length = lengthOf(period)
  const start = startOf(period, anchor)
  if (start === undefined) throw new UnknownValue('an anchor', anchor)
  if (length.unit === 'hour' || length.unit === 'minute') return null
  return length.unit === 'day' ? windowsOfDays(length.count) : windowsOfMonths(length.count, start)
}

function windowsOfDays(count: 1 | 7): DateWindows {
  // 1970-01-01 was a Thursday, the fourth day of its week.
  const shift = count === 7 ? 3 : 0
  return { numberAt: date => Math.floor((date + shift) / count), firstDate: number => number * count - shift }
}

/** Each begins on the day of the start, or on the last day of a month that is shorter: a 31st does not become a 28th for good. */
function windowsOfMonths(count: number, { month, day }: Start): DateWindows {
  const firstDate = (number: number) => {
    const index = number * count + month - 1
    return Date.UTC(1970, index, Math.min(day, daysIn(index))) / DAY_MS
  }
  return {
    numberAt(date) {
      const at = new Date(date * DAY_MS)
      const index = (at.getUTCFullYear() - 1970) * 12 + at.getUTCMonth()
      const number = Math.floor((index - month + 1) / count)
      return date < firstDate(number) ? number - 1 : number
    },
    firstDate,
  }
}

/** The days of a month, numbered from January 1970 on. */
function daysIn(index: number): number {
  return new Date(Date.UTC(1970, index + 1, 0)).getUTCDate()
}
