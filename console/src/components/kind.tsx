import type { ReactNode } from 'react'
import type { Api } from '../api/types.ts'
import { Icon } from './icon.tsx'
import classes from './kind.module.css'
import { KIND_LABELS } from './quota-labels.ts'

type QuotaKind = Api['SmsQuota']['kind']

/**
 * Tells grants from caps at a glance: an icon in the color of the kind, and the word.
 *
 * @param children replaces the word, for example by the name of a quota. The icon alone is not read out.
 */
export function Kind({ kind, children = KIND_LABELS[kind] }: { kind: QuotaKind; children?: ReactNode }) {
  return (
    <span className={classes.kind} data-kind={kind} title={KIND_LABELS[kind]}>
      <Icon name={kind} size={16} />
      {children}
    </span>
  )
}
