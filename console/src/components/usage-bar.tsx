import type { Api } from '../api/types.ts'
import { formatUnits } from '../formats.ts'
import { usageTone } from '../model/quota-status.ts'
import { texts } from '../texts/texts.ts'
import { perValueText } from './quota-labels.ts'
import classes from './usage-bar.module.css'

type Quota = Api['SmsQuota']

interface Usage {
  /** null is unlimited. */
  limit: number | null
  /** null: the quota counts each value by itself, and has no usage of all. */
  used: number | null
  reserved: number | null
  /** By which values a quota counts, and what. */
  per?: Quota['per']
  counts?: Quota['counts']
  /** Units past the limit. */
  overage: number
  /** Units rolled over from the previous window; the limit of totals includes them already. */
  rolled_over?: number
  /** The percents at which an alert is due, ascending. */
  alert_at?: readonly number[]
  isLarge?: boolean
}

/** Used, reserved and remaining units of a limit, as a bar and as text. Of a quota that has no usage of all, what each value gets. */
export function UsageBar({ limit, used, reserved, overage, rolled_over = 0, alert_at = [], ...more }: Usage) {
  const { isLarge = false, per = null, counts = 'units' } = more
  if (used === null || reserved === null) return per === null ? null : perValueText({ limit, per, counts })
  const text = usageText({ limit, used, reserved, overage, rolled_over })
  // With overage, the full bar is what was drawn, and its end is the overage.
  const whole = limit === null ? 0 : Math.max(limit + rolled_over, used + reserved)
  const shareOf = (units: number) => (whole === 0 ? 0 : (units / whole) * 100)
  const shares = overlay(shareOf(used), shareOf(reserved), shareOf(overage))
  const tone = limit === null ? undefined : usageTone(used + reserved, limit + rolled_over, alert_at)
  return (
    <div className={classes.usage} data-large={isLarge || undefined} data-tone={tone}>
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

function usageText({
  limit,
  used,
  reserved,
  overage,
  rolled_over = 0,
}: Usage & { used: number; reserved: number }): string {
  const { bar } = texts.usage
  const left =
    limit === null ? bar.unlimited : bar.left(formatUnits(Math.max(0, limit + rolled_over - used - reserved)))
  return [
    bar.used(formatUnits(used)),
    ...(reserved > 0 ? [bar.reserved(formatUnits(reserved))] : []),
    overage > 0 ? bar.overage(formatUnits(overage)) : left,
  ].join(' · ')
}
