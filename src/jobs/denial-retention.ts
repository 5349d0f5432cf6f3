import type { Database } from '../db/connection/database.ts'
import { DENIAL_PAGE, findOldDenials, removeDenials } from '../db/reservations/denial-retention.ts'
import { DAY_MS, type EpochMs } from '../domain/time/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import { createRetentionJob, type Removal, type RetentionJob } from './runner.ts'

export interface DenialRetentionOptions {
  db: Database
  now: () => EpochMs
  /** How long a denial is kept, in milliseconds. */
  retentionMs?: number
}

const DEFAULT_RETENTION_MS = 7 * DAY_MS

const INTERVAL_MS = 60_000

/** Removes denials from the log when the retention time is over. Any number of processes may run it. */
export function createDenialRetention(options: DenialRetentionOptions): RetentionJob {
  const { db, now: clock, retentionMs = DEFAULT_RETENTION_MS } = options
  if (!(retentionMs >= 0)) throw new RangeError('retentionMs must be at least 0')
  const pageSize = createPageSize(DENIAL_PAGE)
  /** The time up to which denials were read. */
  let read = Number.NEGATIVE_INFINITY
  /** Whether denials were left before that point: then, after the last page, all is read again. */
  let hasLeftSome = false

  async function removePage(now: EpochMs, signal?: AbortSignal): Promise<Removal> {
    const cutoff = now - retentionMs
    const { denials, isLast } = await pageSize.run(async rows => {
      const page = await findOldDenials(db, read, cutoff, rows)
      return { denials: page, isLast: page.length < rows }
    })
    read = denials.at(-1)?.at ?? cutoff
    const hadLeftSome = hasLeftSome
    hasLeftSome = true
    let removed = 0
    const byShard = Map.groupBy(denials, ({ shard }) => shard)
    await forEachApart(byShard.values(), signal, async ofShard => {
      removed += await removeDenials(db, ofShard)
    })
    if (signal?.aborted !== true) hasLeftSome = hadLeftSome
    if (isLast) {
      read = hasLeftSome ? Number.NEGATIVE_INFINITY : cutoff
      hasLeftSome = false
    }
    return { removed, isBehind: !isLast }
  }

  return createRetentionJob({ name: 'denial retention', intervalMs: INTERVAL_MS, now: clock, removePage })
}
