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

/** The outbox as a feed: read on from a cursor, and wait for what comes. */
export interface Feed {
  /** Reads a page; with `waitMs`, waits so long for its first event. */
  read(query: FeedQuery, signal: AbortSignal): Promise<FeedPage>
  /** How many wait for an event just now. */
  readonly waiting: number
  /** Lets go of everybody who waits. */
  stop(): void
}

export interface FeedQuery extends EventFilter {
  /** `latest`: what is to come from now on, behind the last so many if a number is given. */
  after: Positions | 'latest' | { last: number }
  limit: number
  waitMs: number
}

type FeedPage =
  | { outcome: 'page'; events: StoredEvent[]; next: Positions }
  /** The cursor names events that there are not: it is another database's, or an older backup was restored. */
  | { outcome: 'ahead' }

/** How often a page is sought among events that the filter passes over, before the caller gets the cursor so far. */
const MAX_READS = 20

export function createFeed(db: Queryable, watch: OutboxWatcher = watchOutbox(db)): Feed {
  return {
    async read({ after, limit, waitMs, ...filter }, caller) {
      const ending = AbortSignal.any([caller, AbortSignal.timeout(waitMs)])
      let ends: Positions = await readOutboxEnds(db)
      let next = await startOf(after, ends)
      if (next.some((position, shard) => position > (ends[shard] ?? 0))) return { outcome: 'ahead' }

      const shard = filter.userId === undefined ? undefined : shardOf(filter.userId)
      for (;;) {
        const found = await seek(next, ends, filter, limit)
        next = found.reached
        const isOver = waitMs === 0 || ending.aborted || watch.isStopped
        if (found.events.length > 0 || isOver) return { outcome: 'page', events: found.events, next }
        await watch.moved(next, shard, ending)
        ends = await readOutboxEnds(db)
      }
    },
    get waiting() {
      return watch.waiting
    },
    stop: watch.stop,
  }

  async function startOf(after: FeedQuery['after'], ends: Positions): Promise<Positions> {
    if (after === 'latest') return ends
    return 'last' in after ? readPositionsBefore(db, ends, after.last) : after
  }

  async function seek(after: Positions, ends: Positions, filter: EventFilter, limit: number) {
    let found = await readEvents(db, after, ends, filter, limit)
    for (let reads = 1; found.events.length === 0 && reads < MAX_READS; reads++) {
      if (!isBehind(found.reached, ends)) break
      found = await readEvents(db, found.reached, ends, filter, limit)
    }
    return found
  }
}

function isBehind(positions: Positions, ends: Positions): boolean {
  return ends.some((head, shard) => head > (positions[shard] ?? 0))
}
