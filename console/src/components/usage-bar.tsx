import { formatUnits } from '../formats.ts'
import classes from './usage-bar.module.css'

interface Usage {
  /** null is unlimited. */
  limit: number | null
  used: number
  reserved: number
  /** Units past the limit. */
  overage: number
  /** Units rolled over from the previous window; the limit of totals includes them already. */
  rolled_over?: number
  isLarge?: boolean
}

/** Used, reserved and remaining units of a limit, as a bar and as text. */
export function UsageBar({ limit, used, reserved, overage, rolled_over = 0, isLarge = false }: Usage) {
  const text = usageText({ limit, used, reserved, overage, rolled_over })
  // With overage, the full bar is what was drawn, and its end is the overage.
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
      <div className={classes.text}>{text}</div>
    </div>
  )
}

/** Shows the overage in place of reserved units first, then of used ones. */
function overlay(used: number, reserved: number, overage: number) {
  const ofReserved = Math.min(reserved, overage)
  return [
    { part: 'used', percent: used - (overage - ofReserved) },
    { part: 'reserved', percent: reserved - ofReserved },
    { part: 'overage', percent: overage },
  ].filter(({ percent }) => percent > 0)
}

function usageText({ limit, used, reserved, overage, rolled_over = 0 }: Usage): string {
  const left = limit === null ? 'unlimited' : `${formatUnits(Math.max(0, limit + rolled_over - used - reserved))} left`
  return [
    `${formatUnits(used)} used`,
    ...(reserved > 0 ? [`${formatUnits(reserved)} reserved`] : []),
    overage > 0 ? `${formatUnits(overage)} over the limit` : left,
  ].join(' · ')
}
