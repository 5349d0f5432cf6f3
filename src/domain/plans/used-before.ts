/** What earlier quotas of a plan's slot have used in windows that would still be open, so that a quota made anew does not give it again. */

import { type Quota, shownWindowEnd } from '../quotas/quota.ts'
import type { Carried, FormerSlot } from '../quotas/quota-plan.ts'
import { isDeepEqual } from '../quotas/quota-settings.ts'
import { averageMs, calendarOf } from '../time/period.ts'
import type { EpochMs } from '../time/time.ts'
import { lastBoundary } from '../time/window.ts'
import type { Transfer } from '../units/transfer.ts'
import { usageBucketOf } from '../units/usage.ts'
import type { PlannedFields } from './plan.ts'

/** The units and messages of a user that a quota has paid; null: none has. */
export interface Sent {
  quota_id: number | null
  units: number
  messages: number
  /** Units that the quota has handed on to others, less what came back. They are no messages. */
  handed_on: number
}

/** The function that answers what the user has sent and handed on since a time. */
export type SentSince = (since: EpochMs) => readonly Sent[]

/** What a quota is once its plan ends it, or an administrator has deleted it; null: it is of no plan. It must be rolled. */
export function formerOf(quota: Quota): FormerSlot | null {
  if (quota.plan === null) return quota.former
  const { id: _id, name: _name, version: _version, kept: _kept, since: _since, ...former } = quota.plan
  return { ...former, until: shownWindowEnd(quota) }
}

/**
 * What counts in the first window of a quota that is made for a slot: what its earlier quotas, if they count the same, have used and
 * reserved in windows that contain `now`. What one of these began with counts in its window, too, when that of the quota before is over.
 *
 * Their windows may be longer than those of the new one, as a month is longer than a day. Of such use counts no more than what the user has
 * sent and handed on since the day began, and what is reserved.
 *
 * @param earlier quotas that are over, in the order in which they were made
 * @returns how much of each quota
 */
export function usedBefore(
  slot: PlannedFields,
  earlier: readonly Quota[],
  now: EpochMs,
  sentSince: SentSince,
): Carried[] {
  // A cap for each value has its counters elsewhere, of any number of values.
  if (slot.per !== null) return []
  const begun = Math.max(
    0,
    earlier.findLastIndex(quota => formerOf(quota)?.fresh === true),
  )
  const open = earlier.slice(begun).filter(quota => isOpen(quota, now) && countsAlike(slot, quota))
  const longer = open.filter(quota => isLonger(quota, slot))
  const rest = open.filter(quota => !longer.includes(quota))
  const counted = new Map(rest.map(quota => [quota.id, ownUse(quota)]))
  const inLonger = new Map(longer.map(quota => [quota.id, ownUse(quota)]))
  for (const { quota_id, units } of longer.flatMap(carriedIn)) keepMost(inLonger, quota_id, units)
  const begunWith = rest.flatMap(carriedIn)
  // Less what came back since. The window of one that is over does not roll, so as long as it is open, its units in any other are among its own.
  const left = new Map(earlier.flatMap(quota => (isOpen(quota, now) ? [[quota.id, ownUse(quota)]] : [])))
  // What counts of a quota in two windows is its last units in both. One that is open has what it has used itself.
  for (const { quota_id, units } of [...begunWith, ...sentOf(slot, longer, inLonger, now, sentSince)])
    if (!rest.some(({ id }) => id === quota_id))
      keepMost(counted, quota_id, Math.min(units, left.get(quota_id) ?? units))
  return [...counted].flatMap(([quota_id, units]) => (units > 0 ? [{ quota_id, units }] : []))
}

function keepMost(most: Map<number, number>, id: number, units: number): void {
  most.set(id, Math.max(most.get(id) ?? 0, units))
}

/** Of the use in longer windows, what is of the time since the window of the slot began. */
function sentOf(
  slot: PlannedFields,
  longer: readonly Quota[],
  use: ReadonlyMap<number, number>,
  now: EpochMs,
  sentSince: SentSince,
): Carried[] {
  const calendar = calendarOf(slot)
  if (calendar === null || sum([...use.values()]) === 0) return []
  const sent = sentSince(lastBoundary(calendar, now))
  const reserved = new Map(longer.map(quota => [quota.id, quota.reserved]))
  if (slot.kind === 'grant')
    return [...use].map(([quota_id, units]) => ({
      quota_id,
      units: Math.min(units, paidBy(quota_id, sent) + (reserved.get(quota_id) ?? 0)),
    }))
  // Usage names no caps, so for those all messages count, as those of the last quotas.
  let rest = sum(sent.map(entry => entry[slot.counts])) + sum([...reserved.values()])
  return [...use].reverse().map(([quota_id, used]) => {
    const units = Math.min(used, rest)
    rest -= units
    return { quota_id, units }
  })
}

/** What a grant has paid and handed on. */
function paidBy(id: number, sent: readonly Sent[]): number {
  return sum(sent.map(({ quota_id, units, handed_on }) => (quota_id === id ? units + handed_on : 0)))
}

function isOpen(quota: Quota, now: EpochMs): boolean {
  const former = formerOf(quota)
  return former !== null && (former.until === null || former.until > now)
}

function countsAlike(slot: PlannedFields, quota: Quota): boolean {
  const names = ['kind', 'per', 'counts', 'countries', 'message_types'] as const
  return names.every(name => isDeepEqual(slot[name], quota[name]))
}

/** Of a year, usage is not kept by the quarter of an hour. */
function isLonger({ period }: Quota, slot: PlannedFields): boolean {
  if (slot.period === null || slot.period === 'year') return false
  return period === null || averageMs(period) > averageMs(slot.period)
}

/**
 * A quota that has begun with units of another one, of which some came back from a transfer: as if it had begun without them. Null: it has not,
 * or its first window is over.
 *
 * @param giver that gave the units, as it ended
 * @param before the quotas made before it that had begun with them: it may have begun with them by way of one
 */
export function withoutReturned(
  quota: Quota,
  giver: Quota,
  transfer: Pick<Transfer, 'at' | 'window_no'>,
  units: number,
  before: readonly Quota[],
) {
  const carried_from = carriedIn(quota)
  const part = carried_from.find(({ quota_id }) => quota_id === giver.id)
  if (part === undefined || transfer.window_no !== giver.window_no) return null
  if (![giver, ...before].some(one => isCountedBy(quota, one, transfer))) return null
  const less = Math.min(part.units, units)
  const rest = carried_from.map(one => (one === part ? { ...one, units: one.units - less } : one))
  const opening = { carried: sum(rest.map(one => one.units)), carried_from: rest }
  const plan = quota.plan && { ...quota.plan, ...opening }
  const former = quota.former && { ...quota.former, ...opening }
  return { quota: { ...quota, used: quota.used - less, plan, former }, less }
}

/** Whether the quota has begun with what was handed on and was in this one. Of a longer window, only what was since its own began counted. */
function isCountedBy(quota: Quota, one: Quota, { at }: Pick<Transfer, 'at'>): boolean {
  if (!isOpen(one, quota.created_at)) return false
  const calendar = calendarOf(quota)
  return calendar === null || !isLonger(one, quota) || at >= usageBucketOf(lastBoundary(calendar, quota.created_at))
}

/** What the window began with. */
function carriedIn(quota: Quota): readonly Carried[] {
  return quota.window_no === 0 ? (formerOf(quota)?.carried_from ?? []) : []
}

/** Without what the window began with. */
function ownUse(quota: Quota): number {
  const carried = quota.window_no === 0 ? (formerOf(quota)?.carried ?? 0) : 0
  return Math.max(0, quota.used + quota.reserved - carried)
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
