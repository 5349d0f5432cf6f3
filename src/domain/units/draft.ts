import { alertedBy } from '../quotas/alerts.ts'
import { type Allowance, type ClosedWindow, roll } from '../quotas/quota.ts'
import type { QuotaKind } from '../quotas/quota-settings.ts'
import { type CardsOfUser, NO_CARDS } from '../rates/rate-book.ts'
import type { EpochMs } from '../time/time.ts'
import { countsOf, type Draw, type Reservation } from './reservation.ts'
import { addReservationUsage, type Cause, type UsageEntry } from './usage.ts'
import {
  type CounterPlace,
  isPerValue,
  type KeyOf,
  placeOf,
  type ValueCap,
  type ValueCounter,
  windowEndOf,
} from './value-counter.ts'

/**
 * One user's state while a batch is decided: the loaded rows, with the effects of the commands decided so far. It is
 * seen by that batch alone, and nothing of it takes effect before the transaction commits.
 */
export interface Draft {
  user_id: number
  /** The user's undeleted, unexpired quotas, and every other quota that `reservations` draw on. Copies, changed in place. */
  quotas: Allowance[]
  /** The reservations that the batch's commands name, by id, as far as they exist. */
  reservations: Map<string, Reservation>
  /** Windows that this batch closed, with what settles in them afterwards. */
  closed: (ClosedWindow & { quota_id: number })[]
  /** Changes to the counters of windows that earlier batches closed. */
  corrections: Correction[]
  /** Units and messages committed, refunded and denied. */
  usage: UsageEntry[]
  /** The ids of the reservations whose released units a forced commit has taken again, or that it made larger. */
  retaken: string[]
  /** The ids of the reservations that a forced commit made larger. */
  extended: string[]
  /** Whose rate card the user has. */
  readonly cards: CardsOfUser
  /** For explanations: the user's quotas that ended last. Decisions do not consider them. */
  readonly ended: readonly EndedQuota[]
  /** Whether denials of reserves and consumptions are explained without being asked to, because they may be logged. */
  readonly explainsDenials: boolean
  /** The hash of what a request says of a value; null: it says nothing. */
  readonly keyOf: KeyOf
  /** Counters of single values as they are stored, by their places. */
  readonly stored: ReadonlyMap<string, ValueCounter>
  /** The caps on single values that were looked at, by the places of their counters. */
  valueCaps: Map<string, ValueCap>
}

const NO_COUNTERS: ReadonlyMap<string, ValueCounter> = new Map()

/** A quota that is not deleted and has expired. */
export interface EndedQuota {
  user_id: number
  id: number
  kind: QuotaKind
  expires_at: EpochMs
}

export interface Correction {
  quota_id: number
  window_no: number
  used: number
  reserved: number
}

export function createDraft(
  userId: number,
  quotas: readonly Allowance[],
  reservations: Iterable<Reservation>,
  {
    ended = [],
    explainsDenials = false,
    keyOf = () => null,
    stored = NO_COUNTERS,
    cards = NO_CARDS,
  }: Partial<Pick<Draft, 'ended' | 'explainsDenials' | 'keyOf' | 'stored' | 'cards'>> = {},
): Draft {
  const known = new Map<string, Reservation>()
  for (const reservation of reservations) known.set(reservation.id, reservation)
  return {
    user_id: userId,
    quotas: quotas.map(quota => ({ ...quota })),
    reservations: known,
    closed: [],
    corrections: [],
    usage: [],
    retaken: [],
    extended: [],
    cards,
    ended,
    explainsDenials,
    keyOf,
    stored,
    valueCaps: new Map(),
  }
}

/**
 * The quota at an index, rolled to `now`. Every decision about a quota starts here, so that a reservation which settles
 * after its window's end finds that window closed and does not change what the window carried over.
 */
export function rolledQuotaAt(draft: Draft, index: number, now: EpochMs): Allowance {
  const stored = draft.quotas[index]
  if (stored === undefined) throw new RangeError(`a draft has no quota at ${index}`)
  const { quota, closed } = roll(stored, now)
  if (closed === null) return quota
  draft.quotas[index] = quota
  draft.closed.push({ ...closed, quota_id: quota.id })
  return quota
}

/** Adds or replaces a reservation, and adds the difference to the counters of its draws and to the usage. */
export function putReservation(draft: Draft, after: Reservation, now: EpochMs, cause: Cause): void {
  const before = draft.reservations.get(after.id)
  for (const draw of after.draws) {
    const counts = countsOf(after, draw)
    const previous = before === undefined ? NO_COUNTS : countsOf(before, draw)
    const used = counts.used - previous.used
    const reserved = counts.reserved - previous.reserved
    if (used === 0 && reserved === 0) continue
    if (draw.key === undefined) addToCounters(draft, draw.quota_id, draw.window_no, used, reserved, now)
    else addToValue(draft, { ...draw, key: draw.key }, used, reserved, now)
  }
  addReservationUsage(draft.usage, before, after, cause)
  draft.reservations.set(after.id, after)
}

const NO_COUNTS = { used: 0, reserved: 0 }

/** Adds to the counters of one window of a quota: the current one, one that this batch closed, or an older one. */
function addToCounters(
  draft: Draft,
  quotaId: number,
  windowNo: number,
  used: number,
  reserved: number,
  now: EpochMs,
): void {
  const quota = rolledQuotaAt(draft, indexOf(draft, quotaId), now)
  const counters = quota.window_no === windowNo ? quota : closedWindowAt(draft, quotaId, windowNo)
  counters.used += used
  counters.reserved += reserved
  // A mark counts as reached even if the same batch gives the units back.
  if (counters === quota && (used > 0 || reserved > 0)) quota.alerted = alertedBy(quota)
}

function indexOf({ quotas }: Draft, quotaId: number): number {
  const index = quotas.findIndex(quota => quota.id === quotaId)
  if (index < 0) throw new Error(`quota ${quotaId} is drawn on, but was not loaded`)
  return index
}

/** The cap in the window and with the counters of a place. */
export function valueCapAt(draft: Draft, quota: Allowance, { key, window_start }: CounterPlace): ValueCap {
  const place = placeOf({ quota_id: quota.id, window_start, key })
  const known = draft.valueCaps.get(place)
  if (known !== undefined) return known
  if (!isPerValue(quota)) throw new Error(`quota ${quota.id} does not count each value by itself`)
  const { used = 0, reserved = 0 } = draft.stored.get(place) ?? {}
  const window_end = windowEndOf(quota, window_start)
  const cap = { ...quota, window_start, window_end, used, reserved, key, isDrawn: false }
  draft.valueCaps.set(place, cap)
  return cap
}

/**
 * Adds to the counter of one value. One of a window that is over is left alone: it is removed, and bounds nothing. One that was lost begins
 * again at zero, and what it had counted is not given back below that.
 */
function addToValue(draft: Draft, draw: Draw & CounterPlace, used: number, reserved: number, now: EpochMs): void {
  const quota = draft.quotas[indexOf(draft, draw.quota_id)]
  if (quota === undefined || !isPerValue(quota) || windowEndOf(quota, draw.window_start) <= now) return
  const cap = valueCapAt(draft, quota, draw)
  cap.used = Math.max(0, cap.used + used)
  cap.reserved = Math.max(0, cap.reserved + reserved)
  cap.isDrawn = true
}

/** A user has a handful of them at most, and nearly always none: a scan is cheaper than a key. */
function closedWindowAt({ closed, corrections }: Draft, quotaId: number, windowNo: number): Correction {
  const isAsked = ({ quota_id, window_no }: Correction) => quota_id === quotaId && window_no === windowNo
  const known = closed.find(isAsked) ?? corrections.find(isAsked)
  if (known !== undefined) return known
  const correction = { quota_id: quotaId, window_no: windowNo, used: 0, reserved: 0 }
  corrections.push(correction)
  return correction
}
