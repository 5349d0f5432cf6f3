import { csvLine } from '../../../../../src/domain/csv.ts'
import type { Api } from '../../../api/types.ts'
import { STATUS_LABELS } from '../../../components/badge.tsx'
import { quotaName } from '../../../components/quota-labels.ts'
import { formatLongDate, formatTimestamp, formatUnits, LOCAL_ZONE } from '../../../formats.ts'
import { manyTexts } from '../../../texts/many-quotas.ts'
import type { Extra } from '../extra-grants.ts'
import { type Failure, type Progress, whyOf } from '../jobs/job.ts'
import { capsInTheWay } from './caps-in-the-way.ts'
import { monthEnd } from './month-end.ts'
import type { LineFailure, UserLine } from './rows.ts'
import { zonedTime } from './zoned-time.ts'

/** Who of a file gets units, and who is left out and why. */

type Quota = Api['SmsQuota']

const { topUp, jobs } = manyTexts

/** Which grant of each user gets the units: the one with this period, or the one-time one. */
export const WHICH = ['hour', 'day', 'week', 'month', 'year', 'once'] as const
export type Which = (typeof WHICH)[number]

/** When units on a one-time grant end: with the calendar month, or with the grant. */
export const ONCE_ENDS = ['pack', 'month'] as const
export type OnceEnd = (typeof ONCE_ENDS)[number]

const periodOf = ({ period }: Quota): Which => period ?? 'once'
const isExtra = ({ metadata }: Quota) => 'extends_quota' in metadata
const isLive = ({ status }: Quota) => status === 'active' || status === 'exhausted'

/** What of a user's quotas matters. */
export interface UserGrants {
  /** Grants that units can be added to, the one that pays first in front. */
  fitting: readonly Quota[]
  /** Extra units that the user has had before, as far as they are not deleted. */
  extras: readonly Quota[]
  live: readonly Quota[]
  whyNone: WhyNone
}

/** Why no grant of a user fits. */
interface WhyNone {
  reason: string
  detail?: string
  /** The grant that would, with another choice. */
  other?: Quota
}

export function grantsFor(quotas: readonly Quota[], which: Which): UserGrants {
  const fitting = quotas
    .filter(quota => quota.kind === 'grant' && !isExtra(quota) && periodOf(quota) === which)
    .filter(quota => isLive(quota) && quota.limit !== null)
    .sort((one, other) => one.priority - other.priority || one.id - other.id)
  return { fitting, extras: quotas.filter(isExtra), live: quotas.filter(isLive), whyNone: whyNone(quotas, which) }
}

function whyNone(quotas: readonly Quota[], which: Which): WhyNone {
  const { noQuota, onlyCaps, unlimited, notLive, onlyOneTime, otherPeriod, named, grantOf } = topUp.why
  if (quotas.length === 0) return { reason: noQuota }
  const grants = quotas.filter(quota => quota.kind === 'grant' && !isExtra(quota))
  const live = grants.filter(isLive)
  const ofPeriod = grants.filter(quota => periodOf(quota) === which)
  const limitless = live.find(quota => periodOf(quota) === which && quota.limit === null)
  const [dead] = ofPeriod.length > 0 ? ofPeriod : grants
  if (dead === undefined) return { reason: onlyCaps }
  if (limitless !== undefined) return { reason: unlimited, detail: named(quotaName(limitless)) }
  if (ofPeriod.length > 0 || live.length === 0)
    return { reason: notLive(STATUS_LABELS[dead.status]), detail: named(quotaName(dead)) }
  const limited = live.filter(quota => quota.limit !== null)
  const other = limited.find(quota => quota.period !== null) ?? limited[0]
  if (other === undefined) return { reason: unlimited }
  const worksWith = periodOf(other)
  if (worksWith === 'once') return { reason: onlyOneTime, detail: named(quotaName(other)), other }
  return { reason: otherPeriod, detail: grantOf(quotaName(other), topUp.periods[worksWith]), other }
}

/** A user of the file who gets units. */
export interface Gift extends Extra {
  line: number
  place: string
  /** Of the extra grant. Derived from what a repeated file shares, so that it gives nothing twice. */
  reference: string
  /** The time zone in which the units end at midnight. */
  zone: string
  /** Extra units that the user already has until the same end; of a one-time grant all of them. */
  earlier: readonly Quota[]
}

/** A user who is left out, and when extra units on the grant that fits would end: null is never. */
interface OtherUser extends Pick<Extra, 'end'> {
  user: UserLine
}

export interface Plan {
  gifts: readonly Gift[]
  left: readonly LineFailure[]
  /** Users who are left out, by the choice with which they get units. */
  others: ReadonlyMap<Which, readonly OtherUser[]>
  /** The time zone in which the calendar month ends for one-time grants. */
  monthZone: string
  /** What the reader should know of those who get units. */
  notes: readonly Failure[]
}

/** What the user has chosen. */
interface Terms {
  /** For lines without units of their own. */
  units: number
  reason: string
  isExtraGrant: boolean
  onceEnd: OnceEnd
  /** null for the one of most monthly grants. */
  monthZone: string | null
}

export function planOf(users: readonly UserLine[], grantsOf: ReadonlyMap<number, UserGrants>, terms: Terms): Plan {
  const monthZone = terms.monthZone ?? commonMonthZone([...grantsOf.values()])
  const endsOf = (quota: Quota): Ends =>
    quota.period === null && terms.onceEnd === 'month'
      ? { end: monthEnd(Date.now(), monthZone), zone: monthZone }
      : { end: quota.window_end, zone: quota.time_zone }
  const gifts: Gift[] = []
  const left: LineFailure[] = []
  const others = new Map<Which, OtherUser[]>()
  const notes: Failure[] = []
  for (const user of users) {
    const { line, user_id } = user
    const place = `${jobs.line(line)}: ${topUp.user(user_id)}`
    const found = grantsOf.get(user_id)
    const gift = giftOf(user, found, terms, endsOf)
    if ('quota' in gift) {
      gifts.push({ ...gift, line, place })
      for (const note of notesOf(gift, found, terms)) notes.push({ place, ...note })
    } else {
      const { other, ...why } = gift
      left.push({ line, user: String(user_id), place, ...why })
      if (other === undefined) continue
      const which = periodOf(other)
      others.set(which, [...(others.get(which) ?? []), { user, end: endsOf(other).end }])
    }
  }
  return { gifts, left, others, monthZone, notes }
}

type Ends = Pick<Gift, 'end' | 'zone'>

/** The zone in which most monthly grants start anew, so that units on one-time grants end with theirs; else UTC. */
function commonMonthZone(users: readonly UserGrants[]): string {
  const monthly = users.flatMap(({ live }) => live).filter(({ kind, period }) => kind === 'grant' && period === 'month')
  const [first] = [...Map.groupBy(monthly, ({ time_zone }) => time_zone)].sort(
    ([, one], [, other]) => other.length - one.length,
  )
  return first?.[0] ?? 'UTC'
}

function giftOf(
  { units: ownUnits }: UserLine,
  found: UserGrants | undefined,
  { units, reason, isExtraGrant, onceEnd }: Terms,
  endsOf: (quota: Quota) => Ends,
): Omit<Gift, 'line' | 'place'> | WhyNone {
  if (found === undefined) return { reason: topUp.why.noQuota }
  const [quota] = found.fitting
  if (quota === undefined) return found.whyNone
  const extra = { quota, units: ownUnits ?? units, ...endsOf(quota) }
  const reference = referenceOf(extra, reason, onceEnd)
  const same = isExtraGrant && found.extras.find(({ external_ref }) => external_ref === reference)
  if (same) return { reason: topUp.why.hadBefore, detail: topUp.why.on(formatTimestamp(same.created_at)) }
  const earlier = found.extras
    .filter(({ metadata }) => isExtraGrant && metadata.extends_quota === String(quota.id))
    .filter(given => isLive(given) && (quota.period === null || given.expires_at === extra.end))
  return { ...extra, reference, earlier }
}

function notesOf(
  { quota, units, end }: Extra,
  { fitting = [], extras = [], live = [] }: Partial<UserGrants> = {},
  { isExtraGrant }: Terms,
): Omit<Failure, 'place'>[] {
  const { several, hasExtra, capReached, capShort, caps } = topUp.note
  const notes: Omit<Failure, 'place'>[] = capsInTheWay(live, { quota, units, end: isExtraGrant ? end : null }).map(
    ({ cap, isReached }) => ({
      reason: (isReached ? capReached : capShort)(caps[periodOf(cap)](formatUnits(cap.limit ?? 0))),
    }),
  )
  if (fitting.length > 1) notes.push({ reason: several, detail: topUp.why.named(quotaName(quota)) })
  const extra = extras.find(isLive)
  if (extra !== undefined && !isExtraGrant)
    notes.push({
      reason: hasExtra,
      detail: `(${[giftText(extra), reasonOf(extra)].filter(text => text !== '').join(': ')})`,
    })
  return notes
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

/** In the order of the file. */
export function inOrder(lines: readonly LineFailure[]): LineFailure[] {
  return [...lines].sort((one, other) => one.line - other.line)
}

/** The same units for the same reason in the same window of a grant, or in the same month, are the same gift. */
function referenceOf(
  { quota: { id, period, window_start }, units, end, zone }: Extra & Ends,
  reason: string,
  onceEnd: OnceEnd,
): string {
  // The zone may be another one with another file, but the month is the same.
  const isMonth = period === null && onceEnd === 'month' && end !== null
  const window = isMonth ? `until-${zonedTime(end, zone).slice(0, 'YYYY-MM'.length)}` : Date.parse(window_start)
  return `top-up-${id}-${window}-${units}-${hashOf(reason.trim().toLowerCase())}`
}

/** FNV-1a. The browser's own digests need HTTPS. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(36)
}

/** For example "500 units each". */
export function unitsText(gifts: readonly Gift[]): string {
  const [first] = gifts
  const sum = gifts.reduce((total, { units }) => total + units, 0)
  if (first === undefined || gifts.some(({ units }) => units !== first.units)) return topUp.unitsInAll(sum)
  return topUp.unitsEach(first.units)
}

/** For example "until 1 Dec 2026, 00:00 (Europe/Berlin)". */
export function untilText(gifts: readonly Gift[], isExtraGrant: boolean): string {
  if (!isExtraGrant) return topUp.fromNowOn
  const [end, ...others] = new Set(gifts.map(({ end }) => end))
  if (end === undefined || others.length > 0)
    return others.includes(null) || end === null ? topUp.untilAnyEnd : topUp.untilOwnEnd
  return end === null ? topUp.withoutEnd : topUp.until(formatTimestamp(end), LOCAL_ZONE)
}

/**
 * A sentence or two: how long given units last.
 *
 * @param ends of the extra grants; null for never
 * @param monthZone where the month ends with which all of them end; null if they end otherwise
 */
export function lastingText(ends: readonly (string | null)[], isExtraGrant: boolean, monthZone: string | null): string {
  const { forGood, never, until, between, someNever, monthIn } = topUp.lasting
  if (!isExtraGrant) return forGood
  const times = ends.filter(end => end !== null).toSorted((one, other) => Date.parse(one) - Date.parse(other))
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return never
  const text =
    first === last
      ? until(formatTimestamp(first), LOCAL_ZONE)
      : between(formatTimestamp(first), formatTimestamp(last), LOCAL_ZONE)
  if (monthZone !== null) return `${text} ${monthIn(monthZone)}`
  return times.length === ends.length ? text : `${text} ${someNever(ends.length - times.length)}`
}

/** One line for each line of the file, in its order. @param progress null before the units are given */
export function reportOf(
  { gifts, left }: Pick<Plan, 'gifts' | 'left'>,
  isExtraGrant: boolean,
  progress: Progress | null,
): string {
  const { columns, results } = topUp.report
  const failures = Map.groupBy(progress?.failures ?? [], ({ subject }) => subject)
  const listed = [...failures.keys()].length
  const isCertain = progress !== null && progress.done >= gifts.length && progress.failed <= listed
  const rows = [
    ...left.map(failure => [failure.line, failure.user, results.left, whyOf(failure), '', '', '', '', 'left', '']),
    ...gifts.map(({ line, place, quota, units, reference, ...ends }) => {
      const failed = failures.get(place) ?? failures.get(quota.id)
      const why = failed?.map(whyOf).join('; ') ?? ''
      const settled = isCertain ? 'received' : 'unknown'
      const code = progress === null ? 'would' : failed === undefined ? settled : 'failed'
      // In the zone where they end at midnight.
      const [end, zone] = isExtraGrant && ends.end !== null ? [zonedTime(ends.end, ends.zone), ends.zone] : ['', '']
      const name = quotaName(quota)
      return [line, quota.user_id, results[code], why, name, units, end, zone, code, isExtraGrant ? reference : '']
    }),
  ].sort(([one], [other]) => Number(one) - Number(other))
  return [columns, ...rows].map(cells => csvLine(cells.map(String))).join('')
}
