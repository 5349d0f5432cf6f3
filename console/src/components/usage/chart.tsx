import { Area, Bar, CartesianGrid, ComposedChart, Line, ReferenceLine, Tooltip, XAxis, YAxis } from 'recharts'
import { formatCompact, formatShortDay, formatUnits, formatWeekday } from '../../formats.ts'
import { axisTicks, type ChartData, type DayRow, maxOf } from '../../model/usage-chart.ts'
import { texts } from '../../texts/texts.ts'
import classes from './chart.module.css'

interface ChartProps extends ChartData {
  /** The accessible name. */
  label: string
  /** The limit of a cap by the day; null: there is none. */
  cap: number | null
}

/** Units by day as bars, a cap as a line, and the forecast as a dashed line in a band. In its own chunk, because recharts is larger than all pages. */
export default function Chart({ series, rows, label, cap }: ChartProps) {
  const ticks = axisTicks(Math.max(maxOf(rows), cap ?? 0))
  return (
    <ComposedChart
      responsive
      className={classes.chart}
      data={[...rows]}
      margin={{ top: 8, right: 4, bottom: 0, left: 0 }}
      barCategoryGap="18%"
      aria-label={label}
    >
      <CartesianGrid vertical={false} stroke="var(--line)" />
      <XAxis
        dataKey="at"
        tickFormatter={formatShortDay}
        tickLine={false}
        axisLine={{ stroke: 'var(--mantine-color-default-border)' }}
        minTickGap={28}
        tickMargin={6}
      />
      <YAxis
        ticks={ticks}
        domain={[0, ticks.at(-1) ?? 0]}
        interval={0}
        tickFormatter={formatCompact}
        tickLine={false}
        axisLine={false}
        width={52}
      />
      <Tooltip
        content={({ active, payload }) => (active ? <Tip row={payload[0]?.payload} series={series} /> : null)}
        cursor={{ fill: 'var(--hover)', stroke: 'none' }}
        isAnimationActive={false}
      />
      {series.map(({ key, color }) => (
        <Bar key={key} dataKey={key} stackId="units" fill={color} maxBarSize={36} isAnimationActive={false} />
      ))}
      <Area
        dataKey="band"
        fill="var(--mantine-color-text)"
        fillOpacity={0.1}
        stroke="none"
        activeDot={false}
        isAnimationActive={false}
      />
      {cap !== null && <ReferenceLine y={cap} stroke="var(--series-4)" strokeWidth={1.5} />}
      <Line
        dataKey="forecast"
        stroke="var(--mantine-color-text)"
        strokeWidth={1.5}
        strokeDasharray="4 4"
        dot={false}
        activeDot={false}
        isAnimationActive={false}
      />
    </ComposedChart>
  )
}

/** The tooltip of a day: units by series and in total. */
function Tip({ row, series }: { row: DayRow | undefined; series: ChartData['series'] }) {
  if (row === undefined) return null
  const parts = series.map(({ key, label, color }) => ({ key, label, units: row[key] ?? 0, color }))
  const isAhead = parts.every(({ key }) => row[key] === undefined) && row.forecast !== undefined
  const drawn = parts.filter(({ units }) => units > 0).reverse()
  return (
    <div className={classes.tip} role="status">
      <div className={classes.day}>{formatWeekday(row.at)}</div>
      {isAhead ? (
        <div>{texts.usage.forecastDay(Math.round(row.forecast ?? 0), row.band ?? null)}</div>
      ) : (
        <>
          {series.length > 1 &&
            drawn.map(({ key, label, units, color }) => (
              <div key={key} className={classes.part}>
                <span className={classes.swatch} style={{ background: color }} />
                <bdi className={classes.name}>{label}</bdi>
                <span className={classes.units}>{formatUnits(units)}</span>
              </div>
            ))}
          <div className={classes.part}>
            <span className={classes.name}>{series.length > 1 ? texts.usage.total : texts.usage.unit}</span>
            <span className={classes.units}>{formatUnits(drawn.reduce((sum, { units }) => sum + units, 0))}</span>
          </div>
        </>
      )}
    </div>
  )
}
