import { shardOf, shardOfQuota } from '../../domain/basics/shard.ts'
import { bigints, smallints, texts } from './arrays.ts'

/** The columns by which statements find rows: each begins with the shard, as every primary key does. */

const shard = smallints((row: { readonly user_id: number }) => shardOf(row.user_id))

/** All rows of a user. */
export const USER_KEY = {
  shard: smallints(shardOf),
  user_id: bigints((user: number) => user),
}

interface QuotaKey {
  readonly id: number
}

export const QUOTA_KEY = {
  shard: smallints((quota: QuotaKey) => shardOfQuota(quota.id)),
  id: bigints((quota: QuotaKey) => quota.id),
}

/** The identity of a reservation. */
export interface ReservationKey {
  readonly user_id: number
  readonly id: string
}

export const RESERVATION_KEY = {
  shard,
  user_id: bigints((reservation: ReservationKey) => reservation.user_id),
  id: texts((reservation: ReservationKey) => reservation.id),
}

interface WindowKey {
  readonly quota_id: number
  readonly window_no: number
}

export const WINDOW_KEY = {
  shard: smallints((window: WindowKey) => shardOfQuota(window.quota_id)),
  quota_id: bigints((window: WindowKey) => window.quota_id),
  window_no: bigints((window: WindowKey) => window.window_no),
}

/** Statements that add rows of users, with any key. */
export const USER_SHARD = { shard }

/**
 * Numbers that tell rows of one shard apart, of which any process adds some at any time: denials, and pending usage. A row of
 * a counter would have to be locked until the commit. A sequence repeats itself on a cluster after a crash of its
 * coordinator, whose log the commits of other nodes do not flush.
 *
 * A number is the machine's time in milliseconds and some random bits, so that numbers grow about as rows are added. If two
 * processes take the same one for rows of the same shard, which is rare, the insert fails and the batch goes again.
 *
 * Numbers begin again after 34 years, and so stay exact. By then no row has the earlier ones: denials are kept for days, pending
 * usage for seconds. They begin again at any time of the machine's clock, before `EPOCH`, too.
 */
export function nextNumber(): number {
  const ms = (((Date.now() - EPOCH) % PERIOD_MS) + PERIOD_MS) % PERIOD_MS
  const number = ms * PER_MS + 1 + Math.floor(Math.random() * (PER_MS - 1))
  // Ascending within a process. A clock that went far back, or a new period, is followed.
  last = number > last || last - number > MAX_LEAD_MS * PER_MS ? number : last + 1
  return last
}

const EPOCH = Date.UTC(2026, 0, 1)
const PER_MS = 8_192
/** The furthest that a process may have counted ahead of its clock. */
const MAX_LEAD_MS = 3_600_000
const PERIOD_MS = 2 ** 53 / PER_MS - MAX_LEAD_MS

let last = 0
