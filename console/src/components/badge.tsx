import type { ReactNode } from 'react'
import classes from './badge.module.css'

export type Tone = 'good' | 'bad' | 'coming' | 'held' | 'over'

/** A state as text with a colored dot. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={classes.badge} data-tone={tone}>
      <span>{children}</span>
    </span>
  )
}
