import { DAY_MS, type EpochMs, formatTimestamp, formatTimestampOrNull } from '../time/time.ts'

/** What a webhook writes to: a program that reads events, people, who get a message for each event, or the users whose events they are. */
export const WEBHOOK_KINDS = ['webhook', 'slack', 'teams', 'email', 'users'] as const
export type WebhookKind = (typeof WEBHOOK_KINDS)[number]

/** What says where events of a kind go. Who knows a secret URL can write there, so it is stored as secrets are. */
export const DESTINATIONS = {
  webhook: 'url',
  slack: 'secret url',
  teams: 'secret url',
  email: 'addresses',
  // Each user confirms an address.
  users: null,
} as const satisfies Record<WebhookKind, string | null>

/** The languages of messages to people. */
export const MESSAGE_LANGUAGES = ['en', 'de'] as const
export type MessageLanguage = (typeof MESSAGE_LANGUAGES)[number]

/** When little is left for a user: less than the units, or than the share of the limit of the quota that warns. It has one of them, or both. */
export interface WhenLow {
  units?: number
  share?: number
}

/** When messages to people go out: once a day, at this hour of a time zone. */
export interface Digest {
  hour: number
  time_zone: string
}

/** A receiver of events. */
export interface Webhook {
  id: number
  kind: WebhookKind
  /** Of a secret URL only the beginning and the end; null: it has addresses. */
  url: string | null
  /** The e-mail addresses of the kind `email`. */
  addresses: string[] | null
  /** The language of messages to people. */
  language: MessageLanguage
  /** It receives only the events of these users; null: of all, and those of no user. */
  user_ids: number[] | null
  /** Event types it receives; null is all. */
  types: string[] | null
  /** It receives `quota.threshold_reached` only when little is left; null: always. */
  only_when_low: WhenLow | null
  /** Its messages wait for this hour, and become one; null: they go out at once. Programs have none. */
  digest: Digest | null
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

/** The name of the service where it makes a change by itself. */
export const SERVICE_ACTOR = 'sms-quota'

/** A request to create or change a webhook. */
export type WebhookDraft = Partial<
  Pick<
    Webhook,
    'url' | 'addresses' | 'language' | 'user_ids' | 'types' | 'only_when_low' | 'digest' | 'description' | 'enabled'
  >
>

/** Webhooks per installation: the dispatcher checks each for due deliveries, and each has its own connections. */
export const MAX_WEBHOOKS = 100

/** Messages to people of one webhook in a minute. Of more events than that, one message counts and lists them. */
export const MAX_MESSAGES_PER_MINUTE = 10
/** Events that one message is about: claiming and settling them takes a tenth of a second. */
export const MAX_EVENTS_OF_MESSAGE = 4_000

export const MAX_EMAIL_ADDRESSES = 20
export const MAX_WEBHOOK_USERS = 100

/** How long the previous secret also signs after a rotation. */
export const ROTATION_OVERLAP_MS = DAY_MS

/** The secrets that sign the deliveries of a webhook, or the bytes of a secret URL. Apart from the webhook, so that no list and no answer can show it. */
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

const SHOWN_END = 4

/** A secret URL as people recognize it: its host, and its last characters if they are a small part of it. */
export function shortenedUrl(text: string): string {
  const { origin } = new URL(text)
  const end = text.length - origin.length > 8 * SHOWN_END ? text.slice(-SHOWN_END) : ''
  return `${origin}/…${end}`
}
