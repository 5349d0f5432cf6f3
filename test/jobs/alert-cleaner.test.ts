import { expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { createAlertCleaner } from '../../src/jobs/cleaners.ts'
import { whenDone } from '../support/cleanup.ts'
import { freshDatabase } from '../support/database.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const { db, url } = await freshDatabase()

const marks = async () =>
  (await db.query<{ quota_id: number }>({ text: sql`select quota_id from quota_alert order by quota_id` })).map(
    ({ quota_id }) => quota_id,
  )

async function mark(shard: number, quotaId: number, endsAt: number | null): Promise<void> {
  await db.query({
    text: sql`insert into quota_alert (shard, quota_id, percent, at, ends_at) values ($1, $2, 80, $3, coalesce($4, 'infinity'::timestamptz))`,
    values: [
      shard,
      quotaId,
      new Date(NOW - HOUR_MS).toISOString(),
      endsAt === null ? null : new Date(endsAt).toISOString(),
    ],
  })
}

test('marks of ended windows are removed in pages; the others stay', async () => {
  for (let n = 1; n <= 5; n++) await mark(1, 64 * n + 1, NOW - 60_000 * n)
  await mark(1, 64 * 6 + 1, NOW + 1)
  await mark(2, 64 * 7 + 2, null)
  await mark(2, 64 * 8 + 2, NOW - HOUR_MS)
  const cleaner = createAlertCleaner({ db, now: () => NOW, pageSize: 3 })
  expect(await cleaner.removeOnce(NOW)).toEqual({ removed: 4, isBehind: true })
  expect(await cleaner.removeOnce(NOW)).toEqual({ removed: 2, isBehind: false })
  expect(await marks()).toEqual([64 * 6 + 1, 64 * 7 + 2])
})

test('a mark that a batch is writing over is left alone', async () => {
  await mark(3, 64 * 9 + 3, NOW - HOUR_MS)
  const other = openDatabase({ url })
  whenDone(() => other.close())
  const cleaner = createAlertCleaner({ db, now: () => NOW })
  await other.transaction(async tx => {
    await tx.query({
      text: sql`update quota_alert set ends_at = $1 where quota_id = $2`,
      values: [new Date(NOW + HOUR_MS).toISOString(), 64 * 9 + 3],
    })
    expect(await cleaner.removeOnce(NOW)).toEqual({ removed: 0, isBehind: false })
  })
  expect(await cleaner.removeOnce(NOW)).toEqual({ removed: 0, isBehind: false })
  expect(await marks()).toContain(64 * 9 + 3)
})

test('a shard that fails does not hold up the others', async () => {
  await mark(4, 64 * 10 + 4, NOW - HOUR_MS)
  await mark(5, 64 * 11 + 5, NOW - HOUR_MS)
  const failing: typeof db = {
    ...db,
    transaction: (work, mode) =>
      db.transaction(
        tx =>
          work({
            isCluster: false,
            query(statement) {
              if (statement.values?.[0] === 4) throw new Error('a poisonous shard')
              return tx.query(statement)
            },
          }),
        mode,
      ),
  }
  await expect(createAlertCleaner({ db: failing, now: () => NOW }).removeOnce(NOW)).rejects.toThrow(/1 failed/)
  const left = await marks()
  expect(left).toContain(64 * 10 + 4)
  expect(left).not.toContain(64 * 11 + 5)
})
