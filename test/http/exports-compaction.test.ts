/** Exports of usage, while compaction moves it. */
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, type EpochMs } from '../../src/domain/time/time.ts'
import { usagePages } from '../../src/http/exports/pages.ts'
import { exportOf } from '../../src/http/users/export.ts'
import { createUsageCompaction } from '../../src/jobs/usage-compaction.ts'
import { freshDatabase } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')
const { db } = await freshDatabase()
const log = { info() {}, warn() {}, error: (fields: object) => expect.fail(JSON.stringify(fields)) }
/** Users of several shards, and two of one. */
const USERS = [1, 2, 7, 101]
const DAYS = 45
/** A row for each hour, back from now. */
const ROWS = DAYS * 24

/** Begins anew, with usage of these users. */
async function fill(users: readonly number[]): Promise<void> {
  await db.query({ text: sql`truncate usage, usage_day, usage_month, usage_period` })
  await db.query({ text: sql`update usage_upkeep set next_user = null, until = '-infinity'` })
  for (const user of users) {
    await db.query({
      text: sql`insert into usage select $1::smallint, $2::bigint, date_bin('15 min', $3::timestamptz - n * interval '1 hour', 'epoch'),
          64, 'AT', null, 1, 1, 0, 0, 0, 0, 0, 0 from generate_series(0, $4::int - 1) n`,
      values: [shardOf(user), user, new Date(NOW).toISOString(), ROWS],
    })
  }
}

/** Compacts all there is by then, as another process would. */
async function compact(now: EpochMs): Promise<void> {
  const compaction = createUsageCompaction({ db, log, now: () => now, timeZone: 'Europe/Berlin' })
  while ((await compaction.compactOnce(now)).isBehind);
}

/** Reads pages, and compacts before the page of that number; a day later for the next one. */
async function units<Page>(pages: AsyncIterable<Page>, unitsOf: (page: Page) => number, compactsAt: number) {
  let sum = 0
  let number = 0
  for await (const page of pages) {
    sum += unitsOf(page)
    number += 1
    if (number === compactsAt) await compact(NOW)
    if (number === compactsAt + 1) await compact(NOW + DAY_MS)
  }
  return sum
}

const sumOf = (records: readonly { committed: { units: number } }[]) =>
  records.reduce((sum, { committed }) => sum + committed.units, 0)

test.each([1, 2, 5])('of one user it counts each unit once, compacted after page %i', async page => {
  await fill([7, 101])
  const ofPage = (records: object[]) =>
    sumOf(JSON.parse(JSON.stringify(records)).filter(({ record }: { record: string }) => record.startsWith('usage')))
  expect(await units(exportOf(db, 7, NOW), ofPage, page)).toBe(ROWS)
})

test.each([1, 3, 10])('of all users it counts each unit once, compacted after page %i', async page => {
  await fill(USERS)
  expect(await units(usagePages(db, {}, NOW), sumOf, page)).toBe(USERS.length * ROWS)
})

test('of all users it has each once, if there are more than a page of them in a shard', async () => {
  await fill([])
  for (const [table, from, to] of [
    ['usage', 1, 700],
    ['usage_day', 600, 1_300],
    ['usage_month', 1_290, 1_400],
  ] as const) {
    await db.query({
      text: rawSql`insert into ${table} select 9, n, '2026-11-01', 64, 'AT', null, 1, 1, 0, 0, 0, 0, 0, 0 from generate_series($1::int, $2::int) n`,
      values: [from, to],
    })
  }
  const users = new Set<number>()
  let rows = 0
  for await (const page of usagePages(db, {}, NOW)) {
    for (const { user_id } of page) users.add(user_id)
    rows += page.length
  }
  expect([users.size, rows]).toEqual([1_400, 700 + 701 + 111])
})
