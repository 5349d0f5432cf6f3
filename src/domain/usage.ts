import type { DrawCommand } from './command.ts'
import { type Reservation, spentOf } from './reservation.ts'
import type { EpochMs } from './time.ts'

/** What a report of usage can be grouped by. */
export const USAGE_GROUPS = ['user', 'quota', 'country', 'message_type'] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

type UsageKind = 'committed' | 'refunded' | 'denied'

/** What happened to a user in one moment: so many units, and so many messages, of one kind. */
export interface UsageEntry {
  user_id: number
  kind: UsageKind
  /** The grant that paid; null if none did, or nothing was paid. */
  quota_id: number | null
  country: string | null
  message_type: string | null
  units: number
  messages: number
}

/**
 * Usage is kept by quarters of an hour of UTC: the time zones of today are all a multiple of them away from it, so an
 * hour, a day or a month of any zone is a sum of whole quarters.
 */
export const USAGE_BUCKET_MS = 900_000

export function usageBucketOf(at: EpochMs): EpochMs {
  return Math.floor(at / USAGE_BUCKET_MS) * USAGE_BUCKET_MS
}

/** Adds to what is gathered already. It is a handful for a user, mostly: a search is cheaper than a key. */
function addUsage(entries: UsageEntry[], entry: UsageEntry): void {
  const same = entries.find(
    ({ kind, quota_id, country, message_type }) =>
      kind === entry.kind &&
      quota_id === entry.quota_id &&
      country === entry.country &&
      message_type === entry.message_type,
  )
  if (same === undefined) return void entries.push(entry)
  same.units += entry.units
  same.messages += entry.messages
}

/**
 * What one step of a reservation is in usage. Used units are the beginning of its line (`countsOf`): a commit lengthens
 * them and a refund shortens them, and the grants along the way say who paid. So a grant's commits less its refunds are
 * what its windows count as used. Caps pay nothing and do not appear.
 *
 * A message is committed once, with its first unit, and refunded once, with the first unit that comes back; it counts
 * for the grant that pays its first unit.
 */
export function addStep(entries: UsageEntry[], before: Reservation | undefined, after: Reservation): void {
  const spent = before === undefined ? 0 : spentOf(before)
  const committed = after.committed - (before?.committed ?? 0)
  const refunded = after.refunded - (before?.refunded ?? 0)
  if (committed > 0) addLine(entries, 'committed', after, spent, spent + committed, (before?.committed ?? 0) === 0)
  const reached = spent + committed
  if (refunded > 0) addLine(entries, 'refunded', after, reached - refunded, reached, (before?.refunded ?? 0) === 0)
}

/** Books the units [start, end) of a reservation's line on those who paid for them. */
function addLine(
  entries: UsageEntry[],
  kind: UsageKind,
  { user_id, country, message_type, draws }: Reservation,
  start: number,
  end: number,
  isFirst: boolean,
): void {
  let messages = isFirst ? 1 : 0
  const add = (quota_id: number | null, units: number) => {
    if (units > 0 || messages > 0)
      addUsage(entries, { user_id, kind, quota_id, country, message_type, units, messages })
    messages = 0
  }
  let paid = 0
  for (const draw of draws) {
    if (draw.kind !== 'grant') continue
    add(draw.quota_id, Math.max(0, Math.min(draw.to, end) - Math.max(draw.from, start)))
    paid = draw.to
  }
  // What no grant holds is unfunded, behind what grants pay.
  add(null, Math.max(0, end - Math.max(start, paid)))
}

/** A denial changes nothing in the ledger: that it happened is told here alone. */
export function addDenial(entries: UsageEntry[], { user_id, country, message_type, units }: DrawCommand): void {
  addUsage(entries, { user_id, kind: 'denied', quota_id: null, country, message_type, units, messages: 1 })
}
