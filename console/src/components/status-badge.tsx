import type { Api } from '../api/types.ts'
import { texts } from '../texts/texts.ts'
import { Badge, type Tone } from './badge.tsx'
import type { IconName } from './icon.tsx'

type Status = Api['SmsQuota']['status']

export const STATUS_LABELS: Record<Status, string> = texts.components.statuses

const TONES: Record<Status, Tone> = {
  active: 'good',
  exhausted: 'bad',
  scheduled: 'coming',
  suspended: 'held',
  expired: 'over',
  deleted: 'over',
}

/** What does not count now, but may again. */
const ICONS: Partial<Record<Status, IconName>> = { scheduled: 'clock', suspended: 'pause' }

/** What decides about the word for a status. */
export type WithStatus = Pick<Api['SmsQuota'], 'status' | 'kind' | 'limit'>

/** Whether a quota is a cap that lets nothing pass: it was made to block, and has not run out. */
export function isBlock({ status, kind, limit }: WithStatus): boolean {
  return kind === 'cap' && limit === 0 && status === 'exhausted'
}

export function statusLabel(quota: WithStatus): string {
  return isBlock(quota) ? texts.components.blocked : STATUS_LABELS[quota.status]
}

export function StatusBadge({ quota }: { quota: WithStatus }) {
  const { status } = quota
  return (
    <Badge tone={TONES[status]} icon={ICONS[status]}>
      {statusLabel(quota)}
    </Badge>
  )
}
