import { DAY_MS, type EpochMs, formatTimestamp, formatTimestampOrNull } from './time.ts'

/** An address that events are sent to. */
export interface Webhook {
  id: number
  url: string
  /** Event types it receives; null is all. */
  types: string[] | null
  description: string | null
  enabled: boolean
  disabled_reason: 'failing' | 'gone' | null
  failing_since: EpochMs | null
  /** Until when the secret before the last rotation signs, too. */
  previous_until: EpochMs | null
  created_at: EpochMs
  created_by: string
  updated_at: EpochMs
  updated_by: string
}

/** The states of a delivery: still to be attempted, done, or given up. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** What is recorded of a webhook. `disabled`: the service did it; an administrator's is `updated`. */
export const WEBHOOK_ACTIONS = [
  'created',
  'updated',
  'secret_rotated',
  'secret_discarded',
  'disabled',
  'deleted',
] as const
export type WebhookAction = (typeof WEBHOOK_ACTIONS)[number]

/** The name of the service where it makes a change by itself. */
export const SERVICE_ACTOR = 'sms-quota'

/** A request to create or change a webhook. */
export type WebhookDraft = Pick<Webhook, 'url'> & Partial<Pick<Webhook, 'types' | 'description' | 'enabled'>>

/** Webhooks per installation: the dispatcher checks each for due deliveries, and each has its own connections. */
export const MAX_WEBHOOKS = 100

/** How long the previous secret also signs after a rotation. */
export const ROTATION_OVERLAP_MS = DAY_MS

/** What signs the deliveries of a webhook. Apart from the webhook, so that no list and no answer can show it. */
export interface WebhookSecrets {
  secret: Uint8Array
  /** Signs beside it until `previous_until`. */
  previous_secret: Uint8Array | null
}

/** A webhook as the API shows it. */
export function webhookView(webhook: Webhook, now: EpochMs) {
  const isOverlapping = webhook.previous_until !== null && webhook.previous_until > now
  return {
    ...webhook,
    failing_since: formatTimestampOrNull(webhook.failing_since),
    previous_until: isOverlapping ? formatTimestampOrNull(webhook.previous_until) : null,
    created_at: formatTimestamp(webhook.created_at),
    updated_at: formatTimestamp(webhook.updated_at),
  }
}
