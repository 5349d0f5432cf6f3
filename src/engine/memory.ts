import type { Stored } from '../db/ledger/rows.ts'
import type { Allowance } from '../domain/quota.ts'
import type { Reservation } from '../domain/reservation.ts'

/** What a lane last read or wrote: enough to decide without asking, never trusted without a guard. */
export interface Memory {
  quotasOf(userId: number): readonly Stored<Allowance>[] | undefined
  reservation(userId: number, id: string): Stored<Reservation> | undefined
  rememberQuotas(userId: number, quotas: readonly Stored<Allowance>[]): void
  rememberReservation(reservation: Stored<Reservation>): void
  /** After a guard failed: what was known of these users is old. */
  forgetUsers(userIds: Iterable<number>): void
  /** After a connection was lost: a standby that took over may hold other rows under the same numbers. */
  forgetAll(): void
}

/**
 * Bounds of one lane's memory; the users not asked for longest and the reservations known longest go first. What is
 * remembered for seconds and then dropped is what the garbage collector stops everybody for: with 512 reservations
 * instead of 2,048 the slowest answers to one hot user came in half the time (docs/performance.md). Over all lanes that
 * is three seconds of 10,000 reservations each.
 */
const MAX_USERS = 1_024
const MAX_RESERVATIONS = 512

export function createMemory(): Memory {
  const quotas = new Map<number, readonly Stored<Allowance>[]>()
  const reservations = new Map<string, Stored<Reservation>>()
  /** Their keys, as a ring: a map whose first entries are dropped again and again is slow to find its first. */
  let keys: string[] = []
  let oldest = 0
  return {
    quotasOf(userId) {
      const known = quotas.get(userId)
      if (known === undefined) return undefined
      // A map keeps the order in which keys were set: the first is the least recently used.
      quotas.delete(userId)
      quotas.set(userId, known)
      return known
    },
    reservation: (userId, id) => reservations.get(keyOf(userId, id)),
    rememberQuotas(userId, known) {
      quotas.set(userId, known)
      if (quotas.size <= MAX_USERS) return
      for (const user of quotas.keys()) {
        quotas.delete(user)
        return
      }
    },
    rememberReservation(reservation) {
      const key = keyOf(reservation.user_id, reservation.id)
      if (!reservations.has(key)) {
        const replaced = keys[oldest]
        if (replaced !== undefined) reservations.delete(replaced)
        keys[oldest] = key
        oldest = (oldest + 1) % MAX_RESERVATIONS
      }
      reservations.set(key, reservation)
    },
    forgetUsers(userIds) {
      for (const userId of userIds) quotas.delete(userId)
      // Without a user's quotas nothing of the user is decided from memory; reading them again brings these back.
    },
    forgetAll() {
      quotas.clear()
      reservations.clear()
      keys = []
      oldest = 0
    },
  }
}

const keyOf = (userId: number, id: string) => `${userId} ${id}`
