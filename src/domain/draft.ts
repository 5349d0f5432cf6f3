import { alertedBy } from './alerts.ts'
import { type Allowance, type ClosedWindow, roll } from './quota.ts'
import { countsOf, type Reservation } from './reservation.ts'
import type { EpochMs } from './time.ts'
import { addStep, type UsageEntry } from './usage.ts'

/**
 * One user's state while a batch is decided: what was loaded, and what the decisions have made of it so far. Nobody
 * else sees a draft, and nothing of it holds before it is committed.
 */
export interface Draft {
  user_id: number
  /** The user's undeleted quotas that are not over, and whichever else the reservations in hand draw on; own copies. */
  quotas: Allowance[]
  /** Those of the reservations that commands name which exist. */
  reservations: Map<string, Reservation>
  /** Windows that this batch closed, which take what settles in them. */
  closed: Map<string, ClosedWindow & { quota_id: number }>
  /** By how much counters of windows closed earlier change. */
  corrections: Map<string, Correction>
  /** What was sent, given back and denied. */
  usage: UsageEntry[]
}

export interface Correction {
  quota_id: number
  window_no: number
  used: number
  reserved: number
}

export function createDraft(userId: number, quotas: readonly Allowance[], reservations: Iterable<Reservation>): Draft {
  return {
    user_id: userId,
    quotas: quotas.map(quota => ({ ...quota })),
    reservations: new Map(Array.from(reservations, reservation => [reservation.id, reservation])),
    closed: new Map(),
    corrections: new Map(),
    usage: [],
  }
}

/**
 * The quota at an index, rolled to `now`: every decision about a quota begins here. What settles after a window's end
 * then finds it closed, whenever that was noticed, and never alters what was carried over.
 */
export function quotaAt(draft: Draft, index: number, now: EpochMs): Allowance {
  const stored = draft.quotas[index]
  if (stored === undefined) throw new RangeError(`a draft has no quota at ${index}`)
  const { quota, closed } = roll(stored, now)
  if (closed === null) return stored
  draft.quotas[index] = quota
  draft.closed.set(windowKey(quota.id, closed.window_no), { ...closed, quota_id: quota.id })
  return quota
}

/** Replaces a reservation, or adds one, and moves the counters of its draws by the difference. */
export function book(draft: Draft, after: Reservation, now: EpochMs): void {
  const before = draft.reservations.get(after.id)
  for (const draw of after.draws) {
    const counts = countsOf(after, draw)
    const then = before === undefined ? NOTHING : countsOf(before, draw)
    const used = counts.used - then.used
    const reserved = counts.reserved - then.reserved
    if (used !== 0 || reserved !== 0) move(draft, draw.quota_id, draw.window_no, used, reserved, now)
  }
  addStep(draft.usage, before, after)
  draft.reservations.set(after.id, after)
}

const NOTHING = { used: 0, reserved: 0 }

/** Moves the counters of one window of a quota, be it the one that holds now, one just closed, or an older one. */
function move(draft: Draft, quotaId: number, windowNo: number, used: number, reserved: number, now: EpochMs): void {
  const index = draft.quotas.findIndex(quota => quota.id === quotaId)
  if (index < 0) throw new Error(`quota ${quotaId} is drawn on, but was not loaded`)
  const quota = quotaAt(draft, index, now)
  const key = windowKey(quotaId, windowNo)
  const counters =
    quota.window_no === windowNo ? quota : (draft.closed.get(key) ?? correctionAt(draft, key, quotaId, windowNo))
  counters.used += used
  counters.reserved += reserved
  // Noted when it is reached: units that come back in the same batch change nothing about that.
  if (counters === quota && used > 0) quota.alerted = alertedBy(quota)
}

function correctionAt(draft: Draft, key: string, quotaId: number, windowNo: number): Correction {
  let correction = draft.corrections.get(key)
  if (correction === undefined) {
    correction = { quota_id: quotaId, window_no: windowNo, used: 0, reserved: 0 }
    draft.corrections.set(key, correction)
  }
  return correction
}

function windowKey(quotaId: number, windowNo: number): string {
  return `${quotaId}:${windowNo}`
}
