import type { Api } from '../api/types.ts'
import { Badge, type Tone } from './badge.tsx'

type Status = Api['SmsQuota']['status']

export const STATUS_LABELS: Record<Status, string> = {
  active: 'Active',
  exhausted: 'Exhausted',
  scheduled: 'Scheduled',
  suspended: 'Suspended',
  expired: 'Expired',
  deleted: 'Deleted',
}

const TONES: Record<Status, Tone> = {
  active: 'good',
  exhausted: 'bad',
  scheduled: 'coming',
  suspended: 'held',
  expired: 'over',
  deleted: 'over',
}

export function StatusBadge({ status }: { status: Status }) {
  return <Badge tone={TONES[status]}>{STATUS_LABELS[status]}</Badge>
}
