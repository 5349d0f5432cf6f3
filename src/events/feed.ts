import type { Database, Queryable, Transaction } from '../db/database.ts'
import {
  type EventFilter,
  isBehind,
  isStandby,
  type Positions,
  readEvents,
  readOutboxEnds,
  readPositionsBefore,
  type StoredEvent,
  viewOutbox,
} from '../db/outbox.ts'
import { shardOf } from '../domain/shard.ts'
import { type Cursor, isIntact } from './cursor.ts'
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
  /** Where to start: after a cursor, at the end (`latest`), or `last` events before the end. */
  after: Cursor | 'latest' | { last: number }
  limit: number
  waitMs: number
}

type FeedPage =
  | { outcome: 'page'; events: StoredEvent[]; next: Cursor }
  /** The database does not hold what the reader has read, or holds other events in its place. */
  | { outcome: 'lost' }
  /** The database is a standby that does not hold what the reader has read, but may yet receive it. */
  | { outcome: 'standby' }

/** How many pages without a match are read before the client gets an empty page and a cursor to continue from. */
const MAX_READS = 20

export function createFeed(db: Database, watcher: OutboxWatcher = watchOutbox(db)): Feed {
  return {
    async read({ after, limit, waitMs, ...filter }, signal) {
      const ending = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
      const shard = filter.userId === undefined ? undefined : shardOf(filter.userId)
      for (let from = await startOf(db, after); ; ) {
        const page = await readPage(db, from, filter, limit)
        const isOver = waitMs === 0 || ending.aborted || watcher.isStopped
        if (isOver || page.outcome !== 'page' || page.events.length > 0) return page
        from = page.next
        await watcher.waitForEvents(from.positions, shard, ending)
      }
    },
    get waiting() {
      return watcher.waiting
    },
    stop: watcher.stop,
  }
}

async function startOf(db: Queryable, after: FeedQuery['after']): Promise<Cursor> {
  if (after !== 'latest' && 'positions' in after) return after
  const ends = await readOutboxEnds(db)
  const positions: Positions = after === 'latest' ? ends : await readPositionsBefore(db, ends, after.last)
  return { positions, fingerprint: null }
}

async function readPage(db: Database, from: Cursor, filter: EventFilter, limit: number): Promise<FeedPage> {
  // Most reads find nothing new; this statement is all that they need.
  const view = await viewOutbox(db, from.positions)
  if (isIntact(from, view) && !isBehind(from.positions, view.ends)) {
    return { outcome: 'page', events: [], next: { ...from, fingerprint: view.fingerprint } }
  }
  // One snapshot, so that the fingerprint is of the very events that were read.
  return db.transaction(tx => readSnapshot(tx, from, filter, limit), 'snapshot')
}

async function readSnapshot(tx: Transaction, from: Cursor, filter: EventFilter, limit: number): Promise<FeedPage> {
  const view = await viewOutbox(tx, from.positions)
  if (!isIntact(from, view)) return { outcome: (await isStandby(tx)) ? 'standby' : 'lost' }

  let found = await readEvents(tx, from.positions, view.ends, filter, limit)
  for (let reads = 1; found.events.length === 0 && reads < MAX_READS; reads++) {
    if (!isBehind(found.reached, view.ends)) break
    found = await readEvents(tx, found.reached, view.ends, filter, limit)
  }
  const { events, reached: positions } = found
  const { fingerprint } = await viewOutbox(tx, positions)
  return { outcome: 'page', events, next: { positions, fingerprint } }
}
