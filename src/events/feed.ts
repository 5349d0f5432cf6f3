import type { Database, Transaction } from '../db/connection/database.ts'
import {
  type EventFilter,
  isBehind,
  isStandby,
  type Positions,
  readOutboxEnds,
  readPositionsBefore,
  type StoredEvent,
} from '../db/outbox/outbox.ts'
import { firstTimeAfter, type OutboxHead, readHeads, readOutboxPage } from '../db/outbox/pages.ts'
import { SHARDS, shardOf } from '../domain/basics/shard.ts'
import type { EpochMs } from '../domain/time/time.ts'
import { type Cursor, fingerprintOf, judgeCursor, writeCursor } from './cursor.ts'
import { type OutboxWatcher, watchOutbox } from './outbox-watcher.ts'

/** The outbox as a feed: clients read on from a cursor, and can wait for the next event. */
export interface Feed {
  /**
   * Reads a page. If it is empty, waits up to `waitMs` for its first event, or until the signal aborts. A reader, by its
   * name, has `MAX_WAITING` such reads at a time.
   */
  read(query: FeedQuery, reader: string, signal: AbortSignal): Promise<FeedPage>
  /** How many reads wait for an event now. */
  readonly waiting: number
  /** Ends all waiting reads, which resolve to an empty page. */
  stop(): void
}

export interface FeedQuery extends EventFilter {
  /** Where to start: after a cursor, at the oldest event, at the end (`latest`), or `last` events before the end. */
  after: Cursor | 'oldest' | 'latest' | { last: number }
  limit: number
  waitMs: number
}

type FeedPage =
  | { outcome: 'page'; events: StoredEvent[]; next: Cursor }
  /** The database does not hold what the reader has read, or holds other events in its place. */
  | { outcome: 'lost' }
  /** The database is a standby that does not hold what the reader has read, but may yet receive it. */
  | { outcome: 'standby' }
  /**
   * Retention has removed events that the reader has not read. `next` goes on behind them, with all that is left; the time
   * is that of the oldest event then, null if there is none.
   */
  | { outcome: 'pruned'; next: Cursor; oldestAt: EpochMs | null }
  /** The reader has `MAX_WAITING` reads that wait. */
  | { outcome: 'too_many_waiting' }

/** Reads of one reader that wait at a time. */
export const MAX_WAITING = 20

/** Pages read at a time: an event that wakes thousands of readers leaves connections for other calls. */
const READS_AT_ONCE = 4

/** How many pages without a match are read before the client gets an empty page and a cursor to continue from. */
const MAX_READS = 20

export function createFeed(db: Database, watcher: OutboxWatcher = watchOutbox(db)): Feed {
  const reads = createPageReads<FeedPage>(READS_AT_ONCE)
  const waitingOf = new Map<string, number>()

  const readPage = (from: FeedQuery['after'], filter: EventFilter, limit: number) =>
    db.transaction(tx => readSnapshot(tx, from, filter, limit), 'keyed snapshot')

  /** Readers that wait at the same cursor for the same share one read of it. */
  const readAgain = (from: Cursor, filter: EventFilter, limit: number) =>
    reads.run(JSON.stringify([writeCursor(from), filter, limit]), () => readPage(from, filter, limit))

  async function readOrWait(query: FeedQuery, signal: AbortSignal): Promise<FeedPage> {
    const { after, limit, waitMs, ...filter } = query
    const ending = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
    const shard = filter.userId === undefined ? undefined : shardOf(filter.userId)
    let page = await reads.run(null, () => readPage(after, filter, limit))
    while (page.outcome === 'page' && page.events.length === 0 && !ending.aborted && !watcher.isStopped) {
      await watcher.waitForEvents(page.next.positions, shard, ending)
      if (signal.aborted || watcher.isStopped) break
      page = await readAgain(page.next, filter, limit)
    }
    return page
  }

  return {
    async read(query, reader, signal) {
      if (query.waitMs === 0) return reads.run(null, () => readPage(query.after, filterOf(query), query.limit))
      const waiting = waitingOf.get(reader) ?? 0
      if (waiting >= MAX_WAITING) return { outcome: 'too_many_waiting' }
      waitingOf.set(reader, waiting + 1)
      try {
        return await readOrWait(query, signal)
      } finally {
        const left = (waitingOf.get(reader) ?? 1) - 1
        if (left > 0) waitingOf.set(reader, left)
        else waitingOf.delete(reader)
      }
    },
    get waiting() {
      return watcher.waiting
    },
    stop: watcher.stop,
  }
}

function filterOf({ types, userId }: FeedQuery): EventFilter {
  return { ...(types === undefined ? {} : { types }), ...(userId === undefined ? {} : { userId }) }
}

/** Reads a page in one snapshot, so that the fingerprint is of the very events that were read. */
async function readSnapshot(
  tx: Transaction,
  after: FeedQuery['after'],
  filter: EventFilter,
  limit: number,
): Promise<FeedPage> {
  const from = await startOf(tx, after)
  let page = await readOutboxPage(tx, from.positions, filter, limit)
  const { heads } = page
  const verdict = after === 'oldest' ? 'intact' : judgeCursor(from, heads)
  if (verdict === 'lost') return { outcome: (await isStandby(tx)) ? 'standby' : 'lost' }
  if (verdict === 'pruned') return prunedPage(tx, from.positions, heads)

  const ends = heads.map(({ end }) => end)
  for (let pages = 1; page.events.length === 0 && pages < MAX_READS; pages++) {
    if (!isBehind(page.reached, ends)) break
    page = await readOutboxPage(tx, page.reached, filter, limit)
  }
  const { events, reached, reachedAt } = page
  return { outcome: 'page', events, next: { positions: reached, fingerprint: fingerprintOf(reached, reachedAt) } }
}

async function startOf(tx: Transaction, after: FeedQuery['after']): Promise<Cursor> {
  if (after === 'oldest') return { positions: SHARDS.map(() => 0), fingerprint: null }
  if (after !== 'latest' && 'positions' in after) return after
  const ends = await readOutboxEnds(tx)
  const positions: Positions = after === 'latest' ? ends : await readPositionsBefore(tx, ends, after.last)
  return { positions, fingerprint: null }
}

async function prunedPage(tx: Transaction, passed: Positions, heads: readonly OutboxHead[]): Promise<FeedPage> {
  const positions = heads.map(({ shard, pruned }) => Math.max(passed[shard] ?? 0, pruned))
  const times = (await readHeads(tx, positions)).map(({ passed_at }) => passed_at)
  const next = { positions, fingerprint: fingerprintOf(positions, times) }
  return { outcome: 'pruned', next, oldestAt: await firstTimeAfter(tx, positions) }
}

/** Runs reads a few at a time, in the order of arrival, and lets equal ones share one. */
interface PageReads<Page> {
  /** With a key, joins a read of that key that has not ended. */
  run(key: string | null, read: () => Promise<Page>): Promise<Page>
}

/** @param concurrency how many reads run at a time */
export function createPageReads<Page>(concurrency: number): PageReads<Page> {
  const shared = new Map<string, Promise<Page>>()
  const queue: (() => void)[] = []
  let running = 0

  async function runInTurn(read: () => Promise<Page>): Promise<Page> {
    if (running < concurrency) running += 1
    // The read that ends passes its place on.
    else await new Promise<void>(resolve => queue.push(resolve))
    try {
      return await read()
    } finally {
      const next = queue.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }

  return {
    run(key, read) {
      if (key === null) return runInTurn(read)
      const joined = shared.get(key) ?? runInTurn(read).finally(() => shared.delete(key))
      shared.set(key, joined)
      return joined
    },
  }
}
