import { formatInstant, formatNullable, type Instant } from './time.ts'

/** Where events are sent. */
export interface Webhook {
  id: number
  url: string
  /** Null: all. */
  types: string[] | null
  description: string | null
  enabled: boolean
  disabled_reason: 'failing' | 'gone' | null
  failing_since: Instant | null
  secret: Uint8Array
  previous_secret: Uint8Array | null
  previous_until: Instant | null
  created_at: Instant
  created_by: string
  updated_at: Instant
  updated_by: string
}

/** What an administrator says of a webhook. */
export type WebhookDraft = Pick<Webhook, 'url'> & Partial<Pick<Webhook, 'types' | 'description' | 'enabled'>>

/** Webhooks there can be: each is asked after, and has connections of its own. */
export const MAX_WEBHOOKS = 100

/** How long the secret before a rotation signs as well. */
export const ROTATION_OVERLAP_MS = 86_400_000

/** What people see of a webhook: never its secrets. */
export function webhookView(webhook: Webhook, now: Instant) {
  const { secret: _, previous_secret: __, ...shown } = webhook
  const isOverlapping = shown.previous_until !== null && shown.previous_until > now
  return {
    ...shown,
    failing_since: formatNullable(shown.failing_since),
    previous_until: isOverlapping ? formatNullable(shown.previous_until) : null,
    created_at: formatInstant(shown.created_at),
    updated_at: formatInstant(shown.updated_at),
  }
}
