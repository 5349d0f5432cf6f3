import type { ReactNode } from 'react'
import classes from './badge.module.css'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'good' | 'bad' | 'coming' | 'held' | 'over'

interface BadgeProps {
  tone: Tone
  /** In place of the dot. */
  icon?: IconName | undefined
  children: ReactNode
}

/** A state as text with a colored dot or icon. */
export function Badge({ tone, icon, children }: BadgeProps) {
  return (
    <span className={classes.badge} data-tone={tone} data-icon={icon}>
      {icon !== undefined && <Icon name={icon} size={14} />}
      <span>{children}</span>
    </span>
  )
}
