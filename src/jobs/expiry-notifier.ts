import { emitExpired } from '../admin/emit-expired.ts'
import type { Database, Log } from '../db/database.ts'
import { EXPIRED_PAGE, findExpired } from '../db/expired-quotas.ts'
import type { EpochMs } from '../domain/time.ts'
import { createLoop, type Loop } from './job.ts'

/**
 * Tells of quotas that are over: nothing happens to them at that moment by which it would be noticed. Any number of
 * processes may do so, for each tells only what nobody has told when it holds the quota.
 */
export interface ExpiryNotifier extends Loop {
  /** One step: a page of what is over by `now`, in a short transaction for each shard. */
  notifyOnce(now: EpochMs): Promise<Telling>
}

interface Telling {
  told: number
  /** There is more that nobody has told; null: all is told. */
  left: 'more' | 'held' | null
}

export interface ExpiryNotifierOptions {
  db: Database
  now: () => EpochMs
  log: Log
}

/** A quarter of the minute within which an end is told, for a machine may be busy. */
const INTERVAL_MS = 15_000
/** When somebody held a quota or its user. */
const AGAIN_MS = 1_000

export function createExpiryNotifier({ db, now: clock, log }: ExpiryNotifierOptions): ExpiryNotifier {
  let isStopped = false

  async function notifyOnce(now: EpochMs): Promise<Telling> {
    const ended = await findExpired(db, now)
    const faults: unknown[] = []
    let told = 0
    for (const [shard, quotas] of Map.groupBy(ended, quota => quota.shard)) {
      if (isStopped) break
      // What ails one shard does not keep the others from being told.
      told += await emitExpired(db, shard, quotas, now).catch(error => {
        faults.push(error)
        return 0
      })
    }
    if (faults.length > 0) throw faults[0]
    if (told < ended.length) return { told, left: 'held' }
    return { told, left: ended.length >= EXPIRED_PAGE ? 'more' : null }
  }

  const loop = createLoop({
    name: 'telling of ends',
    log,
    async step() {
      const { left } = await notifyOnce(clock())
      // No more than half of the time, for senders come first.
      return tookMs => (left === 'more' ? 5 + tookMs : left === 'held' ? AGAIN_MS : INTERVAL_MS)
    },
  })
  return {
    notifyOnce,
    start: loop.start,
    stop() {
      isStopped = true
      return loop.stop()
    },
  }
}
