import { emitExpired } from '../admin/emit-expired.ts'
import type { Database } from '../db/database.ts'
import { EXPIRED_PAGE, findExpired } from '../db/expired-quotas.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Job } from './runner.ts'

/**
 * Emits an event for each quota that has expired, since no command or change marks that time. Any number of processes
 * may run it: each emits, under the user's lock, only what is not emitted yet.
 */
export interface ExpiryNotifier extends Job {
  /** One step: a page of the quotas that have expired by `now`, in a short transaction for each shard. */
  notifyOnce(now: EpochMs, signal?: AbortSignal): Promise<Notification>
}

interface Notification {
  emitted: number
  /** What is not emitted yet: `more` quotas, those that others have `locked`, or none (null). */
  left: 'more' | 'locked' | null
}

export interface ExpiryNotifierOptions {
  db: Database
  now: () => EpochMs
}

/** A quarter of the minute within which an expiry is to be emitted, because the machine may be busy. */
const INTERVAL_MS = 15_000
/** The pause when another transaction has locked a quota or its user. */
const LOCKED_RETRY_MS = 1_000

export function createExpiryNotifier({ db, now: clock }: ExpiryNotifierOptions): ExpiryNotifier {
  async function notifyOnce(now: EpochMs, signal?: AbortSignal): Promise<Notification> {
    const expired = await findExpired(db, now)
    const errors: unknown[] = []
    let emitted = 0
    for (const [shard, quotas] of Map.groupBy(expired, quota => quota.shard)) {
      if (signal?.aborted) break
      // A failure in one shard does not keep the events of the others back.
      emitted += await emitExpired(db, shard, quotas, now).catch(error => {
        errors.push(error)
        return 0
      })
    }
    if (errors.length > 0) throw errors[0]
    if (emitted < expired.length) return { emitted, left: 'locked' }
    return { emitted, left: expired.length >= EXPIRED_PAGE ? 'more' : null }
  }

  return {
    name: 'expiry notifier',
    notifyOnce,
    async step(signal) {
      const { left } = await notifyOnce(clock(), signal)
      // At most half of the time, because senders come first.
      return tookMs => (left === 'more' ? 5 + tookMs : left === 'locked' ? LOCKED_RETRY_MS : INTERVAL_MS)
    },
  }
}
