import { setTimeout as pause } from 'node:timers/promises'
import type { Queryable } from '../db/database.ts'
import { type Positions, readOutboxEnds } from '../db/outbox.ts'

/** Tells whoever waits that the outbox has grown. However many wait, one of them asks the database; with none, nobody. */
export interface OutboxWatcher {
  /**
   * Settles when there is something after these positions (in one shard, if one is named), when the signal aborts, or
   * when the watch is stopped. It never rejects: a database that is away shows to whoever reads next.
   */
  moved(after: Positions, shard: number | undefined, signal: AbortSignal): Promise<void>
  readonly waiting: number
  readonly isStopped: boolean
  /** Lets everybody go, those to come as well. */
  stop(): void
}

const ASK_EVERY_MS = 200

export function watchOutbox(db: Queryable): OutboxWatcher {
  const waiting = new Set<{ isOver(ends: Positions): boolean; end(): void }>()
  const stopping = new AbortController()
  let isAsking = false

  async function ask(): Promise<void> {
    if (isAsking) return
    isAsking = true
    while (waiting.size > 0) {
      const ends = await readOutboxEnds(db).catch(() => [])
      for (const waiter of waiting) if (waiter.isOver(ends)) waiter.end()
      if (waiting.size > 0) await pause(ASK_EVERY_MS)
    }
    isAsking = false
  }

  return {
    moved(after, shard, signal) {
      const over = AbortSignal.any([signal, stopping.signal])
      if (over.aborted) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter = {
        isOver: (ends: Positions) =>
          shard === undefined
            ? ends.some((head, index) => head > (after[index] ?? 0))
            : (ends[shard] ?? 0) > (after[shard] ?? 0),
        end() {
          waiting.delete(waiter)
          over.removeEventListener('abort', waiter.end)
          resolve()
        },
      }
      waiting.add(waiter)
      over.addEventListener('abort', waiter.end)
      ask()
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
