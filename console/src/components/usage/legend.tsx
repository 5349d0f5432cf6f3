import { formatUnits } from '../../formats.ts'
import type { Series } from './chart-data.ts'
import { seriesColor } from './series-color.ts'
import classes from './usage.module.css'

/** Legend of the chart: the series, largest first, and the forecast. */
export function Legend({ series, forecast }: { series: readonly Series[]; forecast: string | null }) {
  if (series.length < 2 && forecast === null) return null
  return (
    <ul className={classes.legend}>
      {series.length > 1 &&
        series.map(({ key, label, total }, index) => (
          <li key={key}>
            <span className={classes.swatch} style={{ background: seriesColor(index) }} />
            <bdi>{label}</bdi> <span className={classes.number}>{formatUnits(total)}</span>
          </li>
        ))}
      {forecast !== null && (
        <li>
          <span className={classes.dashes} />
          {forecast}
        </li>
      )}
    </ul>
  )
}
