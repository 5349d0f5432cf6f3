import type { Api } from '../../api/types.ts'
import type { Tone } from '../../components/badge.tsx'

type Status = Api['WebhookDelivery']['status']

export const DELIVERY_STATUS_LABELS: Record<Status, string> = {
  pending: 'Pending',
  delivered: 'Delivered',
  failed: 'Failed',
}
export const DELIVERY_STATUSES = Object.keys(DELIVERY_STATUS_LABELS) as Status[]

export const DELIVERY_TONES: Record<Status, Tone> = { pending: 'coming', delivered: 'good', failed: 'bad' }
