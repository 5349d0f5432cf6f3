import type { UnliftedPause } from '../pauses/pause.ts'
import type { QuotaKind } from '../quotas/quota-settings.ts'
import type { Price } from '../rates/rate.ts'
import type { EpochMs } from '../time/time.ts'
import type { Authorship } from './authorship.ts'
import type { DenialReason, Reservation } from './reservation.ts'

/** A request of a sender, or of the sweeper, to the engine. */
export type Command = DrawCommand | SettleCommand | FeedbackCommand | ExpireCommand | FindCommand

/** The principal that asks for a command, and its request. Commands of the service itself have no origin. */
export interface Origin {
  /** The subject of the token: 1–255 characters. */
  readonly principal: string
  readonly requestId: string
}

interface Asked {
  readonly origin?: Origin
}

/** Asks for units of a user's quotas: `check` only reads, `reserve` sets units aside, `consume` uses them at once. */
export interface DrawCommand extends Asked {
  op: 'check' | 'reserve' | 'consume'
  user_id: number
  /** The reservation's id; a check has none. */
  id: string
  /** Of a message that a rate card prices, what it costs; else its segments, or what was asked for. */
  units: number
  /** The segments of the message; left out beside units. */
  segments?: number
  /** Set by the decision, if a rate card prices the message. */
  price?: Price
  /** The destination, ISO 3166 alpha-2 or `001`. Null matches only quotas without a country list. */
  country: string | null
  /** Further countries that the number may belong to: caps on them count it, too. Left out if there are none. */
  other_countries?: readonly string[]
  /** The phone number, or what stands for it, and the sender's own tag. Never stored, logged or shown. Left out if not given. */
  recipient?: string
  tag?: string
  message_type: string | null
  /** How many messages the units pay; 1 if left out. */
  messages?: number
  ttl_ms: number
  on_expiry: 'release' | 'commit'
  allow_partial: boolean
  /** The message was sent already: grants all units, past any limit. */
  force: boolean
  /** Adds to the answer why each quota did or did not count. */
  explain: boolean
}

/** Sets how many units are committed, released or refunded in total; null is all that is possible. */
export interface SettleCommand extends Asked {
  op: 'commit' | 'release' | 'refund'
  user_id: number
  id: string
  total_units: number | null
  /** Instead of units, segments of a message that a rate card has priced. Left out: units are meant. */
  total_segments?: number
  /** Commits even released or expired units, past any limit, and more than were reserved. */
  force: boolean
  /** How many messages a commit of the first units counts in usage; those of the reservation if left out. */
  messages?: number
  /** A commit that also says that the message's code was entered. */
  verified?: boolean
}

/** Says that the code of a message was entered. */
export interface FeedbackCommand extends Asked {
  op: 'feedback'
  user_id: number
  id: string
}

/** Closes a reservation that is past its `expires_at`. */
export interface ExpireCommand extends Asked {
  op: 'expire'
  user_id: number
  id: string
}

/** Reads a reservation, after the effects of all earlier commands. */
export interface FindCommand extends Asked {
  op: 'find'
  user_id: number
  id: string
}

/** The outcome of a command: its result, or the rule that refused it. */
export type Outcome =
  | Granted
  | Denied
  | { outcome: 'settled'; reservation: Reservation; replayed: boolean }
  /** With the authorship if a sender asked. */
  | { outcome: 'found'; reservation: Reservation; replayed: boolean; authorship?: Authorship }
  | { outcome: 'not_found' }
  /** The id exists with other content; these fields differ. */
  | { outcome: 'idempotency_mismatch'; fields: string[] }
  | { outcome: 'reservation_closed'; reservation: Reservation; detail: string }
  | { outcome: 'exceeds_reservation'; reservation: Reservation }
  /** Segments of a reservation that no rate card has priced. */
  | { outcome: 'no_rate'; reservation: Reservation }
  /** A refund of units that may still be committed. */
  | { outcome: 'exceeds_committed'; reservation: Reservation }

export interface Granted {
  outcome: 'granted'
  /** The reservation after the command; for a check, the one that a reserve would create. */
  reservation: Reservation
  /** Units that the same request could still draw afterwards; null if unlimited. */
  remaining: number | null
  replayed: boolean
  /** Of what observe mode granted, and of its repetitions: why the command would have been denied. */
  would_deny: DenialReason | null
  explanation: Explanation[] | null
}

export interface Denied {
  outcome: 'denied'
  reason: DenialReason
  remaining: number | null
  /** The blocking cap with the lowest id, else the last matching grant. */
  limiting_quota_id: number | null
  /** The earliest time at which a retry could be granted; null if time alone does not help. */
  retry_at: EpochMs | null
  /** What the message costs, if a rate card prices it. */
  price?: Price
  /** With the reason `destination_paused`: what paused it. */
  pause?: Pick<UnliftedPause, 'id' | 'until' | 'reason'>
  /** Null unless the command asked for it or the denial may be logged. */
  explanation: Explanation[] | null
}

/** Why one quota did or did not count. */
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
    | 'no_value'
  /** Units it pays, or units or messages it counts; else 0. */
  units: number
  /** When the quota ended; only with the verdict `expired`. */
  expires_at?: EpochMs
}
