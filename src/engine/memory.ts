import type { Stored } from '../db/ledger/rows.ts'
import type { Allowance } from '../domain/quotas/quota.ts'
import type { CardsOfUser } from '../domain/rates/rate-book.ts'
import type { Reservation } from '../domain/units/reservation.ts'

/** The rows that the engine last read or wrote. Batches decide on them without a read, and guard them when they write. */
export interface Memory {
  quotasOf(userId: number): readonly Stored<Allowance>[] | undefined
  /** Whose rate card a user has whose quotas are remembered; undefined: that was not asked. */
  cardsOf(userId: number): CardsOfUser | undefined
  reservation(userId: number, id: string): Stored<Reservation> | undefined
  /** @param cards left out where no user has a rate card of its own */
  rememberQuotas(userId: number, quotas: readonly Stored<Allowance>[], cards?: CardsOfUser): void
  rememberReservation(reservation: Stored<Reservation>): void
  forgetReservation(userId: number, id: string): void
  /** Forgets the rows of users after a guard failed: they are out of date. */
  forgetUsers(userIds: Iterable<number>): void
  /** Forgets all rows after a connection was lost: a standby that took over may have other ones with the same `seq`. */
  forgetAll(): void
}

/**
 * The users known for longest and the oldest reservations are dropped. A user may have 200 quotas, so a bound of users
 * alone would allow 13 million quotas, which take several gigabytes. Objects that live for seconds make garbage collection
 * long, so only the reservations of about a second are kept at full load: a repetition comes within that or much later,
 * and a settlement that is not among them costs one more read.
 */
const MAX_USERS = 65_536
const MAX_QUOTAS = 262_144
/**
 * The part of users and quotas that stays when there are too many. A map is slow to find its first entry, so to drop one
 * user for each new one took 20 µs a user. In large steps it takes 0.3 µs.
 */
const KEPT = 7 / 8
const MAX_RESERVATIONS = 8_192

/** @param lanes how many memories share the bounds */
export function createMemory(lanes = 1): Memory {
  const maxUsers = MAX_USERS / lanes
  const maxQuotas = MAX_QUOTAS / lanes
  const maxReservations = Math.ceil(MAX_RESERVATIONS / lanes)
  const quotas = new Map<number, readonly Stored<Allowance>[]>()
  const cards = new Map<number, CardsOfUser>()
  /** The number of quotas that all of them hold. */
  let quotaCount = 0
  const reservations = new Map<string, Stored<Reservation>>()
  /** Their keys, as a ring: a map is slow to find its first entry after many first entries were deleted. */
  let keys: string[] = []
  let oldest = 0
  const forgetUser = (userId: number) => {
    quotaCount -= quotas.get(userId)?.length ?? 0
    quotas.delete(userId)
    cards.delete(userId)
  }
  const dropOldest = (except: number) => {
    for (const userId of quotas.keys()) {
      if (quotas.size <= maxUsers * KEPT && quotaCount <= maxQuotas * KEPT) return
      if (userId !== except) forgetUser(userId)
    }
  }
  return {
    quotasOf: userId => quotas.get(userId),
    cardsOf: userId => cards.get(userId),
    reservation: (userId, id) => reservations.get(keyOf(userId, id)),
    rememberQuotas(userId, held, cardsOfUser) {
      quotaCount += held.length - (quotas.get(userId)?.length ?? 0)
      // It keeps its place: the users known for the longest are dropped first, and read again if they still send.
      quotas.set(userId, held)
      if (cardsOfUser === undefined) cards.delete(userId)
      else cards.set(userId, cardsOfUser)
      if (quotas.size > maxUsers || quotaCount > maxQuotas) dropOldest(userId)
    },
    rememberReservation(reservation) {
      const key = keyOf(reservation.user_id, reservation.id)
      if (!reservations.has(key)) {
        const replaced = keys[oldest]
        if (replaced !== undefined) reservations.delete(replaced)
        keys[oldest] = key
        oldest = (oldest + 1) % maxReservations
      }
      reservations.set(key, reservation)
    },
    forgetReservation(userId, id) {
      // Its place in the ring stays taken until it is the oldest.
      reservations.delete(keyOf(userId, id))
    },
    forgetUsers(userIds) {
      for (const userId of userIds) forgetUser(userId)
      // A user's reservations may stay: without the quotas, no batch decides for the user from memory. The settlement of a
      // reservation is guarded by its own `seq`.
    },
    forgetAll() {
      quotas.clear()
      cards.clear()
      quotaCount = 0
      reservations.clear()
      keys = []
      oldest = 0
    },
  }
}

const keyOf = (userId: number, id: string) => `${userId} ${id}`
