import type { Quota, QuotaKind } from './quota.ts'
import type { EpochMs } from './time.ts'

/**
 * A reservation: units set aside for one message or one campaign before it is sent, later committed, released, refunded
 * or expired. It is the ledger: a quota's counters are the sums over its reservations.
 */
export interface Reservation {
  user_id: number
  /** The sender's own, unique per user. */
  id: string
  op: 'reserve' | 'consume'
  /** What was asked for; `units` is less only where a part was allowed and granted. */
  asked: number
  country: string | null
  message_type: string | null
  allow_partial: boolean
  force: boolean
  units: number
  committed: number
  released: number
  refunded: number
  on_expiry: 'release' | 'commit'
  /** Whether time closed it, with units outstanding. */
  expired: boolean
  /** In burn order: the grants that pay one after the other, then every cap that matched. */
  draws: readonly Draw[]
  created_at: EpochMs
  /** When what is outstanding is closed. A consumption has nothing outstanding and ends as it begins. */
  expires_at: EpochMs
}

/**
 * The part of a reservation counted in one window of one quota: the units [from, to) of the line 0…units. Grants follow
 * each other on the line, every cap spans all of it.
 */
export interface Draw {
  quota_id: number
  kind: QuotaKind
  window_no: number
  window_start: EpochMs
  from: number
  to: number
}

export const RESERVATION_STATES = ['reserved', 'committed', 'refunded', 'expired', 'released'] as const
export type ReservationState = (typeof RESERVATION_STATES)[number]

/** Units neither committed nor given back. */
export function outstandingOf({ units, committed, released }: Reservation): number {
  return units - committed - released
}

/** Units that are used for good: committed and not refunded. */
export function spentOf({ committed, refunded }: Reservation): number {
  return committed - refunded
}

export function stateOf(reservation: Reservation): ReservationState {
  if (outstandingOf(reservation) > 0) return 'reserved'
  if (reservation.committed > 0) return spentOf(reservation) > 0 ? 'committed' : 'refunded'
  return reservation.expired ? 'expired' : 'released'
}

/** Units that no grant pays for: booked by force with no grant live. */
export function unfundedOf({ units, draws }: Reservation): number {
  return draws.reduce((left, draw) => (draw.kind === 'grant' ? left - (draw.to - draw.from) : left), units)
}

/**
 * What a draw counts in its window. Along the line the first spent units are used, the next outstanding ones reserved,
 * the rest given back: so the counters follow from the reservation alone.
 */
export function countsOf(reservation: Reservation, draw: Draw): { used: number; reserved: number } {
  const spent = spentOf(reservation)
  const held = spent + outstandingOf(reservation)
  return { used: overlap(draw, 0, spent), reserved: overlap(draw, spent, held) }
}

function overlap({ from, to }: Draw, start: number, end: number): number {
  return Math.max(0, Math.min(to, end) - Math.max(from, start))
}

/**
 * The reservation by which the units that a new quota began with stand in the ledger; null if there are none. Its id
 * begins as no sender's can.
 */
export function openingOf(quota: Quota): Reservation | null {
  const { id, user_id, kind, used, window_no, window_start, created_at } = quota
  if (used === 0) return null
  return {
    user_id,
    id: `_opening.${id}`,
    op: 'consume',
    asked: used,
    country: null,
    message_type: null,
    allow_partial: false,
    force: true,
    units: used,
    committed: used,
    released: 0,
    refunded: 0,
    on_expiry: 'release',
    expired: false,
    draws: [{ quota_id: id, kind, window_no, window_start, from: 0, to: used }],
    created_at,
    expires_at: created_at,
  }
}
