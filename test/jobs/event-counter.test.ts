import { expect, test } from 'vitest'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { createEventCounter } from '../../src/jobs/event-counter.ts'
import { PartsFailed } from '../../src/jobs/isolation.ts'
import { freshDatabase } from '../support/database.ts'

const { db } = await freshDatabase()

const emit = (shard: number, count: number) =>
  db.query({
    text: sql`with head as (update shard_head set last_event = last_event + $2 where shard = $1 returning last_event)
           insert into event (shard, number, type, at, data)
           select $1, last_event - $2 + n, 'webhook.disabled', now(), '{}' from head, generate_series(1, $2::int) n`,
    values: [shard, count],
  })

test('it counts from its first step on, a page of each shard at a time, and a shard that fails keeps no other back', async () => {
  await emit(1, 3)
  let counted = 0
  let broken = false
  const failing: Database = {
    ...db,
    query: statement =>
      broken && statement.values?.[0] === 1 ? Promise.reject(new Error('poison')) : db.query(statement),
  }
  const counter = createEventCounter({
    db: failing,
    onEvents: counts => {
      for (const { count } of counts) counted += count
    },
  })
  expect(await counter.countOnce()).toBe(false)
  expect(counted).toBe(0)
  await emit(1, 1_500)
  await emit(2, 5)
  broken = true
  await expect(counter.countOnce()).rejects.toBeInstanceOf(PartsFailed)
  expect(counted).toBe(5)
  broken = false
  expect([await counter.countOnce(), counted]).toEqual([true, 1_005])
  expect([await counter.countOnce(), counted]).toEqual([false, 1_505])
  // A fail-over lost events, and others have their numbers.
  await db.query({ text: sql`update shard_head set last_event = 3 where shard = 2` })
  await db.query({ text: sql`delete from event where shard = 2 and number > 3` })
  await counter.countOnce()
  await emit(2, 2)
  expect([await counter.countOnce(), counted]).toEqual([false, 1_507])
})
