import type { Api } from '../../api/types.ts'
import { addDays, dayOf } from './days.ts'
import type { Group, Measure } from './usage-state.ts'

type Usage = Api['Usage']
type Item = Usage['items'][number]

/** One colour of the chart. */
export interface Series {
  /** Where a row has its units. */
  key: `part${number}`
  label: string
  /** In the whole period. */
  total: number
}

/** A day of the chart. */
export interface DayRow {
  /** A moment of the day. */
  at: string
  /** Units of each series; of days to come only what is forecast. */
  [part: `part${number}`]: number
  forecast?: number
}

export interface ChartData {
  series: readonly Series[]
  rows: readonly DayRow[]
}

/** More colours than these cannot be told apart. */
const MAX_SERIES = 6

const FIELDS = { country: 'country', message_type: 'message_type', quota: 'quota_id' } as const

/** What an item is grouped by. */
export function keyOf(item: Item, group: Group): string | number | null {
  return item[FIELDS[group]] ?? null
}

/**
 * A series for each group, the largest first; the many small ones together are the last.
 * @param labelOf what a group is called
 */
export function chartDataOf(
  { items }: Usage,
  measure: Measure,
  group: Group | null,
  labelOf: (key: string | number | null) => string,
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

  const series: Series[] = shown.map(([key, total], index) => ({ key: `part${index}`, label: labelOf(key), total }))
  if (rest.length > 0) {
    const total = rest.reduce((sum, [, units]) => sum + units, 0)
    series.push({ key: `part${shown.length}`, label: `${rest.length} others`, total })
  }
  const places = new Map(used.map(([key], index) => [key, Math.min(index, shown.length)]))

  const rows = new Map<string, DayRow>()
  for (const item of items) {
    const row = rows.get(item.start) ?? { at: item.start }
    rows.set(item.start, row)
    const place = places.get(groupOf(item))
    if (place === undefined) continue
    const part = `part${place}` as const
    row[part] = (row[part] ?? 0) + item[measure].units
  }
  return { series, rows: [...rows.values()] }
}

/** How far a forecast is drawn, as a part of what was. */
const FORECAST_SHARE = 0.25

/**
 * The days after today at the daily rate, as long as units last.
 * @param today a moment of the last row's day
 */
export function withForecast(
  rows: readonly DayRow[],
  forecast: NonNullable<Api['QuotaSummary']['forecast']>,
  today: string,
): DayRow[] {
  const { daily_rate, runs_out_at } = forecast
  const first = dayOf(today)
  const end = runs_out_at === null ? null : dayOf(runs_out_at)
  const ahead = Array.from({ length: Math.ceil(rows.length * FORECAST_SHARE) }, (_, index) => addDays(first, index + 1))
  return [
    ...rows.map((row, index) => (index === rows.length - 1 ? { ...row, forecast: daily_rate } : row)),
    ...ahead
      .filter(day => end === null || day <= end)
      // At noon, which every day has.
      .map(day => ({ at: new Date(`${day}T12:00:00`).toISOString(), forecast: daily_rate })),
  ]
}
