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
 * Bounds of one lane's memory; the least recently used go first. What is remembered for seconds and then dropped is what
 * the garbage collector stops everybody for: with 512 reservations instead of 2,048 the slowest answers to one hot user
 * came in half the time (docs/performance.md). Over all lanes that is three seconds of 10,000 reservations each.
 */
const MOST_USERS = 1_024
const MOST_RESERVATIONS = 512

export function createMemory(): Memory {
  const quotas = new Map<number, readonly Stored<Allowance>[]>()
  const reservations = new Map<string, Stored<Reservation>>()
  return {
    quotasOf: userId => touch(quotas, userId),
    reservation: (userId, id) => reservations.get(keyOf(userId, id)),
    rememberQuotas: (userId, known) => keep(quotas, userId, known, MOST_USERS),
    rememberReservation(reservation) {
      keep(reservations, keyOf(reservation.user_id, reservation.id), reservation, MOST_RESERVATIONS)
    },
    forgetUsers(userIds) {
      for (const userId of userIds) quotas.delete(userId)
      // Without a user's quotas nothing of the user is decided from memory; reading them again brings these back.
    },
    forgetAll() {
      quotas.clear()
      reservations.clear()
    },
  }
}

const keyOf = (userId: number, id: string) => `${userId} ${id}`

/** A map keeps the order in which keys were set: the first is the least recently used. */
function touch<K, V>(map: Map<K, V>, key: K): V | undefined {
  const value = map.get(key)
  if (value === undefined) return undefined
  map.delete(key)
  map.set(key, value)
  return value
}

function keep<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= most) return
    map.delete(oldest)
  }
}
