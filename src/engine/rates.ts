import type { Database } from '../db/connection/database.ts'
import { readRateBook } from '../db/rates/rate-book.ts'
import { NO_RATES, type RateBook } from '../domain/rates/rate-book.ts'
import type { EpochMs } from '../domain/time/time.ts'

/**
 * The rate cards that this process knows. It learns of a change as of one of pauses, and so within two seconds. While they cannot be read,
 * the last known ones hold.
 */
export interface Rates {
  /** A list that begins to hold later is among them, so that it holds from its instant on in every process. */
  readonly known: RateBook
  /** Reads them if `state` is another one than at the last time. Rejects if the database cannot answer. */
  follow(state: number | undefined, now: EpochMs): Promise<void>
}

export function createRates(db: Database): Rates {
  let known = NO_RATES
  let readState: number | undefined
  return {
    get known() {
      return known
    },
    async follow(state, now) {
      if (state === undefined || state === readState) return
      known = await readRateBook(db, known, now)
      readState = state
    },
  }
}
