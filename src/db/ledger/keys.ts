import { shardOf, shardOfQuota } from '../../domain/shard.ts'
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

/** What identifies a reservation. */
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
