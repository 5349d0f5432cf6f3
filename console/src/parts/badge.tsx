import type { ReactNode } from 'react'
import classes from './badge.module.css'

export type Tone = 'good' | 'bad' | 'coming' | 'held' | 'over'

/** A state in words, with a spot of colour for the eye. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={classes.badge} data-tone={tone}>
      <span>{children}</span>
    </span>
  )
}
