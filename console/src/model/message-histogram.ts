import { DAY_MS } from '../../../src/domain/time/time.ts'
import type { MessageFilters } from './messages.ts'
import { type TimeRange, wholeQuarters } from './time-ranges.ts'

/** The messages of a time, as bars. Usage counts them, and by time, user, country and type only. */

/** The lengths of a bar, each for periods up to a number of days. */
const INTERVALS = [
  { interval: 'hour', maxDays: 3 },
  { interval: 'day', maxDays: 100 },
  { interval: 'week', maxDays: 700 },
  { interval: 'month', maxDays: Number.POSITIVE_INFINITY },
] as const

export interface HistogramPeriod extends TimeRange {
  interval: (typeof INTERVALS)[number]['interval']
}

/** The time of the filters, or 24 hours of it; null if usage does not count what they select, or there is no time in it. */
export function histogramPeriod(filters: MessageFilters, now: Date): HistogramPeriod | null {
  const { id, sender, without, state, from, to } = filters
  if (id !== null || sender !== null || without !== null) return null
  if (state !== null && state !== 'committed' && state !== 'denied') return null
  const end = Math.min(Date.parse(to ?? now.toISOString()), now.getTime())
  const start = from === null ? end - DAY_MS : Date.parse(from)
  if (start >= end) return null
  const days = (end - start) / DAY_MS
  const interval = INTERVALS.find(({ maxDays }) => days <= maxDays)?.interval ?? 'month'
  return { ...wholeQuarters(new Date(start).toISOString(), new Date(end).toISOString()), interval }
}

/** A bar: the messages of a stretch of time. */
export interface Bar {
  start: string
  end: string
  sent: number
  denied: number
}

/** The time from one bar to another, in any order, within that of the filters. */
export function timeOfBars(
  bars: readonly Bar[],
  [one, other]: readonly [number, number],
  filters: Pick<MessageFilters, 'from' | 'to'>,
): Pick<MessageFilters, 'from' | 'to'> | null {
  const [first, last] = [bars[Math.min(one, other)], bars[Math.max(one, other)]]
  if (first === undefined || last === undefined) return null
  return {
    from: filters.from !== null && Date.parse(filters.from) > Date.parse(first.start) ? filters.from : first.start,
    to: filters.to !== null && Date.parse(filters.to) < Date.parse(last.end) ? filters.to : last.end,
  }
}
