import type { Database } from '../db/connection/database.ts'
import { readActivePauses, readRuleStates } from '../db/pauses/pauses.ts'
import { NO_PAUSES, type PausesByCountry, pausesByCountry } from '../domain/pauses/pause.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { Rates } from './rates.ts'

/**
 * The pauses that this process knows. A job reads them every second, so that a pause holds in every process within two. While they
 * cannot be read, the last known ones hold.
 */
export interface Pauses {
  /** By country. Some of them may have ended since they were read. */
  readonly known: PausesByCountry
  /** How long ago it was last seen that these are all, in milliseconds. */
  readonly ageMs: number
  /** Reads them, if they have changed. Rejects if the database cannot answer. */
  read(): Promise<void>
}

interface PausesOptions {
  db: Database
  now: () => EpochMs
  /** What else follows the same row; left out: nothing does. */
  rates?: Pick<Rates, 'follow'>
  /** Milliseconds that never go back; the process's if left out. */
  monotonicMs?: () => number
}

export function createPauses({ db, now, rates, monotonicMs = () => performance.now() }: PausesOptions): Pauses {
  let known = NO_PAUSES
  let seenAt = Number.NEGATIVE_INFINITY
  /** Of which state of the table they are, and from when on: those that had ended then were not read. */
  let read = { state: Number.NaN, at: Number.NEGATIVE_INFINITY }
  let reading = Promise.resolve()

  async function readNow(): Promise<void> {
    const [startedAt, at] = [monotonicMs(), now()]
    // A clock that was ahead took pauses for ended that have not.
    const states = await readRuleStates(db)
    if (at < read.at || states?.pauses !== read.state) {
      const { state = Number.NaN, pauses } = await readActivePauses(db, at)
      known = pausesByCountry(pauses)
      read = { state, at }
    }
    await rates?.follow(states?.rates, at)
    seenAt = startedAt
  }

  return {
    get known() {
      return known
    },
    get ageMs() {
      return monotonicMs() - seenAt
    },
    read() {
      // One after the other: an older answer must not replace a newer one.
      const next = reading.then(readNow)
      reading = next.catch(() => {})
      return next
    },
  }
}
