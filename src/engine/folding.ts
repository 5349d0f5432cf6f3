import type { Database, Log } from '../db/database.ts'
import { countPendingUsage, FOLD_PAGE, type Folded, findPendingUsage, foldUsage } from '../db/ledger/fold-usage.ts'
import { createLoop, type Loop } from './loop.ts'

/**
 * Folds what batches wrote of usage into rows of users and quarters of an hour. Nobody waits for it: readers add what is
 * not folded yet. Any number of processes may do so.
 */
export interface Folding extends Loop {
  /** One step: a page of each shard that has any, each in a short transaction of its own. */
  foldOnce(): Promise<Fold>
}

interface Fold extends Folded {
  /** Whether a shard has more than was folded. */
  isBehind: boolean
}

export interface FoldingOptions {
  db: Database
  log: Log
  /** Is told of every step that the loop has done, and how many batches wait behind it. */
  onFold?: (fold: Fold & { pending: number }) => void
}

/** Long, so that a busy user's batches are added up before they touch a row; readers hardly notice what waits. */
const INTERVAL_MS = 10_000

/** More than so many batches are not counted. */
const MOST_COUNTED = 100_000

export function createFolding({ db, log, onFold }: FoldingOptions): Folding {
  let isStopped = false

  async function foldOnce(): Promise<Fold> {
    const fold: Fold = { batches: 0, rows: 0, isBehind: false }
    for (const shard of await findPendingUsage(db)) {
      if (isStopped) break
      const { batches, rows } = await foldUsage(db, shard)
      fold.batches += batches
      fold.rows += rows
      fold.isBehind ||= batches === FOLD_PAGE
    }
    return fold
  }

  const loop = createLoop({
    name: 'folding of usage',
    log,
    async step() {
      const fold = await foldOnce()
      onFold?.({ ...fold, pending: await countPendingUsage(db, MOST_COUNTED) })
      // A third of the time at most: senders come first, and what waits is only read at some more cost.
      return tookMs => (fold.isBehind ? 5 + 2 * tookMs : Math.max(INTERVAL_MS, 2 * tookMs))
    },
  })
  return {
    foldOnce,
    start: loop.start,
    stop() {
      isStopped = true
      return loop.stop()
    },
  }
}
