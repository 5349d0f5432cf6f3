import type { Queryable } from '../db/database.ts'
import {
  type EventFilter,
  type Positions,
  readEvents,
  readOutboxEnds,
  readPositionsBefore,
  type StoredEvent,
} from '../db/outbox.ts'
import { shardOf } from '../domain/shard.ts'
import { type OutboxWatcher, watchOutbox } from './outbox-watcher.ts'

/** The outbox as a feed: clients read on from a cursor, and can wait for the next event. */
export interface Feed {
  /** Reads a page. If it is empty, waits up to `waitMs` for its first event, or until the signal aborts. */
  read(query: FeedQuery, signal: AbortSignal): Promise<FeedPage>
  /** How many reads wait for an event now. */
  readonly waiting: number
  /** Ends all waiting reads, which resolve to an empty page. */
  stop(): void
}

export interface FeedQuery extends EventFilter {
  /** Where to start: after these positions, at the end (`latest`), or `last` events before the end. */
  after: Positions | 'latest' | { last: number }
  limit: number
  waitMs: number
}

type FeedPage =
  | { outcome: 'page'; events: StoredEvent[]; next: Positions }
  /** The cursor is beyond the outbox's end: it is from another database, or an older backup was restored. */
  | { outcome: 'ahead' }

/** How many pages without a match are read before the client gets an empty page and a cursor to continue from. */
const MAX_READS = 20

export function createFeed(db: Queryable, watcher: OutboxWatcher = watchOutbox(db)): Feed {
  return {
    async read({ after, limit, waitMs, ...filter }, signal) {
      const ending = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
      let ends: Positions = await readOutboxEnds(db)
      let next = await startOf(after, ends)
      if (next.some((position, shard) => position > (ends[shard] ?? 0))) return { outcome: 'ahead' }

      const shard = filter.userId === undefined ? undefined : shardOf(filter.userId)
      for (;;) {
        const found = await readPage(next, ends, filter, limit)
        next = found.reached
        const isOver = waitMs === 0 || ending.aborted || watcher.isStopped
        if (found.events.length > 0 || isOver) return { outcome: 'page', events: found.events, next }
        await watcher.waitForEvents(next, shard, ending)
        ends = await readOutboxEnds(db)
      }
    },
    get waiting() {
      return watcher.waiting
    },
    stop: watcher.stop,
  }

  async function startOf(after: FeedQuery['after'], ends: Positions): Promise<Positions> {
    if (after === 'latest') return ends
    return 'last' in after ? readPositionsBefore(db, ends, after.last) : after
  }

  async function readPage(after: Positions, ends: Positions, filter: EventFilter, limit: number) {
    let found = await readEvents(db, after, ends, filter, limit)
    for (let reads = 1; found.events.length === 0 && reads < MAX_READS; reads++) {
      if (!isBehind(found.reached, ends)) break
      found = await readEvents(db, found.reached, ends, filter, limit)
    }
    return found
  }
}

function isBehind(positions: Positions, ends: Positions): boolean {
  return ends.some((end, shard) => end > (positions[shard] ?? 0))
}
