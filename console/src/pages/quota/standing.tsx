import type { ReactNode } from 'react'
import type { Api } from '../../api/types.ts'
import { Moment } from '../../parts/moment.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Units } from '../../parts/units.tsx'
import { UsageBar } from '../../parts/usage-bar.tsx'
import { effectOf } from './effect.ts'
import classes from './standing.module.css'
import { hasStarted } from './typed.ts'
import { writing } from './writing.ts'

interface StandingProps {
  quota: Api['SmsQuota']
  /** What was done with it last, in words. */
  done: string
}

/** How a quota stands in the window that holds now. */
export function Standing({ quota, done }: StandingProps) {
  const { status, limit, used, reserved, rolled_over, remaining, overage, window_start, window_end } = quota
  return (
    <section className={classes.standing} aria-label="How it stands">
      <div className={classes.head}>
        <StatusBadge status={status} />
        <span role="status">{done}</span>
        <span className={classes.window}>
          Window <Moment at={window_start} /> – <Moment at={window_end} none="no end" />
        </span>
      </div>
      <UsageBar {...quota} isLarge />
      <dl className={classes.figures}>
        <Figure label="Limit">
          <Units value={limit} />
        </Figure>
        {rolled_over > 0 && (
          <Figure label="Carried in">
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
          <Figure label="Left">
            <Units value={remaining} />
          </Figure>
        )}
      </dl>
      <p className={classes.effect}>
        <bdi>{effectOf({ ...quota, starts_at: hasStarted(quota) ? null : quota.starts_at }, writing)}</bdi>
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
