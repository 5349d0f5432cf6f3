import type { Api } from '../../api/types.ts'
import type { Tone } from '../../parts/badge.tsx'

type Status = Api['WebhookDelivery']['status']

export const DELIVERY_WORDS: Record<Status, string> = {
  pending: 'Waiting',
  delivered: 'Delivered',
  failed: 'Given up',
}
export const DELIVERY_STATUSES = Object.keys(DELIVERY_WORDS) as Status[]

export const DELIVERY_TONES: Record<Status, Tone> = { pending: 'coming', delivered: 'good', failed: 'bad' }
