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

export function StatusBadge({ status }: { status: Status }) {
  return (
    <Badge tone={TONES[status]} icon={ICONS[status]}>
      {STATUS_LABELS[status]}
    </Badge>
  )
}
