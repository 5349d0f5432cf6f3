import { alertedBy } from './alerts.ts'
import { type Allowance, type ClosedWindow, roll } from './quota.ts'
import type { QuotaKind } from './quota-settings.ts'
import { countsOf, type Reservation } from './reservation.ts'
import type { EpochMs } from './time.ts'
import { addReservationUsage, type Cause, type UsageEntry } from './usage.ts'

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
  /** The ids of the reservations whose released units a forced commit has taken again. */
  retaken: string[]
  /** For explanations: the user's quotas that ended last. Decisions do not consider them. */
  readonly ended: readonly EndedQuota[]
  /** Whether denials of reserves and consumptions are explained without being asked to, because they may be logged. */
  readonly explainsDenials: boolean
}

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
  { ended = [], explainsDenials = false }: Partial<Pick<Draft, 'ended' | 'explainsDenials'>> = {},
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
    ended,
    explainsDenials,
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
  if (closed === null) return stored
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
    if (used !== 0 || reserved !== 0) addToCounters(draft, draw.quota_id, draw.window_no, used, reserved, now)
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
  const index = draft.quotas.findIndex(quota => quota.id === quotaId)
  if (index < 0) throw new Error(`quota ${quotaId} is drawn on, but was not loaded`)
  const quota = rolledQuotaAt(draft, index, now)
  const counters = quota.window_no === windowNo ? quota : closedWindowAt(draft, quotaId, windowNo)
  counters.used += used
  counters.reserved += reserved
  // A mark counts as reached even if the same batch gives the units back.
  if (counters === quota && (used > 0 || reserved > 0)) quota.alerted = alertedBy(quota)
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
