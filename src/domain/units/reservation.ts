import type { Quota } from '../quotas/quota.ts'
import type { Counts, QuotaKind } from '../quotas/quota-settings.ts'
import type { Price } from '../rates/rate.ts'
import type { EpochMs } from '../time/time.ts'

/** The operations that make a reservation. */
export const DRAWING_OPS = ['reserve', 'consume'] as const

/** What becomes of units that are outstanding when a reservation expires. */
export const ON_EXPIRY = ['release', 'commit'] as const

/**
 * A reservation: units set aside for one message or one campaign before it is sent, later committed, released, refunded
 * or expired. It is the ledger: a quota's counters are the sums over its reservations.
 */
export interface Reservation {
  user_id: number
  /** Chosen by the sender, unique per user. */
  id: string
  op: (typeof DRAWING_OPS)[number]
  /** Requested units; `units` is less only if the command allowed a partial grant and got one. */
  asked: number
  country: string | null
  message_type: string | null
  allow_partial: boolean
  /** Whether it was booked past any limit: the request asked for that, or observe mode granted it. */
  force: boolean
  /** Why enforce mode would have denied it; null unless observe mode granted it past a limit. */
  would_deny: DenialReason | null
  units: number
  /** How many messages it pays; 1 if left out. */
  messages?: number
  /** Of a message that a rate card has priced: what the segments that were asked for cost. */
  price?: Price
  committed: number
  released: number
  refunded: number
  on_expiry: (typeof ON_EXPIRY)[number]
  /** Whether it expired with units outstanding. */
  expired: boolean
  /** Whether the sender said that the code of the message was entered. */
  verified: boolean
  /** The grants that pay, in burn order, then every matching cap. */
  draws: readonly Draw[]
  created_at: EpochMs
  /** When outstanding units are released or committed. A consumption has none and expires at its creation. */
  expires_at: EpochMs
}

/**
 * The part of a reservation that counts in one window of one quota: the range [from, to) of its units. The ranges of
 * grants follow each other; each cap's range is all units, or all messages if it counts those.
 */
export interface Draw {
  quota_id: number
  kind: QuotaKind
  window_no: number
  window_start: EpochMs
  from: number
  to: number
  /** Left out: units. */
  counts?: Exclude<Counts, 'units'>
  /** Of a cap that counts each value by itself: the hash of the value. */
  key?: bigint
}

export const RESERVATION_STATES = ['reserved', 'committed', 'refunded', 'expired', 'released'] as const
export type ReservationState = (typeof RESERVATION_STATES)[number]

/** Why a user's quotas deny a request for units. */
export const QUOTA_DENIAL_REASONS = ['no_quota', 'cap_reached', 'quota_exhausted'] as const

/** Why a request for units is denied: by quotas, or because its destination is paused. */
export const DENIAL_REASONS = [...QUOTA_DENIAL_REASONS, 'destination_paused'] as const
export type DenialReason = (typeof DENIAL_REASONS)[number]

/** What a denied message may be without: the sender named none, or it is not known who asked. */
export const UNNAMED = ['country', 'message_type', 'sender'] as const
export type Unnamed = (typeof UNNAMED)[number]

/** Whether the request itself asked for force. */
export function askedForce({ force, would_deny }: Reservation): boolean {
  return force && would_deny === null
}

/** Units neither committed nor released. */
export function outstandingOf({ units, committed, released }: Reservation): number {
  return units - committed - released
}

/** Used units: committed and not refunded. */
export function spentOf({ committed, refunded }: Reservation): number {
  return committed - refunded
}

export function stateOf(reservation: Reservation): ReservationState {
  if (outstandingOf(reservation) > 0) return 'reserved'
  if (reservation.committed > 0) return spentOf(reservation) > 0 ? 'committed' : 'refunded'
  return reservation.expired ? 'expired' : 'released'
}

/** Units that no grant pays for: forced while no grant was live. */
export function unfundedOf({ units, draws }: Reservation): number {
  return draws.reduce((rest, draw) => (draw.kind === 'grant' ? rest - (draw.to - draw.from) : rest), units)
}

/**
 * What a draw adds to its window's counters. Of the reservation's units the first are used, the next are reserved
 * (outstanding), the rest are released or refunded: the counters follow from the reservation alone.
 *
 * Its messages count as long as any unit is left: as used once one is, and before as reserved.
 */
export function countsOf(reservation: Reservation, draw: Draw): { used: number; reserved: number } {
  const spent = spentOf(reservation)
  const reservedEnd = spent + outstandingOf(reservation)
  if (draw.counts === 'messages') {
    const used = spent > 0 ? draw.to : 0
    return { used, reserved: reservedEnd > 0 ? draw.to - used : 0 }
  }
  return { used: overlap(draw, 0, spent), reserved: overlap(draw, spent, reservedEnd) }
}

function overlap({ from, to }: Draw, start: number, end: number): number {
  return Math.max(0, Math.min(to, end) - Math.max(from, start))
}

/** It begins with an underscore, which senders' ids cannot. */
export const openingIdOf = (quotaId: number) => `_opening.${quotaId}`

/** The reservation that records a new quota's `opening_used` in the ledger; null if that is 0. */
export function openingOf(quota: Quota): Reservation | null {
  const { id, user_id, kind, used, window_no, window_start, created_at } = quota
  if (used === 0) return null
  return {
    user_id,
    id: openingIdOf(id),
    op: 'consume',
    asked: used,
    country: null,
    message_type: null,
    allow_partial: false,
    force: true,
    would_deny: null,
    units: used,
    committed: used,
    released: 0,
    refunded: 0,
    on_expiry: 'release',
    expired: false,
    verified: false,
    draws: [{ quota_id: id, kind, window_no, window_start, from: 0, to: used }],
    created_at,
    expires_at: created_at,
  }
}
