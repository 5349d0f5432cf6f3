import { USAGE_BUCKET_MS } from '../basics/bounds.ts'
import { type Price, segmentsPaidBy } from '../rates/rate.ts'
import type { EpochMs } from '../time/time.ts'
import type { DrawCommand, Origin } from './command.ts'
import { type DenialReason, type Reservation, spentOf } from './reservation.ts'

/** What the usage of one user can be grouped by. */
export const USER_USAGE_GROUPS = ['user', 'quota', 'country', 'message_type'] as const
export type UserUsageGroup = (typeof USER_USAGE_GROUPS)[number]

/** What the usage of all users can be grouped by. */
export const USAGE_GROUPS = [...USER_USAGE_GROUPS, 'sender'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

/** What happened to units: a denial is of the kind of its reason. Of `segments` the units are the segments of committed ones. */
type UsageKind = 'committed' | 'refunded' | 'verified' | 'segments' | DenialReason

/** Units and messages of one user that one batch committed, refunded, verified or denied. */
export interface UsageEntry {
  user_id: number
  kind: UsageKind
  /** The grant that paid; null for unfunded units and for denials. */
  quota_id: number | null
  country: string | null
  message_type: string | null
  /** The principal whose command caused it; null: the service itself. */
  sender: string | null
  units: number
  messages: number
  /** When the message that was verified was reserved, or one that came back: all of it was refunded at once. Null for all others. */
  sent_at: EpochMs | null
}

export function usageBucketOf(at: EpochMs): EpochMs {
  return Math.floor(at / USAGE_BUCKET_MS) * USAGE_BUCKET_MS
}

/**
 * The timestamps that lie within one of the periods, and not at its ends. What was compacted into such a period cannot be
 * divided there.
 *
 * @param timestamps ascending
 */
export function cutTimestamps(
  timestamps: readonly EpochMs[],
  periods: readonly { bucket: EpochMs; until: EpochMs }[],
): Set<EpochMs> {
  const cut = new Set<EpochMs>()
  for (const { bucket, until } of periods) {
    for (let index = firstAfter(timestamps, bucket); index < timestamps.length; index++) {
      const at = timestamps[index] ?? until
      if (at >= until) break
      cut.add(at)
    }
  }
  return cut
}

/** The index of the first of ascending timestamps that is after `at`. */
function firstAfter(timestamps: readonly EpochMs[], at: EpochMs): number {
  let [low, high] = [0, timestamps.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((timestamps[middle] ?? at) > at) high = middle
    else low = middle + 1
  }
  return low
}

/** Adds to the entry of the same kind, or appends one. A draft has a handful of entries: a scan is cheaper than a key. */
function addUsage(entries: UsageEntry[], entry: UsageEntry): void {
  const same = entries.find(
    ({ kind, quota_id, country, message_type, sender, sent_at }) =>
      kind === entry.kind &&
      quota_id === entry.quota_id &&
      country === entry.country &&
      message_type === entry.message_type &&
      sender === entry.sender &&
      sent_at === entry.sent_at,
  )
  if (same === undefined) return void entries.push(entry)
  same.units += entry.units
  same.messages += entry.messages
}

/** The cause of a change of a reservation. */
export interface Cause {
  /** Who asks for the change; undefined: the service itself. */
  readonly origin?: Origin
  /** How many messages are committed; those of the reservation if left out. */
  readonly messages?: number
}

/**
 * Adds the difference between two states of a reservation. Its used units are the first of its range (`countsOf`): a
 * commit appends units and a refund removes the last ones, and the grants' ranges say which grant paid. So a grant's
 * commits less its refunds equal what its windows count as used. Caps pay nothing and do not appear. Refunded units that a forced commit
 * takes again are committed once more: what was refunded before stays in the report of its time.
 *
 * A message counts as committed once, with its first committed unit, and as refunded once, with its first refunded unit; once more as
 * committed when no unit is refunded any more.
 * It counts for the grant that pays that unit. As verified it counts once, for the grant that pays the first unit.
 */
export function addReservationUsage(
  entries: UsageEntry[],
  before: Reservation | undefined,
  after: Reservation,
  { origin, messages = after.messages ?? 1 }: Cause,
): void {
  const spent = before === undefined ? 0 : spentOf(before)
  const refunded = after.refunded - (before?.refunded ?? 0)
  const retaken = Math.max(0, -refunded)
  const committed = after.committed - (before?.committed ?? 0) + retaken
  const end = spent + committed
  const sender = origin?.principal ?? null
  if (committed > 0) {
    const counted = (before?.committed ?? 0) === 0 ? messages : retaken > 0 && after.refunded === 0 ? 1 : 0
    addRange(entries, after, { kind: 'committed', sender, start: spent, end, messages: counted, sent_at: null })
    if (after.price !== undefined) addSegments(entries, after, after.price, sender, spent, end)
  }
  if (refunded > 0) {
    const counted = (before?.refunded ?? 0) === 0 ? 1 : 0
    const sent_at = counted > 0 && spentOf(after) === 0 ? after.created_at : null
    addRange(entries, after, { kind: 'refunded', sender, start: end - refunded, end, messages: counted, sent_at })
  }
  if (after.verified && before?.verified !== true) addVerified(entries, after, sender)
}

/** The segments that committed units pay, of a message that a card has priced. They count for the grant that pays its first unit. */
function addSegments(
  entries: UsageEntry[],
  { user_id, country, message_type, draws }: Reservation,
  price: Price,
  sender: string | null,
  start: number,
  end: number,
): void {
  const units = segmentsPaidBy(end, price) - segmentsPaidBy(start, price)
  const quota_id = draws.find(({ kind }) => kind === 'grant')?.quota_id ?? null
  const entry = { user_id, quota_id, country, message_type, sender, units, messages: 0, sent_at: null }
  if (units > 0) addUsage(entries, { ...entry, kind: 'segments' })
}

function addVerified(entries: UsageEntry[], reservation: Reservation, sender: string | null): void {
  const { user_id, country, message_type, draws, created_at: sent_at } = reservation
  const quota_id = draws.find(({ kind }) => kind === 'grant')?.quota_id ?? null
  addUsage(entries, {
    user_id,
    kind: 'verified',
    quota_id,
    country,
    message_type,
    sender,
    units: 0,
    messages: 1,
    sent_at,
  })
}

/** The units [start, end) of a reservation. */
interface Range extends Pick<UsageEntry, 'kind' | 'sender' | 'messages' | 'sent_at'> {
  start: number
  end: number
}

/** Adds a range to the entries of the grants that pay for it. */
function addRange(
  entries: UsageEntry[],
  { user_id, country, message_type, draws }: Reservation,
  { kind, sender, start, end, messages, sent_at }: Range,
): void {
  const add = (quota_id: number | null, units: number) => {
    if (units > 0 || messages > 0)
      addUsage(entries, { user_id, kind, quota_id, country, message_type, sender, units, messages, sent_at })
    messages = 0
  }
  let paid = 0
  for (const draw of draws) {
    if (draw.kind !== 'grant') continue
    add(draw.quota_id, Math.max(0, Math.min(draw.to, end) - Math.max(draw.from, start)))
    paid = draw.to
  }
  // Unfunded units come after those that grants pay.
  add(null, Math.max(0, end - Math.max(start, paid)))
}

/** Adds a denial. It changes nothing in the ledger; usage is its only trace. */
export function addDenial(
  entries: UsageEntry[],
  { user_id, country, message_type, units, origin }: DrawCommand,
  reason: DenialReason,
): void {
  const sender = origin?.principal ?? null
  const message = { user_id, country, message_type, sender, units, messages: 1, sent_at: null }
  addUsage(entries, { ...message, kind: reason, quota_id: null })
}
