import type { Api } from '../../api/types.ts'
import { formatClock } from '../../formats.ts'
import { texts } from '../../texts/texts.ts'
import classes from './hourly-chart.module.css'

type Hour = Api['Usage']['items'][number]

const HOURS_OF_A_DAY = 24
/** Hours with an axis label. */
const LABELLED = [0, 6, 12, 18]

interface HourlyChartProps {
  today: readonly Hour[]
  yesterday: readonly Hour[]
}

/** Units by hour of today in front of those of yesterday. */
export function HourlyChart({ today, yesterday }: HourlyChartProps) {
  const max = Math.max(1, ...[...today, ...yesterday].map(unitsOf))
  // With clock changes a day has 23 or 25 hours.
  const hours = Array.from({ length: Math.max(HOURS_OF_A_DAY, today.length, yesterday.length) }, (_, hour) => hour)
  const share = (hour: Hour | undefined) => `${(unitsOf(hour) / max) * 100}%`
  return (
    <figure className={classes.figure}>
      <div className={classes.hours} role="img" aria-label={labelFor(today)}>
        {hours.map(hour => {
          const [now, before] = [today[hour], yesterday[hour]]
          return (
            <div key={hour} className={classes.hour} title={titleOf(now, before)}>
              <span className={classes.before} style={{ height: share(before) }} />
              <span className={classes.now} style={{ height: share(now) }} />
            </div>
          )
        })}
      </div>
      <div className={classes.axis} aria-hidden>
        {LABELLED.map(hour => (
          <span key={hour}>{startOf(yesterday[hour])}</span>
        ))}
      </div>
      <figcaption className={classes.legend}>
        <span data-day="today">{texts.overview.today.today}</span>
        <span data-day="yesterday">{texts.overview.today.yesterday}</span>
      </figcaption>
    </figure>
  )
}

const unitsOf = (hour: Hour | undefined) => hour?.committed.units ?? 0
const startOf = (hour: Hour | undefined) => (hour === undefined ? '\u00a0' : formatClock(hour.start))

function labelFor(today: readonly Hour[]): string {
  const busiest = today.reduce<Hour | undefined>(
    (best, hour) => (unitsOf(hour) > unitsOf(best) ? hour : best),
    undefined,
  )
  return texts.overview.today.chart(busiest === undefined ? null : startOf(busiest), unitsOf(busiest))
}

function titleOf(today: Hour | undefined, yesterday: Hour | undefined): string {
  const unitsOrNull = (hour: Hour | undefined) => (hour === undefined ? null : unitsOf(hour))
  return texts.overview.today.hour(startOf(today ?? yesterday), unitsOrNull(today), unitsOrNull(yesterday))
}
