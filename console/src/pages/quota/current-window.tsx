import type { ReactNode } from 'react'
import type { Api } from '../../api/types.ts'
import { StatusBadge } from '../../components/status-badge.tsx'
import { UsageBar } from '../../components/usage-bar.tsx'
import { Timestamp, Units } from '../../components/values.tsx'
import classes from './current-window.module.css'
import { hasStarted } from './form-values.ts'
import { formatters } from './formatters.ts'
import { describeQuota } from './quota-description.ts'

interface CurrentWindowProps {
  quota: Api['SmsQuota']
  /** The confirmation message of the last action. */
  message: string
}

/** Status and usage of a quota in its current window. */
export function CurrentWindow({ quota, message }: CurrentWindowProps) {
  const { status, limit, used, reserved, rolled_over, remaining, overage, window_start, window_end } = quota
  return (
    <section className={classes.card} aria-label="Current window">
      <div className={classes.head}>
        <StatusBadge status={status} />
        <span role="status">{message}</span>
        <span className={classes.window}>
          Window <Timestamp at={window_start} /> – <Timestamp at={window_end} none="no end" />
        </span>
      </div>
      <UsageBar {...quota} isLarge />
      <dl className={classes.figures}>
        <Figure label="Limit">
          <Units value={limit} />
        </Figure>
        {rolled_over > 0 && (
          <Figure label="Rolled over">
            <Units value={rolled_over} />
          </Figure>
        )}
        <Figure label="Used">
          <Units value={used} />
        </Figure>
        <Figure label="Reserved">
          <Units value={reserved} />
        </Figure>
        {overage > 0 ? (
          <Figure label="Over the limit">
            <Units value={overage} />
          </Figure>
        ) : (
          <Figure label="Remaining">
            <Units value={remaining} />
          </Figure>
        )}
      </dl>
      <p className={classes.description}>
        <bdi>{describeQuota({ ...quota, starts_at: hasStarted(quota) ? null : quota.starts_at }, formatters)}</bdi>
      </p>
    </section>
  )
}

function Figure({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
