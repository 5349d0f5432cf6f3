import type { Database, Log } from '../db/database.ts'
import { countPendingUsage, findPendingUsage, ROLLUP_PAGE, type RolledUp, rollUpUsage } from '../db/usage-rollup.ts'
import { createLoop, type Loop } from './job.ts'

/**
 * Folds what batches wrote of usage into rows of users and quarters of an hour. Nobody waits for it: readers add what is
 * not folded yet. Any number of processes may do so.
 */
export interface UsageRollup extends Loop {
  /** One step: a page of each shard that has any, each in a short transaction of its own. */
  rollUpOnce(): Promise<Fold>
}

interface Fold extends RolledUp {
  /** Whether a shard has more than was folded. */
  isBehind: boolean
}

export interface UsageRollupOptions {
  db: Database
  log: Log
  /** Is told of every step that the loop has done, and how many batches wait behind it. */
  onRollup?: (fold: Fold & { pending: number }) => void
}

/** Long, so that a busy user's batches are added up before they touch a row; readers hardly notice what waits. */
const INTERVAL_MS = 10_000

/** More than so many batches are not counted. */
const MAX_COUNTED = 100_000

export function createUsageRollup({ db, log, onRollup }: UsageRollupOptions): UsageRollup {
  let isStopped = false

  async function rollUpOnce(): Promise<Fold> {
    const fold: Fold = { batches: 0, rows: 0, isBehind: false }
    for (const shard of await findPendingUsage(db)) {
      if (isStopped) break
      const { batches, rows } = await rollUpUsage(db, shard)
      fold.batches += batches
      fold.rows += rows
      fold.isBehind ||= batches === ROLLUP_PAGE
    }
    return fold
  }

  const loop = createLoop({
    name: 'folding of usage',
    log,
    async step() {
      const fold = await rollUpOnce()
      onRollup?.({ ...fold, pending: await countPendingUsage(db, MAX_COUNTED) })
      // A third of the time at most: senders come first, and what waits is only read at some more cost.
      return tookMs => (fold.isBehind ? 5 + 2 * tookMs : Math.max(INTERVAL_MS, 2 * tookMs))
    },
  })
  return {
    rollUpOnce,
    start: loop.start,
    stop() {
      isStopped = true
      return loop.stop()
    },
  }
}
