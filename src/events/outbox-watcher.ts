import { setTimeout as pause } from 'node:timers/promises'
import type { Queryable } from '../db/connection/database.ts'
import { type Positions, readOutboxEnds } from '../db/outbox/outbox.ts'
import type { Shard } from '../domain/basics/shard.ts'

/** Wakes readers when the outbox has changed. It queries the database once for all readers, and not without any. */
export interface OutboxWatcher {
  /**
   * Resolves when there is an event after these positions (in one shard, if one is given), when the outbox ends before
   * them because a fail-over lost events, when the signal aborts, or when the watcher is stopped. It never rejects: while
   * the database is away, it waits.
   */
  waitForEvents(after: Positions, shard: Shard | undefined, signal: AbortSignal): Promise<void>
  readonly waiting: number
  readonly isStopped: boolean
  /** Wakes all readers, and all later ones at once. */
  stop(): void
}

const INTERVAL_MS = 200

export function watchOutbox(db: Queryable): OutboxWatcher {
  const waiting = new Set<{ isOver(ends: Positions): boolean; end(): void }>()
  const stopping = new AbortController()
  let isPolling = false

  async function poll(): Promise<void> {
    if (isPolling) return
    isPolling = true
    while (waiting.size > 0) {
      // Empty while the database is away: then no waiter is over.
      const ends = await readOutboxEnds(db).catch(() => [])
      for (const waiter of waiting) if (waiter.isOver(ends)) waiter.end()
      if (waiting.size > 0) await pause(INTERVAL_MS)
    }
    isPolling = false
  }

  return {
    waitForEvents(after, shard, signal) {
      const over = AbortSignal.any([signal, stopping.signal])
      if (over.aborted) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter = {
        isOver: (ends: Positions) =>
          ends.some((end, index) => {
            const position = after[index] ?? 0
            return end < position || (end > position && (shard === undefined || shard === index))
          }),
        end() {
          waiting.delete(waiter)
          over.removeEventListener('abort', waiter.end)
          resolve()
        },
      }
      waiting.add(waiter)
      over.addEventListener('abort', waiter.end)
      poll()
      return promise
    },
    get waiting() {
      return waiting.size
    },
    get isStopped() {
      return stopping.signal.aborted
    },
    stop: () => stopping.abort(),
  }
}
