import type { EpochMs } from './time.ts'
import type { Period } from './window.ts'

/**
 * A quota is a grant (a pool of units that pays for sends) or a cap (a ceiling that holds for all grants).
 *
 * Quotas and reservations have the same field names in the database, here and in the API. Timestamps are `EpochMs`
 * here and RFC 3339 in the API.
 */
export const QUOTA_KINDS = ['grant', 'cap'] as const
export type QuotaKind = (typeof QUOTA_KINDS)[number]

/** The fields that an administrator may change. */
export interface QuotaSettings {
  name: string | null
  /** Units per window; null is unlimited. */
  limit: number | null
  /** The most unused units that a closing window carries into the next. */
  rollover_limit: number
  /** How many units past its limit a grant may be drawn. */
  overage_limit: number
  /** 0–255; lower burns first. */
  priority: number
  starts_at: EpochMs
  expires_at: EpochMs | null
  /** Destinations it covers (ISO 3166 alpha-2, sorted); null is all. */
  countries: readonly string[] | null
  /** Message types it covers (sorted); null is all. */
  message_types: readonly string[] | null
  /** Percents of use at which an event is emitted (ascending). */
  alert_at: readonly number[]
  enabled: boolean
  external_ref: string | null
  metadata: Readonly<Record<string, string>>
}

/** The fields that are fixed at creation. */
export interface QuotaIdentity {
  user_id: number
  kind: QuotaKind
  period: Period | null
  time_zone: string
}
