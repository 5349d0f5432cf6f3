import type { Database, Log } from '../db/connection/database.ts'
import { isLockNotAvailable } from '../db/connection/errors.ts'
import { OF_ALL_SHARDS, splitUsage } from '../db/ledger/add-usage.ts'
import {
  type BatchShard,
  countPendingUsage,
  findPendingUsage,
  ROLLUP_PAGE,
  type RolledUp,
  rollUpUsage,
  UnusableBatches,
} from '../db/usage/rollup.ts'
import { createPageSize, forEachApart, type PageSize } from './isolation.ts'
import type { Job } from './runner.ts'

/**
 * Rolls up the usage that batches wrote: into rows per user and quarter of an hour, totals of all users, and lists of the
 * top users. No caller waits for it: readers add the usage that is not rolled up yet. Any number of processes may run it.
 */
export interface UsageRollup extends Job {
  /**
   * One step: a page of each shard that has pending usage, each in a short transaction.
   * @throws PartsFailed after the last shard, if some failed
   */
  rollUpOnce(signal?: AbortSignal): Promise<Rollup>
}

interface Rollup {
  batches: number
  /** Rows of `usage` written. */
  rows: number
  /** Pages, or the part of one, of the shard with most. */
  pages: number
  /** Whether a shard has more than was rolled up. */
  isBehind: boolean
}

const nothing = (): Rollup => ({ batches: 0, rows: 0, pages: 0, isBehind: false })

export interface UsageRollupOptions {
  db: Database
  log: Log
  /** The message types that the breaker watches now. */
  watched?: () => Promise<readonly string[]>
  /** Called after every step of the job; `pending` batches are left. */
  onRollup?: (rollup: Rollup & { pending: number }) => void
}

/**
 * Long, so that a busy user's batches are added up before they change a row. At most so long that about a page comes meanwhile: only
 * the batches of a page are added up together, and more of them cost readers time.
 */
const INTERVAL_MS = { min: 500, max: 10_000 }

/** Pending batches are counted up to this number. */
const MAX_COUNTED = 100_000

/** Unusable batches of a shard that a process steps over. With more, the shard waits for an operator. */
const MAX_UNUSABLE = 1_000

/** How long the job rests when nothing is left. */
function createRest() {
  let restMs = INTERVAL_MS.max
  let pages = 0
  return {
    /** Adds the pages of a step. */
    add(more: number): void {
      pages += more
    },
    /** The time in which about a page comes, if as many come as in the last rest. */
    next(): number {
      restMs = Math.min(INTERVAL_MS.max, Math.max(INTERVAL_MS.min, restMs / pages))
      pages = 0
      return restMs
    },
  }
}

/** Rolls up a page of batches of all shards. If a row of one shard is in the way, each shard's part becomes a batch of its own. */
async function rollUpAllShards(
  db: Database,
  watched: readonly string[],
  page: PageSize,
): Promise<RolledUp & { isWhole: boolean }> {
  let max = ROLLUP_PAGE
  try {
    const rolledUp = await page.run(rows => {
      max = rows
      return rollUpUsage(db, OF_ALL_SHARDS, watched, rows)
    })
    return { ...rolledUp, isWhole: rolledUp.batches === max }
  } catch (error) {
    if (!(error instanceof UnusableBatches || isLockNotAvailable(error))) throw error
    await db.transaction(tx => splitUsage(tx, max))
    return { batches: 0, rows: 0, isWhole: true }
  }
}

export function createUsageRollup({ db, log, watched = async () => [], onRollup }: UsageRollupOptions): UsageRollup {
  const sizes = new Map<BatchShard, PageSize>()
  const rest = createRest()
  /** Batches that the database refuses to add up, by shard. They stay where they are. */
  const unusable = new Map<BatchShard, number[]>()

  function pageOf(shard: BatchShard): PageSize {
    const page = sizes.get(shard) ?? createPageSize(ROLLUP_PAGE)
    sizes.set(shard, page)
    return page
  }

  /** Rolls up a page of a shard; if one of its batches is unusable, those before it, or sets that one apart. */
  async function rollUp(shard: BatchShard, types: readonly string[]): Promise<RolledUp & { isWhole: boolean }> {
    if (shard === OF_ALL_SHARDS) return rollUpAllShards(db, types, pageOf(shard))
    const skipped = unusable.get(shard) ?? []
    let max = ROLLUP_PAGE
    for (;;) {
      try {
        const rolledUp = await pageOf(shard).run(async rows => {
          max = Math.min(max, rows)
          return rollUpUsage(db, shard, types, max, skipped)
        })
        return { ...rolledUp, isWhole: rolledUp.batches === max }
      } catch (error) {
        if (!(error instanceof UnusableBatches) || skipped.length >= MAX_UNUSABLE) throw error
        if (error.batches > 1) {
          max = Math.floor(error.batches / 2)
        } else {
          log.error({ err: error, shard, number: error.first }, 'usage rollup: left a batch that cannot be added up')
          unusable.set(shard, [...skipped, error.first])
          return { batches: 0, rows: 0, isWhole: true }
        }
      }
    }
  }

  async function rollUpInto(rollup: Rollup, signal?: AbortSignal): Promise<void> {
    const types = await watched()
    await forEachApart(await findPendingUsage(db), signal, async shard => {
      const { batches, rows, isWhole } = await rollUp(shard, types)
      rollup.batches += batches
      rollup.rows += rows
      rollup.pages = Math.max(rollup.pages, isWhole ? 1 : batches / ROLLUP_PAGE)
      rollup.isBehind ||= isWhole
    })
  }

  return {
    name: 'usage rollup',
    async rollUpOnce(signal) {
      const rollup = nothing()
      await rollUpInto(rollup, signal)
      return rollup
    },
    async step(signal) {
      const rollup = nothing()
      try {
        await rollUpInto(rollup, signal)
      } finally {
        onRollup?.({ ...rollup, pending: await countPendingUsage(db, MAX_COUNTED) })
      }
      const { isBehind } = rollup
      rest.add(rollup.pages)
      const pauseMs = isBehind ? 5 : rest.next()
      // At most a third of the time: senders come first, and pending usage only costs its readers a little more.
      return { isBehind, pauseMs: tookMs => Math.max(pauseMs, 2 * tookMs) }
    },
  }
}
