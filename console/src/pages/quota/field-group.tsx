import type { ReactNode } from 'react'
import classes from './quota-form.module.css'

interface FieldGroupProps {
  title: string
  /** What its fields say now, for who does not open it. */
  now: string
  children: ReactNode
}

/** Fields that most quotas need not set, folded away. */
export function FieldGroup({ title, now, children }: FieldGroupProps) {
  return (
    <details className={classes.group}>
      <summary className={classes.summary}>
        <span className={classes.groupTitle}>{title}</span>
        <bdi className={classes.now}>{now}</bdi>
      </summary>
      <div className={classes.fields}>{children}</div>
    </details>
  )
}
