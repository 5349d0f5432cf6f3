import { formatUnits } from './units.tsx'
import classes from './usage-bar.module.css'

interface Usage {
  /** null is unlimited. */
  limit: number | null
  used: number
  reserved: number
  /** Beyond the limit. */
  overage: number
  /** Carried in from the window before; totals have it in their limit already. */
  rolled_over?: number
  /** Where it is the main thing to see. */
  isLarge?: boolean
}

/** What is used, reserved and left of a limit: as a bar for the eye, and in words for everybody. */
export function UsageBar({ limit, used, reserved, overage, rolled_over = 0, isLarge = false }: Usage) {
  const words = wordsFor({ limit, used, reserved, overage, rolled_over })
  // A bar that is drawn past its limit is as long as what is drawn; the overage is its end.
  const whole = limit === null ? 0 : Math.max(limit + rolled_over, used + reserved)
  const shareOf = (units: number) => (whole === 0 ? 0 : (units / whole) * 100)
  const shares = overlay(shareOf(used), shareOf(reserved), shareOf(overage))
  return (
    <div className={classes.usage} data-large={isLarge || undefined}>
      <div className={classes.bar} data-unlimited={limit === null || undefined} aria-hidden>
        {shares.map(({ part, percent }) => (
          <span key={part} className={classes.part} data-part={part} style={{ width: `${percent}%` }} />
        ))}
      </div>
      <div className={classes.words}>{words}</div>
    </div>
  )
}

/** The overage takes the place of what it is made of: reserved units first, then used ones. */
function overlay(used: number, reserved: number, overage: number) {
  const ofReserved = Math.min(reserved, overage)
  return [
    { part: 'used', percent: used - (overage - ofReserved) },
    { part: 'reserved', percent: reserved - ofReserved },
    { part: 'overage', percent: overage },
  ].filter(({ percent }) => percent > 0)
}

function wordsFor({ limit, used, reserved, overage, rolled_over = 0 }: Usage): string {
  const left = limit === null ? 'unlimited' : `${formatUnits(Math.max(0, limit + rolled_over - used - reserved))} left`
  return [
    `${formatUnits(used)} used`,
    ...(reserved > 0 ? [`${formatUnits(reserved)} reserved`] : []),
    overage > 0 ? `${formatUnits(overage)} over the limit` : left,
  ].join(' · ')
}
