import type { Api } from '../api/types.ts'
import type { NamedUser } from './addresses.ts'
import { daysUntilNow, lastDay, lastHour, type TimeRange } from './time-ranges.ts'

/** What several users or countries sent in a period, each with its share of all. */

/** Units of one of them. */
interface Sent {
  sent: number
  denied: number
  /** Of what all of them sent: 1 is all. */
  share: number
}

type Item = Pick<Api['Usage']['items'][number], 'committed' | 'denied'>

/** The rows of a report by key, most first. A key has two rows if the period contains the end of a month. */
function sumsBy<Row extends Item, Key>(items: readonly Row[], keyOf: (row: Row) => Key) {
  const sum = (rows: readonly Row[], of: 'committed' | 'denied') =>
    rows.reduce((units, row) => units + row[of].units, 0)
  return [...Map.groupBy(items, keyOf)]
    .map(([key, rows]) => ({ key, rows, sent: sum(rows, 'committed'), denied: sum(rows, 'denied') }))
    .filter(({ sent, denied }) => sent + denied > 0)
    .toSorted((one, other) => other.sent + other.denied - one.sent - one.denied)
}

const shareOf = (sent: number, total: number) => (total === 0 ? 0 : sent / total)

/* ── Who sends to a destination ─────────────────────────────────────────────────────────────────────────────────── */

export const SENDER_PERIODS = ['hour', 'day', 'week', 'month'] as const
export type SenderPeriod = (typeof SENDER_PERIODS)[number]

const RANGES: Readonly<Record<SenderPeriod, (now: Date) => TimeRange>> = {
  hour: lastHour,
  day: lastDay,
  week: now => daysUntilNow(6, now),
  month: now => daysUntilNow(29, now),
}

export const senderRange = (period: SenderPeriod, now: Date): TimeRange => RANGES[period](now)

/** A user's units to one destination. */
export interface DestinationUser extends NamedUser, Sent {}

export interface DestinationUsers {
  /** Most first. */
  users: readonly DestinationUser[]
  /** What users who are not listed sent together, and each of them at most; null if all are listed. */
  others: { sent: number; most: number } | null
}

type UserItem = Item & Partial<NamedUser>

/** @param unlisted what all users sent, and at most each who is not listed; null if all are listed */
export function destinationUsersOf(
  items: readonly UserItem[],
  unlisted: { total: number; most: number } | null,
): DestinationUsers {
  const sums = sumsBy(items, ({ user_id = 0 }) => user_id)
  const listed = sums.reduce((units, { sent }) => units + sent, 0)
  // Some were committed between the two reports.
  const total = Math.max(listed, unlisted?.total ?? 0)
  const users = sums.map(({ key, rows: [first], sent, denied }) => {
    const { user_ref, user_name } = first ?? {}
    return { user_id: key, user_ref, user_name, sent, denied, share: shareOf(sent, total) }
  })
  return { users, others: unlisted && { sent: total - listed, most: unlisted.most } }
}

/** Of users, those who are chosen, or all if none is, without those who are stopped already. */
export function usersToStop(
  users: readonly Pick<DestinationUser, 'user_id'>[],
  chosen: ReadonlySet<number>,
  isStopped: (user_id: number) => boolean,
): number[] {
  const ids = users.map(({ user_id }) => user_id).filter(id => !isStopped(id))
  return chosen.size === 0 ? ids : ids.filter(id => chosen.has(id))
}

/* ── Where a user sends to ──────────────────────────────────────────────────────────────────────────────────────── */

/** A user's units to one country; null: to those that named none. */
export interface UserCountry extends Sent {
  country: string | null
}

export function userCountriesOf(items: readonly (Item & { country?: string | null })[]): UserCountry[] {
  const sums = sumsBy(items, ({ country = null }) => country)
  const total = sums.reduce((units, { sent }) => units + sent, 0)
  return sums.map(({ key, sent, denied }) => ({ country: key, sent, denied, share: shareOf(sent, total) }))
}
