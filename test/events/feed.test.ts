/** How readers of the feed share the database, on a real one. */
import { expect, test } from 'vitest'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { createFeed, createPageReads, type FeedQuery } from '../../src/events/feed.ts'
import { freshDatabase } from '../support/database.ts'

const { db } = await freshDatabase()

async function emit(): Promise<void> {
  await db.query({
    text: sql`with head as (update shard_head set last_event = last_event + 1 where shard = 5 returning last_event)
           insert into event (shard, number, type, at, data)
           select 5, last_event, 'webhook.disabled', now(), '{}' from head`,
  })
}

test('readers that wait at the same cursor share a read, and others are read a few at a time', async () => {
  let reads = 0
  let [running, most] = [0, 0]
  const counting: Database = {
    ...db,
    async transaction(work, mode) {
      reads += 1
      running += 1
      most = Math.max(most, running)
      try {
        return await db.transaction(work, mode)
      } finally {
        running -= 1
      }
    },
  }
  const feed = createFeed(counting)
  const { signal } = new AbortController()
  const query = (more: Partial<FeedQuery>): FeedQuery => ({ after: 'latest', limit: 10, waitMs: 30_000, ...more })
  const waits = [
    ...Array.from({ length: 60 }, (_, n) => feed.read(query({}), `reader ${n % 3}`, signal)),
    ...Array.from({ length: 10 }, (_, n) => feed.read(query({ limit: 20 + n }), 'ada', signal)),
  ]
  await expect.poll(() => feed.waiting).toBe(70)
  expect(most).toBeLessThanOrEqual(4)
  const before = reads
  await emit()
  for (const page of await Promise.all(waits)) expect(page).toMatchObject({ outcome: 'page', events: [{ shard: 5 }] })
  // One of the sixty, and one of each of the ten.
  expect(reads - before).toBe(11)
  expect(most).toBeLessThanOrEqual(4)
})

test('a reader that goes away while it waits reads no more, and makes room', async () => {
  const feed = createFeed(db)
  const query: FeedQuery = { after: 'latest', limit: 10, waitMs: 30_000 }
  const leaving = new AbortController()
  const waits = Array.from({ length: 20 }, () => feed.read(query, 'ada', leaving.signal))
  const { signal } = new AbortController()
  await expect.poll(() => feed.waiting).toBe(20)
  expect(await feed.read(query, 'ada', signal)).toEqual({ outcome: 'too_many_waiting' })
  leaving.abort()
  for (const page of await Promise.all(waits)) expect(page).toMatchObject({ outcome: 'page', events: [] })
  const wait = feed.read(query, 'ada', signal)
  await expect.poll(() => feed.waiting).toBe(1)
  feed.stop()
  expect(await wait).toMatchObject({ outcome: 'page', events: [] })
})

test('a read that fails fails all that share it, and frees its place', async () => {
  const reads = createPageReads<number>(1)
  const failing = Promise.withResolvers<number>()
  const shared = [1, 2].map(() => reads.run('key', () => failing.promise))
  const later = reads.run(null, async () => 7)
  failing.reject(new Error('away'))
  for (const read of shared) await expect(read).rejects.toThrow('away')
  expect(await later).toBe(7)
  expect(await reads.run('key', async () => 8)).toBe(8)
})
