import type { Api } from '../../../api/types.ts'
import { STATUS_LABELS } from '../../../components/badge.tsx'
import { type Extra, isExtra } from '../../../components/extra-grant.ts'
import { isLive } from '../../../components/quota-dialogs/sendable.ts'
import { quotaName } from '../../../components/quota-labels.ts'
import { wholeNumber } from '../../../components/text-field.tsx'
import { formatLongDate, formatTimestamp, formatUnits } from '../../../formats.ts'
import { texts } from '../../../texts/texts.ts'
import type { Failure } from '../jobs/job.ts'
import { type CapInTheWay, capsInTheWay } from './caps-in-the-way.ts'
import { monthEnd } from './month-end.ts'
import type { LineFailure, UserLine } from './rows.ts'
import { addsGrant, inputFor, onceEndOf, type TopUpInput, type Which } from './top-up-input.ts'
import { zonedTime } from './zoned-time.ts'

/** Who of a file gets units, and who is left out and why. */

type Quota = Api['SmsQuota']

const { topUp, jobs } = texts.manyQuotas

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

/** Why no grant of a user fits. */
interface WhyNone {
  reason: string
  detail?: string
  /** The grant that would, with another choice. */
  other?: Quota
}

function grantsFor(quotas: readonly Quota[], which: Which): UserGrants {
  const fitting = quotas
    .filter(quota => quota.kind === 'grant' && !isExtra(quota) && periodOf(quota) === which)
    .filter(quota => isLive(quota) && quota.limit !== null)
    .sort((one, other) => one.priority - other.priority || one.id - other.id)
  return { fitting, extras: quotas.filter(isExtra), all: quotas, whyNone: whyNone(quotas, which) }
}

function whyNone(quotas: readonly Quota[], which: Which): WhyNone {
  const { noQuota, onlyCaps, unlimited, notLive, onlyOneTime, otherPeriod, named, grantOf } = topUp.why
  const toDo: Partial<Record<Quota['status'], string>> = topUp.why.toDo
  if (quotas.length === 0) return { reason: noQuota }
  const grants = quotas.filter(quota => quota.kind === 'grant' && !isExtra(quota))
  const live = grants.filter(isLive)
  const ofPeriod = grants.filter(quota => periodOf(quota) === which)
  const limitless = live.find(quota => periodOf(quota) === which && quota.limit === null)
  const [dead] = ofPeriod.length > 0 ? ofPeriod : grants
  if (dead === undefined) return { reason: onlyCaps }
  if (limitless !== undefined) return { reason: unlimited, detail: named(quotaName(limitless)) }
  if (ofPeriod.length > 0 || live.length === 0)
    return { reason: notLive(STATUS_LABELS[dead.status], toDo[dead.status]), detail: named(quotaName(dead)) }
  const limited = live.filter(quota => quota.limit !== null)
  const other = limited.find(quota => quota.period !== null) ?? limited[0]
  if (other === undefined) return { reason: unlimited }
  const worksWith = periodOf(other)
  if (worksWith === 'once') return { reason: onlyOneTime, detail: named(quotaName(other)), other }
  return { reason: otherPeriod, detail: grantOf(quotaName(other), topUp.periods[worksWith]), other }
}

/** What the reader should know about a user who gets units, such as a cap in the way. */
type Note = Omit<Failure, 'place'>

/** A user of the file who gets units. */
export interface Gift extends Extra {
  line: number
  place: string
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
  left: readonly LineFailure[]
  /** For those who are left out and get units with another choice. */
  offers: readonly Offer[]
  /** The time zone in which the calendar month ends for one-time grants. */
  monthZone: string
}

/** @param quotasOf of each user that has some */
export function planOf(
  users: readonly UserLine[],
  quotasOf: ReadonlyMap<number, readonly Quota[]>,
  input: TopUpInput,
): Plan {
  const monthZone = input.monthZone ?? commonMonthZone([...quotasOf.values()].flat())
  const gifts: Gift[] = []
  const left = new Map<number, LineFailure>()
  const others: { user: UserLine; which: Which }[] = []
  for (const user of users) {
    const { line, user_id } = user
    const place = `${jobs.line(line)}: ${topUp.user(user_id)}`
    const gift = giftOf(user, grantsFor(quotasOf.get(user_id) ?? [], input.which), { ...input, monthZone })
    if ('quota' in gift) {
      gifts.push({ ...gift, line, place })
    } else {
      const { other, ...why } = gift
      left.set(line, { line, user: String(user_id), place, ...why })
      if (other !== undefined) others.push({ user, which: periodOf(other) })
    }
  }
  const offers: Offer[] = []
  for (const [which, found] of Map.groupBy(others, ({ which }) => which)) {
    const those = found.map(({ user }) => user)
    const other = planOf(those, quotasOf, inputFor(which, input, monthZone))
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
): Omit<Gift, 'line' | 'place'> | WhyNone {
  const [quota] = found.fitting
  if (quota === undefined) return found.whyNone
  const gift = { quota, units: ownUnits ?? Number(wholeNumber(input.units)) }
  if (!addsGrant(input)) {
    const raise = { ...gift, end: null, zone: quota.time_zone, isMonthEnd: false, reference: null, earlier: [] }
    return { ...raise, ...notesOf(raise, found) }
  }
  const isMonthEnd = quota.period === null && onceEndOf(input) === 'month'
  const ends = isMonthEnd
    ? { end: monthEnd(Date.now(), input.monthZone), zone: input.monthZone }
    : { end: quota.window_end, zone: quota.time_zone }
  const extra = { ...gift, ...ends, isMonthEnd }
  const reference = referenceOf(extra, input.reason)
  const same = found.extras.find(({ external_ref }) => external_ref === reference)
  if (same) return { reason: topUp.why.hadBefore, detail: topUp.why.on(formatTimestamp(same.created_at)) }
  const earlier = found.extras
    .filter(({ metadata }) => metadata.extends_quota === String(quota.id))
    .filter(given => isLive(given) && (quota.period === null || given.expires_at === extra.end))
  return { ...extra, reference, earlier, ...notesOf({ ...extra, reference }, found) }
}

function notesOf(
  { reference, ...gift }: Extra & Pick<Gift, 'reference'>,
  { fitting, extras, all }: UserGrants,
): Pick<Gift, 'notes' | 'usable'> {
  const { several, hasExtra } = topUp.note
  const caps = capsInTheWay(all, gift)
  const notes = caps.map(cap => capNote(cap, gift))
  if (fitting.length > 1) notes.push({ reason: several, detail: topUp.why.named(quotaName(gift.quota)) })
  const extra = extras.find(isLive)
  if (extra !== undefined && reference === null)
    notes.push({
      reason: hasExtra,
      detail: `(${[giftText(extra), reasonOf(extra)].filter(text => text !== '').join(': ')})`,
    })
  return { notes, usable: caps.length === 0 ? null : Math.min(...caps.map(({ usable }) => usable)) }
}

function capNote({ cap, isReached, capacity, ending, usable }: CapInTheWay, { units, end }: Extra): Note {
  const { capReached, capSome, capNone, caps, passes, has, isUsedUp, anotherUnlimited } = topUp.note
  const reason = usable === 0 ? capNone : usable < units ? capSome : capReached
  const named = caps[periodOf(cap)](formatUnits(cap.limit ?? 0))
  const parts =
    usable === units
      ? [has(named)]
      : ending === null
        ? [anotherUnlimited]
        : [passes(named, { isUntilEnd: end !== null, capacity, ending, usable, units })]
  return { reason, detail: [...parts, ...(isReached && usable < units ? [isUsedUp] : [])].join(' ') }
}

/** For example "500 units on 1 March 2026". */
function giftText({ limit, created_at }: Quota): string {
  return topUp.given(limit ?? 0, formatLongDate(created_at))
}

const reasonOf = ({ metadata }: Quota) => metadata.reason ?? ''

/** Users who already got units until the same end, together with others who got as many on that day for that reason. */
export interface EarlierGift {
  users: number
  /** For example "500 units on 1 March 2026". */
  text: string
  reason: string
}

/** What users of the plan already got until the same end, the most common first. */
export function earlierGifts(gifts: readonly Gift[]): EarlierGift[] {
  const given = gifts
    .flatMap(({ earlier }) => earlier)
    .map(quota => ({ text: giftText(quota), reason: reasonOf(quota) }))
  return [...Map.groupBy(given, ({ text, reason }) => `${text} ${reason}`).values()]
    .flatMap(([first, ...others]) => (first === undefined ? [] : [{ ...first, users: others.length + 1 }]))
    .sort((one, other) => other.users - one.users)
}

/** The plan without those who already got units. */
export function withoutEarlier({ gifts, left, ...plan }: Plan): Plan {
  const out = gifts.flatMap(({ line, place, quota, earlier: [earlier] }) =>
    earlier === undefined
      ? []
      : [{ line, user: String(quota.user_id), place, reason: topUp.why.gotOthers, detail: giftText(earlier) }],
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
