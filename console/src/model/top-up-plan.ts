import { isExtra } from '../../../src/domain/extra-grant.ts'
import type { Api } from '../api/types.ts'
import type { Extra } from './bulk-change.ts'
import { type CapInTheWay, capsInTheWay } from './caps-in-the-way.ts'
import { isLive } from './quota-status.ts'
import { addsGrant, inputFor, onceEndOf, type TopUpInput, type Which } from './top-up-input.ts'
import { wholeNumber } from './typed.ts'
import { monthEnd, zonedTime } from './zoned-time.ts'

/** Who of a file gets units, and who is left out and why. */

type Quota = Api['SmsQuota']

export const periodOf = ({ period }: Quota): Which => period ?? 'once'

/** What of a user's quotas matters. */
interface UserGrants {
  /** Grants that units can be added to, the one that pays first in front. */
  fitting: readonly Quota[]
  /** Extra units that the user has had before, as far as they are not deleted. */
  extras: readonly Quota[]
  all: readonly Quota[]
  whyNone: WhyNone
}

/** Why no grant of a user fits. With another period, or none, `quota` would. */
type WhyNone =
  | { reason: 'noQuota' | 'onlyCaps' }
  | { reason: 'unlimited'; quota: Quota | null }
  | { reason: 'notLive' | 'onlyOneTime' | 'otherPeriod'; quota: Quota }

/** Why a line gives nothing: it names no user or no units, or the user has no grant for them or got them before. */
type WhyLeft =
  | { reason: 'notAUser' | 'notUnits'; text: string }
  | { reason: 'twice' }
  | WhyNone
  | { reason: 'hadBefore'; at: string }
  | { reason: 'gotOthers'; earlier: Quota }

/** A user who gets more units. */
export interface UserLine {
  line: number
  user_id: number
  /** null if the file has no column for units. */
  units: number | null
}

/** A line whose user gets nothing. */
export interface LeftLine {
  line: number
  /** As the file has it. */
  user: string
  why: WhyLeft
}

function grantsFor(quotas: readonly Quota[], which: Which): UserGrants {
  const fitting = quotas
    .filter(quota => quota.kind === 'grant' && !isExtra(quota) && periodOf(quota) === which)
    .filter(quota => isLive(quota) && quota.limit !== null)
    .sort((one, other) => one.priority - other.priority || one.id - other.id)
  return { fitting, extras: quotas.filter(isExtra), all: quotas, whyNone: whyNone(quotas, which) }
}

function whyNone(quotas: readonly Quota[], which: Which): WhyNone {
  if (quotas.length === 0) return { reason: 'noQuota' }
  const grants = quotas.filter(quota => quota.kind === 'grant' && !isExtra(quota))
  const live = grants.filter(isLive)
  const ofPeriod = grants.filter(quota => periodOf(quota) === which)
  const limitless = live.find(quota => periodOf(quota) === which && quota.limit === null)
  const [dead] = ofPeriod.length > 0 ? ofPeriod : grants
  if (dead === undefined) return { reason: 'onlyCaps' }
  if (limitless !== undefined) return { reason: 'unlimited', quota: limitless }
  if (ofPeriod.length > 0 || live.length === 0) return { reason: 'notLive', quota: dead }
  const limited = live.filter(quota => quota.limit !== null)
  const quota = limited.find(({ period }) => period !== null) ?? limited[0]
  if (quota === undefined) return { reason: 'unlimited', quota: null }
  return { reason: quota.period === null ? 'onlyOneTime' : 'otherPeriod', quota }
}

/** What the reader should know about a user who gets units. */
export type Note =
  | { note: 'several'; quota: Quota }
  | { note: 'hasExtra'; extra: Quota }
  | ({ note: 'cap'; units: number; end: string | null } & CapInTheWay)

/** A user of the file who gets units. */
export interface Gift extends Extra {
  line: number
  /**
   * Of the extra grant; null if the limit of the grant is raised instead. Derived from what a repeated file shares, so that it
   * gives nothing twice.
   */
  reference: string | null
  /** The time zone in which the units end at midnight. */
  zone: string
  /** Whether the units end with the calendar month, not with the grant. */
  isMonthEnd: boolean
  /** Extra units that the user already has until the same end; of a one-time grant all of them. */
  earlier: readonly Quota[]
  notes: readonly Note[]
  /** How many of the units caps let the user send at most; null if none is in the way. */
  usable: number | null
}

/** The gifts that are grants of their own; with the others, limits are raised. */
export const extrasOf = (gifts: readonly Gift[]) => gifts.filter(({ reference }) => reference !== null)

/** What users who are left out would get with another choice. */
export interface Offer {
  which: Which
  gifts: readonly Gift[]
}

export interface Plan {
  gifts: readonly Gift[]
  left: readonly LeftLine[]
  /** For those who are left out and get units with another choice. */
  offers: readonly Offer[]
  /** The time zone in which the calendar month ends for one-time grants. */
  monthZone: string
}

/**
 * @param quotasOf of each user that has some
 * @param now epoch milliseconds
 */
export function planOf(
  users: readonly UserLine[],
  quotasOf: ReadonlyMap<number, readonly Quota[]>,
  input: TopUpInput,
  now: number,
): Plan {
  const monthZone = input.monthZone ?? commonMonthZone([...quotasOf.values()].flat())
  const gifts: Gift[] = []
  const left = new Map<number, LeftLine>()
  const others: { user: UserLine; which: Which }[] = []
  for (const user of users) {
    const { line, user_id } = user
    const gift = giftOf(user, grantsFor(quotasOf.get(user_id) ?? [], input.which), { ...input, monthZone }, now)
    if ('units' in gift) {
      gifts.push({ ...gift, line })
    } else {
      left.set(line, { line, user: String(user_id), why: gift })
      if (gift.reason === 'onlyOneTime' || gift.reason === 'otherPeriod')
        others.push({ user, which: periodOf(gift.quota) })
    }
  }
  const offers: Offer[] = []
  for (const [which, found] of Map.groupBy(others, ({ which }) => which)) {
    const those = found.map(({ user }) => user)
    const other = planOf(those, quotasOf, inputFor(which, input, monthZone), now)
    if (other.gifts.length > 0) offers.push({ which, gifts: other.gifts })
    // Who had the units before gets none with the other choice either, and that is why.
    for (const failure of other.left) left.set(failure.line, failure)
  }
  return { gifts, left: [...left.values()], offers, monthZone }
}

/** The zone in which most monthly grants start anew, so that units on one-time grants end with theirs; else UTC. */
function commonMonthZone(quotas: readonly Quota[]): string {
  const monthly = quotas.filter(quota => quota.kind === 'grant' && quota.period === 'month' && isLive(quota))
  const [first] = [...Map.groupBy(monthly, ({ time_zone }) => time_zone)].sort(
    ([, one], [, other]) => other.length - one.length,
  )
  return first?.[0] ?? 'UTC'
}

function giftOf(
  { units: ownUnits }: UserLine,
  found: UserGrants,
  input: TopUpInput & { monthZone: string },
  now: number,
): Omit<Gift, 'line'> | WhyNone | Extract<WhyLeft, { reason: 'hadBefore' }> {
  const [quota] = found.fitting
  if (quota === undefined) return found.whyNone
  const gift = { quota, units: ownUnits ?? Number(wholeNumber(input.units)) }
  if (!addsGrant(input)) {
    const raise = { ...gift, end: null, zone: quota.time_zone, isMonthEnd: false, reference: null, earlier: [] }
    return { ...raise, ...notesOf(raise, found) }
  }
  const isMonthEnd = quota.period === null && onceEndOf(input) === 'month'
  const ends = isMonthEnd
    ? { end: monthEnd(now, input.monthZone), zone: input.monthZone }
    : { end: quota.window_end, zone: quota.time_zone }
  const extra = { ...gift, ...ends, isMonthEnd }
  const reference = referenceOf(extra, input.reason)
  const same = found.extras.find(({ external_ref }) => external_ref === reference)
  if (same) return { reason: 'hadBefore', at: same.created_at }
  const earlier = found.extras
    .filter(({ metadata }) => metadata.extends_quota === String(quota.id))
    .filter(given => isLive(given) && (quota.period === null || given.expires_at === extra.end))
  return { ...extra, reference, earlier, ...notesOf({ ...extra, reference }, found) }
}

function notesOf(
  { reference, ...gift }: Extra & Pick<Gift, 'reference'>,
  { fitting, extras, all }: UserGrants,
): Pick<Gift, 'notes' | 'usable'> {
  const caps = capsInTheWay(all, gift)
  const { quota, units, end } = gift
  const notes: Note[] = caps.map(cap => ({ note: 'cap', units, end, ...cap }))
  if (fitting.length > 1) notes.push({ note: 'several', quota })
  const extra = extras.find(isLive)
  if (extra !== undefined && reference === null) notes.push({ note: 'hasExtra', extra })
  return { notes, usable: caps.length === 0 ? null : Math.min(...caps.map(({ usable }) => usable)) }
}

/** The plan without those who already got units. */
export function withoutEarlier({ gifts, left, ...plan }: Plan): Plan {
  const out = gifts.flatMap(({ line, quota, earlier: [earlier] }): LeftLine[] =>
    earlier === undefined ? [] : [{ line, user: String(quota.user_id), why: { reason: 'gotOthers', earlier } }],
  )
  return { ...plan, gifts: gifts.filter(({ earlier }) => earlier.length === 0), left: inOrder([...left, ...out]) }
}

/** The plan in which those of an offer get units, too. */
export function withGiftsOf({ gifts, left, offers, ...plan }: Plan, offer: Offer): Plan {
  const lines = new Set(offer.gifts.map(({ line }) => line))
  return {
    ...plan,
    gifts: inOrder([...gifts, ...offer.gifts]),
    left: left.filter(({ line }) => !lines.has(line)),
    offers: offers.filter(other => other !== offer),
  }
}

/** In the order of the file. */
export function inOrder<Line extends { line: number }>(lines: readonly Line[]): Line[] {
  return [...lines].sort((one, other) => one.line - other.line)
}

/** The same units for the same reason in the same window of a grant, or in the same month, are the same gift. */
function referenceOf(
  {
    quota: { id, window_start },
    units,
    end,
    zone,
    isMonthEnd,
  }: Pick<Gift, 'quota' | 'units' | 'end' | 'zone' | 'isMonthEnd'>,
  reason: string,
): string {
  // The zone may be another one with another file, but the month is the same.
  const isMonth = isMonthEnd && end !== null
  const window = isMonth ? `until-${zonedTime(end, zone).slice(0, 'YYYY-MM'.length)}` : Date.parse(window_start)
  return `top-up-${id}-${window}-${units}-${hashOf(reason.trim().toLowerCase())}`
}

/** FNV-1a. The browser's own digests need HTTPS. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(36)
}
