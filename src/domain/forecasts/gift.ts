import { isExtra } from '../quotas/extra-grant.ts'
import { effectiveTime, isLive, type Quota, shownWindowEnd } from '../quotas/quota.ts'
import { type Period, plainCalendar } from '../time/period.ts'
import type { EpochMs } from '../time/time.ts'
import { monthIn, nextBoundary } from '../time/window.ts'
import { type CapInTheWay, capsInTheWay } from './caps-in-the-way.ts'

/**
 * Units for each of many users: which grant gets them, until when, and why a user gets none. Units that end are a grant of their
 * own, whose reference is the same for the same gift, so that it is not given twice. Units for good raise the limit.
 */

/**
 * When the units end: with the window of the grant, or of a one-time grant with the grant itself; with the calendar month, of a
 * one-time grant only; or never, of a grant with a period only.
 */
export const UNTIL = ['window_end', 'month_end', 'for_good'] as const
type Until = (typeof UNTIL)[number]

export interface GiftTerms {
  /** Of the grants that get the units; null for one-time grants. */
  period: Period | null
  until: Until
  /** The time zone in which the month ends. */
  monthZone: string
  reason: string
  /** Whether a user gets units who has others until the same end, by another gift. */
  again: boolean
}

/** The units that a user gets. */
export interface Gift {
  /** The grant that gets the units. */
  quota: Quota
  units: number
  /** When the units end; null for never. */
  end: EpochMs | null
  /** The time zone in which the units end at midnight. */
  timeZone: string
  /** Whether the units end with the calendar month, not with the grant. */
  isMonthEnd: boolean
  /** Of the extra grant; null if the limit of the grant is raised instead. */
  reference: string | null
  /** Extra grants that the user already has until the same end; of a one-time grant all of them. */
  earlier: readonly Quota[]
  notes: readonly GiftNote[]
  /** How many of the units caps let the user send at most; null if none is in the way. */
  usable: number | null
}

/** A remark about a user who gets units. */
export type GiftNote =
  /** Several grants fit: the one that pays first gets the units. */
  | { note: 'several' }
  /** The user has extra units already, and the limit is raised in addition. */
  | { note: 'has_extra'; extra: Quota }
  | ({ note: 'cap' } & CapInTheWay)

export const LEFT_OUT_REASONS = [
  'no_quota',
  'only_caps',
  'unlimited',
  'not_live',
  'only_one_time',
  'other_period',
  'had_before',
  'got_others',
] as const

/** Why a user gets nothing. */
interface LeftOut {
  reason: (typeof LEFT_OUT_REASONS)[number]
  /** The grant that does not fit, or that gave units before. */
  quota: Quota | null
  /** What the user gets instead on the grant that does not fit, with its period. */
  offer: Gift | null
}

export type GiftDecision = ({ outcome: 'given' } & Gift) | ({ outcome: 'left_out' } & LeftOut)

/** @param quotas of one user, in their windows of `now`; of those that have expired, some */
export function decideGift(units: number, quotas: readonly Quota[], terms: GiftTerms, now: EpochMs): GiftDecision {
  const decided = decideOn(units, quotas, terms, now)
  if (decided.outcome === 'given') return decided
  const other = offeredTerms(decided, terms)
  if (other === null) return decided
  // A user who had the units before gets none with other terms either, and that is why.
  const offered = decideOn(units, quotas, other, now)
  return offered.outcome === 'given' ? { ...decided, offer: offered } : offered
}

/** The terms that fit the grant of a user who is left out; null if none do. Units of this month end with the month. */
function offeredTerms({ reason, quota }: LeftOut, terms: GiftTerms): GiftTerms | null {
  if (quota === null || (reason !== 'only_one_time' && reason !== 'other_period')) return null
  const { period } = quota
  if (period !== null) return { ...terms, period, until: terms.until === 'for_good' ? 'for_good' : 'window_end' }
  const isMonth = terms.period === 'month' && terms.until === 'window_end'
  return { ...terms, period, until: isMonth ? 'month_end' : 'window_end' }
}

function decideOn(units: number, quotas: readonly Quota[], terms: GiftTerms, now: EpochMs): GiftDecision {
  const fitting = quotas
    .filter(quota => quota.kind === 'grant' && !isExtra(quota) && quota.period === terms.period)
    .filter(quota => isLive(quota, now) && quota.limit !== null)
    .sort((one, other) => one.priority - other.priority || one.id - other.id)
  const [quota] = fitting
  if (quota === undefined) return whyNone(quotas, terms, now)
  const extras = quotas.filter(isExtra)
  const gift = { quota, units, ...endOf(quota, terms, now) }
  const reference = terms.until === 'for_good' ? null : referenceOf(gift, terms.reason)
  const same = extras.find(({ external_ref }) => reference !== null && external_ref === reference)
  if (same !== undefined) return leftOut('had_before', same)
  const earlier = extras
    .filter(({ metadata }) => reference !== null && metadata.extends_quota === String(quota.id))
    .filter(extra => isLive(extra, now) && (quota.period === null || extra.expires_at === gift.end))
  if (!terms.again && earlier[0] !== undefined) return leftOut('got_others', earlier[0])
  const caps = capsInTheWay(quotas, gift, now)
  const notes: GiftNote[] = caps.map(cap => ({ note: 'cap', ...cap }))
  if (fitting.length > 1) notes.push({ note: 'several' })
  const extra = extras.find(one => isLive(one, now))
  if (extra !== undefined && reference === null) notes.push({ note: 'has_extra', extra })
  const usable = caps.length === 0 ? null : Math.min(...caps.map(cap => cap.usable))
  return { outcome: 'given', ...gift, reference, earlier, notes, usable }
}

function leftOut(reason: LeftOut['reason'], quota: Quota | null = null): GiftDecision {
  return { outcome: 'left_out', reason, quota, offer: null }
}

function whyNone(quotas: readonly Quota[], { period }: GiftTerms, now: EpochMs): GiftDecision {
  if (quotas.length === 0) return leftOut('no_quota')
  const grants = quotas.filter(quota => quota.kind === 'grant' && !isExtra(quota))
  const live = grants.filter(quota => isLive(quota, now))
  const ofPeriod = grants.filter(quota => quota.period === period)
  const limitless = live.find(quota => quota.period === period && quota.limit === null)
  const [dead] = ofPeriod.length > 0 ? ofPeriod : grants
  if (dead === undefined) return leftOut('only_caps')
  if (limitless !== undefined) return leftOut('unlimited', limitless)
  if (ofPeriod.length > 0 || live.length === 0) return leftOut('not_live', dead)
  const limited = live.filter(quota => quota.limit !== null)
  const quota = limited.find(one => one.period !== null) ?? limited[0]
  if (quota === undefined) return leftOut('unlimited')
  return leftOut(quota.period === null ? 'only_one_time' : 'other_period', quota)
}

function endOf(quota: Quota, { until, monthZone }: GiftTerms, now: EpochMs) {
  if (until === 'month_end')
    return {
      end: nextBoundary(plainCalendar('month', monthZone), effectiveTime(quota, now)),
      timeZone: monthZone,
      isMonthEnd: true,
    }
  return { end: until === 'for_good' ? null : shownWindowEnd(quota), timeZone: quota.time_zone, isMonthEnd: false }
}

/** The same units for the same reason in the same window of a grant, or in the same month, are the same gift. */
function referenceOf(
  { quota, units, end, timeZone, isMonthEnd }: Pick<Gift, 'quota' | 'units' | 'end' | 'timeZone' | 'isMonthEnd'>,
  reason: string,
): string {
  // The zone may be another one among other users, but the month is the same.
  const window = isMonthEnd && end !== null ? `until-${monthIn(timeZone, end)}` : quota.window_start
  return `top-up-${quota.id}-${window}-${units}-${hashOf(reason.trim().toLowerCase())}`
}

/** FNV-1a. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(36)
}

/** Counts the time zones of live monthly grants. */
export function countMonthZones(counts: Map<string, number>, quotas: readonly Quota[], now: EpochMs): void {
  for (const quota of quotas) {
    if (quota.kind !== 'grant' || quota.period !== 'month' || !isLive(quota, now)) continue
    counts.set(quota.time_zone, (counts.get(quota.time_zone) ?? 0) + 1)
  }
}

/** The zone in which most monthly grants start anew, so that units on one-time grants end with theirs; else UTC. */
export function commonMonthZone(counts: ReadonlyMap<string, number>): string {
  const [first] = [...counts].sort(([, one], [, other]) => other - one)
  return first?.[0] ?? 'UTC'
}
