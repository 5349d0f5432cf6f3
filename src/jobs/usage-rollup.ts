import type { Database } from '../db/database.ts'
import { countPendingUsage, findPendingUsage, ROLLUP_PAGE, rollUpUsage } from '../db/usage-rollup.ts'
import type { Job } from './runner.ts'

/**
 * Rolls up the usage that batches wrote into rows per user and quarter of an hour. No caller waits for it: readers
 * add the usage that is not rolled up yet. Any number of processes may run it.
 */
export interface UsageRollup extends Job {
  /** One step: a page of each shard that has pending usage, each in a short transaction. */
  rollUpOnce(signal?: AbortSignal): Promise<Rollup>
}

interface Rollup {
  batches: number
  /** Rows of `usage` written. */
  rows: number
  /** Whether a shard has more than was rolled up. */
  isBehind: boolean
}

export interface UsageRollupOptions {
  db: Database
  /** Called after every step of the job; `pending` batches are left. */
  onRollup?: (rollup: Rollup & { pending: number }) => void
}

/**
 * Long, so that a busy user's batches are added up before they change a row; readers hardly notice the pending ones.
 */
const INTERVAL_MS = 10_000

/** Pending batches are counted up to this number. */
const MAX_COUNTED = 100_000

export function createUsageRollup({ db, onRollup }: UsageRollupOptions): UsageRollup {
  async function rollUpOnce(signal?: AbortSignal): Promise<Rollup> {
    const rollup: Rollup = { batches: 0, rows: 0, isBehind: false }
    for (const shard of await findPendingUsage(db)) {
      if (signal?.aborted) break
      const { batches, rows } = await rollUpUsage(db, shard)
      rollup.batches += batches
      rollup.rows += rows
      rollup.isBehind ||= batches === ROLLUP_PAGE
    }
    return rollup
  }

  return {
    name: 'usage rollup',
    rollUpOnce,
    async step(signal) {
      const rollup = await rollUpOnce(signal)
      onRollup?.({ ...rollup, pending: await countPendingUsage(db, MAX_COUNTED) })
      // At most a third of the time: senders come first, and pending usage only costs its readers a little more.
      return tookMs => (rollup.isBehind ? 5 + 2 * tookMs : Math.max(INTERVAL_MS, 2 * tookMs))
    },
  }
}
