import type { Pauses } from '../engine/pauses.ts'
import type { Job } from './runner.ts'

/** With the time that a read takes, each process obeys a pause within two seconds. */
const INTERVAL_MS = 1_000

/** Reads the paused destinations, in each process. */
export function createPauseReader(pauses: Pick<Pauses, 'read'>): Job {
  return {
    name: 'pause reader',
    async step() {
      await pauses.read()
      return { isBehind: false, pauseMs: tookMs => Math.max(0, INTERVAL_MS - tookMs) }
    },
  }
}
