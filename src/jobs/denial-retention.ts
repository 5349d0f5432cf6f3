import type { Database } from '../db/connection/database.ts'
import { DENIAL_PAGE, findOldDenials, removeDenials } from '../db/reservations/denial-retention.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import type { Job } from './runner.ts'

/** Removes denials from the log when the retention time is over. Any number of processes may run it. */
export interface DenialRetention extends Job {
  /** One step: a page of denials, oldest first, in a short transaction for each shard that has some of them. */
  removeOnce(now: EpochMs, signal?: AbortSignal): Promise<Removal>
}

interface Removal {
  removed: number
  /** Whether there is more to read. */
  isBehind: boolean
}

export interface DenialRetentionOptions {
  db: Database
  now: () => EpochMs
  /** How long a denial is kept, in milliseconds. */
  retentionMs?: number
}

const DEFAULT_RETENTION_MS = 7 * DAY_MS

const INTERVAL_MS = 60_000

export function createDenialRetention(options: DenialRetentionOptions): DenialRetention {
  const { db, now: clock, retentionMs = DEFAULT_RETENTION_MS } = options
  if (!(retentionMs >= 0)) throw new RangeError('retentionMs must be at least 0')
  const pageSize = createPageSize(DENIAL_PAGE)
  /** Up to where denials were read. */
  let read = Number.NEGATIVE_INFINITY
  /** Whether denials were left before that point: then, after the last page, all is read again. */
  let hasLeftSome = false

  async function removeOnce(now: EpochMs, signal?: AbortSignal): Promise<Removal> {
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

  return {
    name: 'denial retention',
    removeOnce,
    async step(signal) {
      const { isBehind } = await removeOnce(clock(), signal)
      // At most half of the time, because no caller waits for it.
      return tookMs => (isBehind ? 5 + tookMs : INTERVAL_MS)
    },
  }
}
