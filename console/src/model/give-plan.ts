import type { BadLine, UserLine } from '../../../src/domain/quotas/user-file.ts'
import type { Api } from '../api/types.ts'
import { type GiveInput, periodOf, type Which } from './give-input.ts'

/** Who of a file gets units, and who is left out and why, as the service says. */

type GiftQuota = Api['GiftQuota']
type GiveRecord = Api['GiveRecord']
type LeftOut = Extract<GiveRecord, { record: 'left_out' }>

/** What becomes of a user. */
export type UserRecord = Extract<GiveRecord, { user_id: number }>

/** A line whose user gets units. */
export interface Gift extends Readonly<Api['Gift']> {
  line: number
}

/** A line whose user gets nothing. */
export type LeftLine =
  | BadLine
  | { line: number; user: string; reason: LeftOut['reason']; quota: GiftQuota | null }
  | { line: number; user: string; reason: 'refused'; code: string; text: string }

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
}

/** @param records of a dry run, by user */
export function planOf(users: readonly UserLine[], records: ReadonlyMap<number, UserRecord>): Plan {
  const gifts: Gift[] = []
  const left: LeftLine[] = []
  const offered: Gift[] = []
  for (const { line, user_id } of users) {
    const record = records.get(user_id)
    if (record === undefined) continue
    if (record.record === 'given') gifts.push({ ...record.gift, line })
    const why = leftOf(line, record)
    if (why !== null) left.push(why)
    if (record.record === 'left_out' && record.offer !== null) offered.push({ ...record.offer, line })
  }
  const offers = [...Map.groupBy(offered, ({ quota }) => periodOf(quota))]
  return { gifts, left, offers: offers.map(([which, those]) => ({ which, gifts: those })) }
}

/** Why a user gets nothing; null for one who gets units. */
export function leftOf(line: number, record: UserRecord): LeftLine | null {
  const user = String(record.user_id)
  if (record.record === 'left_out') return { line, user, reason: record.reason, quota: record.quota }
  return record.record === 'failed' ? { line, user, reason: 'refused', code: record.code, text: record.detail } : null
}

/** The plan without those who already got units. */
export function withoutEarlier({ gifts, left, ...plan }: Plan): Plan {
  const out = gifts.flatMap(({ line, quota, earlier: [earlier] }): LeftLine[] =>
    earlier === undefined ? [] : [{ line, user: String(quota.user_id), reason: 'got_others', quota: earlier }],
  )
  return { ...plan, gifts: gifts.filter(({ earlier }) => earlier.length === 0), left: inOrder([...left, ...out]) }
}

/** The plan in which those of an offer get units, too. */
export function withGiftsOf({ gifts, left, offers }: Plan, offer: Offer): Plan {
  const lines = new Set(offer.gifts.map(({ line }) => line))
  return {
    gifts: inOrder([...gifts, ...offer.gifts]),
    left: left.filter(({ line }) => !lines.has(line)),
    offers: offers.filter(other => other !== offer),
  }
}

/** In the order of the file. */
export function inOrder<Line extends { line: number }>(lines: readonly Line[]): Line[] {
  return [...lines].sort((one, other) => one.line - other.line)
}

/** The same gifts as the API gives them: a request for each period and end. */
export function requestsOf(
  gifts: readonly Gift[],
  { reason, again }: { reason: string; again: boolean },
): Api['GiveReq'][] {
  const alike = Map.groupBy(gifts, ({ quota, ...gift }) => JSON.stringify([quota.period, endOf(gift)]))
  return [...alike.values()].flatMap(group => {
    const [first] = group
    if (first === undefined) return []
    const users = group.map(({ quota: { user_id }, units }) => ({ user_id, units }))
    return [{ users, period: first.quota.period, ...endOf(first), reason, again }]
  })
}

function endOf({ reference, month_end, time_zone }: Pick<Gift, 'reference' | 'month_end' | 'time_zone'>) {
  if (month_end) return { until: 'month_end', time_zone } as const
  return { until: reference === null ? 'for_good' : 'window_end' } as const
}

/** The input for users who are left out with the input of the file. */
export function inputFor({ which, gifts }: Offer, input: GiveInput): GiveInput {
  const month = gifts.find(({ month_end }) => month_end)
  const isThisWindowOnly = gifts.every(({ reference }) => reference !== null)
  const onceEnd = month === undefined ? 'pack' : 'month'
  return { ...input, which, isThisWindowOnly, onceEnd, monthZone: month?.time_zone ?? input.monthZone }
}
