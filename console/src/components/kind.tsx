import type { ReactNode } from 'react'
import type { Api } from '../api/types.ts'
import { Icon } from './icon.tsx'
import classes from './kind.module.css'
import { KIND_LABELS } from './quota-labels.ts'

type QuotaKind = Api['SmsQuota']['kind']

interface KindProps {
  kind: QuotaKind
  /** The word, by default that of administrators. */
  label?: string | undefined
  children?: ReactNode
}

/**
 * Tells grants from caps at a glance: an icon in the color of the kind, and the word.
 *
 * @param children replaces the word, for example by the name of a quota. The icon alone is not read out.
 */
export function Kind({ kind, label = KIND_LABELS[kind], children = label }: KindProps) {
  return (
    <span className={classes.kind} data-kind={kind} title={label}>
      <Icon name={kind} size={16} />
      {children}
    </span>
  )
}
