/** What earlier quotas of a plan's slot have used in windows that would still be open, so that a quota made anew does not give it again. */

import { averageMs, calendarOf } from './period.ts'
import type { PlannedFields } from './plan.ts'
import { type Quota, shownWindowEnd } from './quota.ts'
import type { FormerSlot } from './quota-plan.ts'
import { isDeepEqual } from './quota-settings.ts'
import type { EpochMs } from './time.ts'
import { lastBoundary } from './window.ts'

/** The units and messages of a user that a quota has paid; null: none has. */
export interface Sent {
  quota_id: number | null
  units: number
  messages: number
}

/** The function that answers what the user has sent since a time. */
export type SentSince = (since: EpochMs) => readonly Sent[]

/** What a quota is once its plan ends it, or an administrator has deleted it; null: it is of no plan. It must be rolled. */
export function formerOf(quota: Quota): FormerSlot | null {
  if (quota.plan === null) return quota.former
  const { slot, carried, fresh } = quota.plan
  const marks = { ...(carried === undefined ? {} : { carried }), ...(fresh === undefined ? {} : { fresh }) }
  return { slot, until: shownWindowEnd(quota), ...marks }
}

/**
 * What counts in the first window of a quota that is made for a slot: what its earlier quotas, if they count the same, have used and
 * reserved in windows that contain `now`.
 *
 * Their windows may be longer than those of the new one, as a month is longer than a day. Of such use counts no more than what the user has
 * sent since the day began, and what is reserved.
 *
 * @param earlier quotas that are over, in the order in which they were made
 */
export function usedBefore(slot: PlannedFields, earlier: readonly Quota[], now: EpochMs, sentSince: SentSince): number {
  // A cap for each value has its counters elsewhere, of any number of values.
  if (slot.per !== null) return 0
  const begun = Math.max(
    0,
    earlier.findLastIndex(quota => formerOf(quota)?.fresh === true),
  )
  const open = earlier.slice(begun).filter(quota => isOpen(quota, now) && countsAlike(slot, quota))
  const calendar = calendarOf(slot)
  const longer = open.filter(quota => isLonger(quota, slot))
  const rest = sum(open.filter(quota => !longer.includes(quota)).map(ownUse))
  const use = sum(longer.map(ownUse))
  if (use === 0 || calendar === null) return rest
  const sent = sentBy(longer, sentSince(lastBoundary(calendar, now)), slot)
  return rest + Math.min(use, sent + sum(longer.map(({ reserved }) => reserved)))
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

/** Without what it began with itself. */
function ownUse(quota: Quota): number {
  const carried = quota.window_no === 0 ? (formerOf(quota)?.carried ?? 0) : 0
  return Math.max(0, quota.used + quota.reserved - carried)
}

/** Of grants, what they have paid. Usage names no caps, so for those all counts. */
function sentBy(quotas: readonly Quota[], sent: readonly Sent[], { kind, counts }: PlannedFields): number {
  const counted = kind === 'cap' ? sent : sent.filter(({ quota_id }) => quotas.some(({ id }) => id === quota_id))
  return sum(counted.map(entry => entry[counts]))
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
