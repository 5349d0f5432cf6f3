import type { QuotaKind } from './quota.ts'
import type { Reservation } from './reservation.ts'
import type { EpochMs } from './time.ts'

/** What senders, and the sweeper, ask of the engine. */
export type Command = DrawCommand | SettleCommand | ExpireCommand | FindCommand

/** Asks for units of a user's quotas: to know (`check`), to set aside (`reserve`), to take (`consume`). */
export interface DrawCommand {
  op: 'check' | 'reserve' | 'consume'
  user_id: number
  /** The reservation's id; a check has none. */
  id: string
  units: number
  /** The destination, ISO 3166 alpha-2; null matches only quotas of all countries. */
  country: string | null
  message_type: string | null
  ttl_ms: number
  on_expiry: 'release' | 'commit'
  allow_partial: boolean
  /** Books a send that has already happened, past any limit. */
  force: boolean
  /** Tell of every quota why it did or did not count. */
  explain: boolean
}

/** Says how much shall be committed, released or refunded by now in all; null is all that is possible. */
export interface SettleCommand {
  op: 'commit' | 'release' | 'refund'
  user_id: number
  id: string
  total_units: number | null
  /** A commit that books what was released or has expired, past any limit. */
  force: boolean
}

/** Closes a reservation whose time has come. */
export interface ExpireCommand {
  op: 'expire'
  user_id: number
  id: string
}

/** Reads a reservation, as it stands after everything before it. */
export interface FindCommand {
  op: 'find'
  user_id: number
  id: string
}

export type DenialReason = 'no_quota' | 'cap_reached' | 'quota_exhausted'

/** An answer, or the name of what forbids one. */
export type Outcome =
  | Granted
  | Denied
  | { outcome: 'settled' | 'found'; reservation: Reservation; replayed: boolean }
  | { outcome: 'not_found' }
  /** The same id came with another content; the fields that differ. */
  | { outcome: 'idempotency_mismatch'; fields: string[] }
  | { outcome: 'reservation_closed'; reservation: Reservation; detail: string }
  | { outcome: 'exceeds_reservation'; reservation: Reservation }

export interface Granted {
  outcome: 'granted'
  /** As it stands; for a check, as it would be made. */
  reservation: Reservation
  /** What this same request could still draw after this answer; null if boundless. */
  remaining: number | null
  replayed: boolean
  /** In observe mode: why it would have been denied. */
  would_deny: DenialReason | null
  explanation: Explanation[] | null
}

export interface Denied {
  outcome: 'denied'
  reason: DenialReason
  remaining: number | null
  /** The lowest blocking cap, else the last matching grant. */
  limiting_quota_id: number | null
  /** A lower bound; null if time alone will not help. */
  retry_at: EpochMs | null
  explanation: Explanation[] | null
}

/** Why a quota did or did not count. */
export interface Explanation {
  quota_id: number
  kind: QuotaKind
  verdict:
    | 'draws'
    | 'not_needed'
    | 'exhausted'
    | 'has_headroom'
    | 'blocks'
    | 'suspended'
    | 'scheduled'
    | 'expired'
    | 'other_country'
    | 'other_message_type'
  /** Units it pays or counts; 0 if it does not. */
  units: number
}
