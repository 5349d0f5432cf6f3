import type { Api } from '../api/types.ts'
import { addDays, dayIn, noonOf } from './local-time.ts'
import type { Group, Measure } from './usage-report.ts'

type Usage = Api['Usage']
type Item = Usage['items'][number]

/** A series of the chart, with its own color. */
export interface Series {
  /** The property of a row that holds its units. */
  key: `part${number}`
  label: string
  /** Units in the whole period. */
  total: number
  color: string
}

/** A day of the chart. */
export interface DayRow {
  /** A timestamp that the reader's time zone shows with the day. */
  at: string
  /** Units of each series; future days have only `forecast`. */
  [part: `part${number}`]: number
  forecast?: number
  /** Between what is less and more than the forecast on most days. */
  band?: readonly [low: number, high: number]
}

export interface ChartData {
  series: readonly Series[]
  rows: readonly DayRow[]
}

/** More colors are hard to distinguish. */
const MAX_SERIES = 6

/** The color of a series. All have a contrast of at least 3:1 to the page, light and dark. */
function seriesColor(index: number): string {
  return `var(--series-${(index % MAX_SERIES) + 1})`
}

/** What was denied stands on what was committed, in a color of its own. */
const DENIED_COLOR = 'light-dark(#c02323, #ff8f8f)'

const FIELDS = { country: 'country', message_type: 'message_type', quota: 'quota_id' } as const

/** The group of an item. */
export function keyOf(item: Item, group: Group): string | number | null {
  return item[FIELDS[group]] ?? null
}

/** The labels of groups, in the language of the page. */
interface Words {
  label(key: string | number | null): string
  /** For this many smaller groups together. */
  others(count: number): string
  /** For what was denied, on what was committed. */
  denied: string
}

/**
 * A series per group, largest first. Beyond `MAX_SERIES` the smaller groups are one series, the last. Without groups, what was
 * denied stands on what was committed.
 */
export function chartDataOf(
  { items, time_zone }: Pick<Usage, 'items' | 'time_zone'>,
  measure: Measure,
  group: Group | null,
  words: Words,
): ChartData {
  const groupOf = (item: Item) => (group === null ? null : keyOf(item, group))
  const totals = new Map<string | number | null, number>()
  for (const item of items) {
    const key = groupOf(item)
    totals.set(key, (totals.get(key) ?? 0) + item[measure].units)
  }
  const used = [...totals].filter(([, total]) => total > 0).sort(([, one], [, other]) => other - one)
  const shown = used.length > MAX_SERIES ? used.slice(0, MAX_SERIES - 1) : used
  const rest = used.slice(shown.length)

  const series: Series[] = []
  const add = (label: string, total: number, color = seriesColor(series.length)) =>
    series.push({ key: `part${series.length}`, label, total, color })
  for (const [key, total] of shown) add(words.label(key), total)
  if (rest.length > 0)
    add(
      words.others(rest.length),
      sumOf(rest, ([, units]) => units),
    )
  const places = new Map(used.map(([key], index) => [key, Math.min(index, shown.length)]))

  const rows = new Map<string, DayRow>()
  for (const item of items) {
    const row = rows.get(item.start) ?? { at: noonOf(dayIn(time_zone, item.start)) }
    rows.set(item.start, row)
    const place = places.get(groupOf(item))
    if (place === undefined) continue
    const part = `part${place}` as const
    row[part] = (row[part] ?? 0) + item[measure].units
  }
  const denied = sumOf(items, item => item.denied.units)
  if (measure === 'committed' && group === null && denied > 0) {
    const part = `part${series.length}` as const
    add(words.denied, denied, DENIED_COLOR)
    for (const item of items) {
      const row = rows.get(item.start)
      if (row !== undefined) row[part] = item.denied.units
    }
  }
  return { series, rows: [...rows.values()] }
}

function sumOf<Row>(rows: readonly Row[], unitsOf: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + unitsOf(row), 0)
}

/** How many messages of a group were sent, and how many codes of them entered. */
export interface Entered {
  key: string | number | null
  messages: number
  verified: number
}

/** The groups with codes that were entered, most messages first; of many, the largest. */
export function enteredOf({ items }: Pick<Usage, 'items'>, group: Group | null): Entered[] {
  const sums = new Map<string | number | null, Entered>()
  for (const item of items) {
    const key = group === null ? null : keyOf(item, group)
    const { messages, verified } = sums.get(key) ?? { messages: 0, verified: 0 }
    const sum = { messages: messages + item.committed.messages, verified: verified + item.verified_messages }
    sums.set(key, { key, ...sum })
  }
  return [...sums.values()]
    .filter(({ verified }) => verified > 0)
    .sort((one, other) => other.messages - one.messages)
    .slice(0, MAX_SERIES)
}

/** The highest bar or point of the forecast. */
export function maxOf(rows: readonly DayRow[]): number {
  return rows.reduce((max, row) => {
    const bar = Object.entries(row).reduce((sum, [key, value]) => {
      return key.startsWith('part') && typeof value === 'number' ? sum + value : sum
    }, 0)
    return Math.max(max, bar, row.forecast ?? 0, row.band?.[1] ?? 0)
  }, 0)
}

/** Length of the forecast as a share of the period. */
const FORECAST_SHARE = 0.25

/**
 * The days after today that a forecast shows, until the units run out.
 * @param shown how many days there are before
 * @param today a timestamp in the last of them
 */
export function daysAhead(
  shown: number,
  { runs_out_at }: NonNullable<Api['QuotaSummary']['forecast']>,
  today: string,
  timeZone: string,
): string[] {
  const [first, end] = [dayIn(timeZone, today), runs_out_at === null ? null : dayIn(timeZone, runs_out_at)]
  const days = Array.from({ length: Math.ceil(shown * FORECAST_SHARE) }, (_, index) => addDays(first, index + 1))
  return days.filter(day => end === null || day <= end)
}

/** Days that say how far a day is from the rate: those that the forecast weighs. */
const SPREAD_DAYS = 28

/** By how many units a day differs from the rate: the standard deviation of the days before today. */
function spreadOf(rows: readonly DayRow[], dailyRate: number): number {
  const days = rows.slice(-1 - SPREAD_DAYS, -1).map(({ part0 = 0 }) => part0)
  return days.length === 0 ? 0 : Math.sqrt(sumOf(days, units => (units - dailyRate) ** 2) / days.length)
}

/** Adds the days ahead at the daily rate, from the last row on, and how far days were from it. */
export function withForecast(rows: readonly DayRow[], dailyRate: number, ahead: readonly string[]): DayRow[] {
  const spread = spreadOf(rows, dailyRate)
  const expected = {
    forecast: dailyRate,
    band: [Math.max(0, Math.round(dailyRate - spread)), Math.round(dailyRate + spread)] as const,
  }
  return [
    ...rows.map((row, index) => (index === rows.length - 1 ? { ...row, ...expected } : row)),
    ...ahead.map(day => ({ at: noonOf(day), ...expected })),
  ]
}

const MAX_STEPS = 5

/** Whole numbers from 0 to at least `max`, in steps of 1, 2 or 5 times a power of ten. */
export function axisTicks(max: number): number[] {
  const least = Math.max(1, max / MAX_STEPS)
  const power = 10 ** Math.floor(Math.log10(least))
  const step = power * ([1, 2, 5].find(factor => factor * power >= least) ?? 10)
  return Array.from({ length: Math.max(1, Math.ceil(max / step)) + 1 }, (_, index) => index * step)
}
