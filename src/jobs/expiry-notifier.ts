import { emitExpired, takeBackPosition } from '../admin/quotas/emit-expired.ts'
import type { Database } from '../db/connection/database.ts'
import { findShardsAhead, findShardsWithExpired } from '../db/quotas/expired.ts'
import type { Shard } from '../domain/basics/shard.ts'
import { latestPosition } from '../domain/events/outbox-event.ts'
import type { EpochMs } from '../domain/time/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import type { Job } from './runner.ts'

/**
 * Emits an event for each quota that has expired, since no command or change marks that time. Any number of processes
 * may run it: they share the shards, page by page.
 */
export interface ExpiryNotifier extends Job {
  /** One step: a page of each shard that has quotas which have expired by `now`, each in a short transaction. */
  notifyOnce(now: EpochMs, signal?: AbortSignal): Promise<Notification>
}

interface Notification {
  emitted: number
  /** Whether a shard may have more. */
  isBehind: boolean
}

export interface ExpiryNotifierOptions {
  db: Database
  now: () => EpochMs
}

/** An expiry is to be emitted within a minute; a step with nothing to do is one statement. */
const INTERVAL_MS = 5_000

/** Quotas of a page: the senders whose batches emit events in the shard wait as long as it takes, about 20 ms. */
const PAGE = 250

/** Shards at a time: while PostgreSQL writes the events of one, this process makes those of another. */
const LANES = 2

export function createExpiryNotifier({ db, now: clock }: ExpiryNotifierOptions): ExpiryNotifier {
  const pageSize = createPageSize(PAGE)
  /** When the first of the quotas expired whose events are not emitted. Infinity: all are. */
  let emittedUntil = Number.POSITIVE_INFINITY

  async function notifyOnce(now: EpochMs, signal?: AbortSignal): Promise<Notification> {
    const ahead = await findShardsAhead(db, latestPosition(now))
    const shards = await findShardsWithExpired(db, now)
    emittedUntil = Math.min(...shards.map(({ first }) => first))
    const sum = { emitted: 0, isBehind: ahead.length > 0 }
    const queue = shuffled(shards.map(({ shard }) => shard)).values()
    const work = async (shard: Shard) => {
      const { emitted, isFull } = await pageSize.run(rows => emitExpired(db, shard, now, rows))
      sum.emitted += emitted
      sum.isBehind ||= isFull
    }
    const lanes = Array.from({ length: LANES }, () => forEachApart(queue, signal, work))
    lanes.push(forEachApart(ahead, signal, shard => takeBackPosition(db, shard, now)))
    for (const lane of await Promise.allSettled(lanes)) if (lane.status === 'rejected') throw lane.reason
    if (!sum.isBehind && !signal?.aborted) emittedUntil = Number.POSITIVE_INFINITY
    return sum
  }

  return {
    name: 'expiry notifier',
    notifyOnce,
    lagMs: () => Math.max(0, clock() - emittedUntil),
    async step(signal) {
      const { isBehind } = await notifyOnce(clock(), signal)
      return { isBehind, pauseMs: () => (isBehind ? 1 : INTERVAL_MS) }
    },
  }
}

/** In random order, so that processes which begin together seldom wait for each other at the same shard. */
function shuffled(shards: readonly Shard[]): Shard[] {
  const order = [...shards]
  for (let last = order.length - 1; last > 0; last--) {
    const chosen = Math.floor(Math.random() * (last + 1))
    const [one, other] = [order[last], order[chosen]]
    if (one === undefined || other === undefined) break
    order[last] = other
    order[chosen] = one
  }
  return order
}
