import type { Api } from '../../api/types.ts'
import { useChosenBar } from '../../components/chosen-bar.ts'
import { formatClock } from '../../formats.ts'
import { texts } from '../../texts/texts.ts'
import classes from './hourly-chart.module.css'

type Hour = NonNullable<Api['Overview']['usage']>['today'][number]

const HOURS_OF_A_DAY = 24
/** Hours with an axis label. */
const LABELLED = [0, 6, 12, 18]

interface HourlyChartProps {
  today: readonly Hour[]
  yesterday: readonly Hour[]
}

const { today: words } = texts.overview

/** Units by hour of today, the denied ones on those that were sent, in front of those that were sent yesterday. */
export function HourlyChart({ today, yesterday }: HourlyChartProps) {
  const max = Math.max(1, ...today.map(({ sent, denied }) => sent + denied), ...yesterday.map(({ sent }) => sent))
  // With clock changes a day has 23 or 25 hours.
  const count = Math.max(HOURS_OF_A_DAY, today.length, yesterday.length)
  const height = (units = 0) => ({ height: `${(units / max) * 100}%` })
  const { chosen, shown, barAt, choose, slider } = useChosenBar(count, today.length - 1)
  const said = textOf(today[shown], yesterday[shown])
  return (
    <figure className={classes.figure}>
      <div
        className={classes.hours}
        role="slider"
        tabIndex={0}
        aria-valuenow={shown}
        {...slider}
        aria-label={words.chart}
        aria-valuetext={said}
        onPointerMove={event => choose(barAt(event))}
        onPointerDown={event => choose(barAt(event))}
      >
        {Array.from({ length: count }, (_, hour) => hour).map(hour => (
          <div key={hour} className={classes.hour} data-chosen={hour === chosen || undefined}>
            <span className={classes.before} style={height(yesterday[hour]?.sent)} />
            <span className={classes.now} style={height((today[hour]?.sent ?? 0) + (today[hour]?.denied ?? 0))}>
              <span className={classes.denied} style={{ flexGrow: today[hour]?.denied ?? 0 }} />
              <span className={classes.sent} style={{ flexGrow: today[hour]?.sent ?? 0 }} />
            </span>
          </div>
        ))}
      </div>
      <div className={classes.axis} aria-hidden>
        {LABELLED.map(hour => (
          <span key={hour}>{startOf(yesterday[hour])}</span>
        ))}
      </div>
      <figcaption className={classes.legend}>
        <span data-day="today">{words.sent}</span>
        <span data-day="denied">{words.denied}</span>
        <span data-day="yesterday">{words.yesterday}</span>
      </figcaption>
      <p className={classes.said}>{said}</p>
    </figure>
  )
}

const startOf = (hour: Hour | undefined) => (hour === undefined ? '\u00a0' : formatClock(hour.start))

/** "From 14:00: 120 sent and 3 denied today, 100 sent yesterday" */
function textOf(today: Hour | undefined, yesterday: Hour | undefined): string {
  return words.hour(startOf(today ?? yesterday), today ?? null, yesterday?.sent ?? null)
}
