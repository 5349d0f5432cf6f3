import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { HOUR_MS, MINUTE_MS } from '../../src/domain/time/time.ts'
import { createValueCounterCleaner } from '../../src/jobs/cleaners.ts'
import { freshDatabase } from '../support/database.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const { db } = await freshDatabase()

test('counters of windows that are over are removed in pages; the others stay', async () => {
  const ends = [0, 20 * MINUTE_MS, HOUR_MS, -1, -MINUTE_MS]
  for (const [index, ago] of ends.entries())
    await db.query({
      text: sql`insert into value_counter (shard, quota_id, value_key, window_start, window_end, used, reserved, seq)
             values (1, 65, $1, $2, $3, 1, 0, 1)`,
      values: [index, new Date(NOW - 2 * HOUR_MS).toISOString(), new Date(NOW - ago).toISOString()],
    })
  const cleaner = createValueCounterCleaner({ db, now: () => NOW, pageSize: 2 })
  expect(await cleaner.removeOnce(NOW)).toEqual({ removed: 2, isBehind: true })
  const [one, other] = await Promise.all([cleaner.removeOnce(NOW), cleaner.removeOnce(NOW)])
  expect(one.removed + other.removed).toBe(1)
  const left = await db.query<{ value_key: number }>({ text: sql`select value_key from value_counter order by 1` })
  expect(left.map(({ value_key }) => value_key)).toEqual([3, 4])
})
