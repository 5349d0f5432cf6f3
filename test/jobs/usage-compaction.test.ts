import { beforeEach, describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import type { UsageSums } from '../../src/db/usage/columns.ts'
import { compactTotals, compactUsers } from '../../src/db/usage/compaction.ts'
import { sumSenders, sumTotals } from '../../src/db/usage/of-all.ts'
import { pastUsage, sumUsage } from '../../src/db/usage/sums.ts'
import { type Shard, shardOf } from '../../src/domain/basics/shard.ts'
import type { Period } from '../../src/domain/time/period.ts'
import { plainCalendar } from '../../src/domain/time/period.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import { lastBoundary, nextBoundary } from '../../src/domain/time/window.ts'
import type { UserUsageGroup } from '../../src/domain/units/usage.ts'
import { createUsageCompaction } from '../../src/jobs/usage-compaction.ts'
import { freshDatabase, impatientDatabase } from '../support/database.ts'
import { openTransaction, someone } from '../support/engine.ts'
import { seededRandom } from '../support/ledger.ts'
import { rawSql } from '../support/sql.ts'

const QUARTER_MS = 900_000
const ZONE = 'Europe/Berlin'
const NOW = Date.parse('2026-11-20T10:00:00Z')
const { db, url } = await freshDatabase()
await db.query({ text: sql`insert into principal (subject) values ('campaigns'), ('gateway')` })
const errors: unknown[] = []
const log = { info() {}, warn() {}, error: (fields: object) => errors.push(fields) }

/** The shards of the users. The others are done, but in one test: to walk through all 64 takes two seconds. */
const SHARDS = [3, 4]

beforeEach(async () => {
  errors.length = 0
  await db.query({
    text: sql`truncate usage, usage_day, usage_month, usage_total, usage_busy, usage_busy_range, usage_period, usage_pending`,
  })
  await db.query({
    text: sql`update usage_upkeep set next_user = null,
      until = case when shard = any ($1) then '-infinity'::timestamptz else '2100-01-01' end`,
    values: [SHARDS],
  })
})

/** `count` users of the first shard, ascending. */
const neighbours = (count: number) => Array.from({ length: count }, () => someone(SHARDS[0]))

interface Row {
  user: number
  at: EpochMs
  quota: number | null
  country: string | null
  committed: number
  refunded: number
  denied: number
}

const ROWS = `unnest($1::smallint[], $2::bigint[], $3::timestamptz[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[],
  $8::bigint[]) r (shard, user_id, bucket, quota_id, country, committed, refunded, denied)`
const COUNTS = `sum(committed), count(*), sum(refunded), 0, sum(denied), count(*) filter (where denied > 0),
  nullif(sum(denied), 0), nullif(count(*) filter (where denied > 0), 0)`

/** Writes usage as the rollup does, into rows of users and totals. Each grant has a sender, and unfunded units have none. */
async function write(rows: readonly Row[]): Promise<void> {
  const values = [
    rows.map(({ user }) => shardOf(user)),
    rows.map(({ user }) => user),
    rows.map(({ at }) => new Date(at - (at % QUARTER_MS)).toISOString()),
    rows.map(({ quota }) => quota),
    rows.map(({ country }) => country),
    rows.map(({ committed }) => committed),
    rows.map(({ refunded }) => refunded),
    rows.map(({ denied }) => denied),
  ]
  await db.query({
    text: rawSql`insert into usage
      select shard, user_id, bucket, quota_id, country, null, ${COUNTS}, null, null, null, null, nullif(count(*) % 3, 0) from ${ROWS}
      group by 1, 2, 3, 4, 5`,
    values,
  })
  await db.query({
    text: rawSql`insert into usage_total
      select 0, dimension, bucket, case dimension when 1 then country when 3 then sender end, ${COUNTS}, null, null, null, null,
        coalesce(sum(committed) filter (where quota_id is null), 0), 0
      from ${ROWS}, generate_series(0, 3) dimension, text(1 + quota_id / 128) sender
      where dimension < 3 or sender is not null group by 2, 3, 4
      on conflict (span, dimension, bucket, key) do update
      set committed = usage_total.committed + excluded.committed, refunded = usage_total.refunded + excluded.refunded`,
    values,
  })
}

const compaction = () => createUsageCompaction({ db, log, now: () => NOW, timeZone: ZONE })

/** Compacts all there is, and returns how many rows were moved. */
async function compactAll(now = NOW, job = compaction()): Promise<number> {
  let rows = 0
  for (let step = 0; step < 1_000; step++) {
    const done = await job.compactOnce(now)
    rows += done.rows
    if (!done.isBehind) return rows
  }
  throw new Error('the compaction does not end')
}

const starts = (period: Period, from: EpochMs, to: EpochMs) => {
  const all: EpochMs[] = []
  for (
    let at = lastBoundary(plainCalendar(period, ZONE), from);
    at < to;
    at = nextBoundary(plainCalendar(period, ZONE), at)
  )
    all.push(at)
  return all
}

const byDay = { starts: starts('day', NOW - 430 * DAY_MS, NOW), to: NOW }
const recentDays = { starts: starts('day', NOW - 390 * DAY_MS, NOW), to: NOW }
const byMonth = { starts: starts('month', NOW - 900 * DAY_MS, NOW), to: NOW }

async function countsOf(table: string): Promise<number> {
  const [row] = await db.query<{ count: number }>({ text: rawSql`select count(*) as count from ${table}` })
  return row?.count ?? Number.NaN
}

/** All that reports show of users: by day, where days are kept, and by month. */
async function reportsOf(users: readonly number[]) {
  const groups: (UserUsageGroup | undefined)[] = [undefined, 'quota', 'country']
  const reports = []
  for (const user of users) {
    for (const group of groups) {
      reports.push(
        await sumUsage(db, user, recentDays, group, 100_000),
        await sumUsage(db, user, byMonth, group, 100_000),
      )
    }
  }
  for (const group of [undefined, 'country'] as const) {
    reports.push(await sumTotals(db, recentDays, group, 100_000), await sumTotals(db, byMonth, group, 100_000))
  }
  reports.push(await sumSenders(db, recentDays, 100_000), await sumSenders(db, byMonth, 100_000))
  return reports
}

function randomRows(users: readonly number[], count: number, seed: number): Row[] {
  const random = seededRandom(seed)
  const pick = <T>(choices: readonly T[]) => choices[Math.floor(random() * choices.length)] as T
  return Array.from({ length: count }, () => ({
    user: pick(users),
    at: Math.floor(NOW - random() * pick([2, 40, 60, 450, 850]) * DAY_MS),
    quota: pick([null, 64, 128]),
    country: pick([null, 'DE', 'FR']),
    committed: Math.floor(random() * 100),
    refunded: Math.floor(random() * 5),
    denied: pick([0, 0, 7]),
  }))
}

describe('compaction', () => {
  test('moves old quarters of an hour into days and old days into months, and changes no report by day or month', async () => {
    await db.query({ text: sql`update usage_upkeep set until = '-infinity'` })
    const users = [...neighbours(3), someone()]
    await write(randomRows(users, 600, 1))
    const before = await reportsOf(users)
    expect(await compactAll()).toBeGreaterThan(300)
    expect(await reportsOf(users)).toEqual(before)
    const cutoffs = {
      usage: lastBoundary(plainCalendar('day', ZONE), NOW - 37 * DAY_MS),
      usage_day: lastBoundary(plainCalendar('month', ZONE), NOW - 402 * DAY_MS),
    }
    for (const [table, cutoff] of Object.entries(cutoffs)) {
      const [row] = await db.query<{ first: EpochMs; rows: number }>({
        text: rawSql`select min(bucket) as first, count(*) as rows from ${table}`,
      })
      expect(row?.rows).toBeGreaterThan(10)
      expect(row?.first).toBeGreaterThanOrEqual(cutoff)
    }
    expect(await countsOf('usage_month')).toBeGreaterThan(10)
    for (const table of ['usage_day', 'usage_month']) {
      const buckets = await db.query<{ bucket: EpochMs }>({ text: rawSql`select distinct bucket from ${table}` })
      const period = table === 'usage_day' ? 'day' : 'month'
      for (const { bucket } of buckets) expect(bucket).toBe(lastBoundary(plainCalendar(period, ZONE), bucket))
    }
    // All that there was to do is done, and costs nothing more.
    expect(await compactAll()).toBe(0)
  })

  test('by three processes, while reports are read, counts nothing twice and misses nothing', async () => {
    const users = [...neighbours(4), someone(SHARDS[1]), someone(SHARDS[1])]
    await write(randomRows(users, 800, 2))
    const before = await reportsOf(users.slice(0, 2))
    let isOver = false
    const read = async () => {
      let reads = 0
      for (; !isOver; reads++) expect(await reportsOf(users.slice(0, 2))).toEqual(before)
      return reads
    }
    const compact = async () => {
      const rows = await Promise.all([compactAll(), compactAll(), compactAll()])
      isOver = true
      return rows.reduce((sum, one) => sum + one, 0)
    }
    const [reads, rows] = await Promise.all([read(), compact()])
    expect(reads).toBeGreaterThan(0)
    expect(rows).toBeGreaterThan(400)
    expect(await reportsOf(users.slice(0, 2))).toEqual(before)
  })

  test('leaves rows that are older than the periods of a step, which another process just added, to the next step', async () => {
    const [user = 0] = neighbours(1)
    const row = { user, quota: 64, country: 'DE', refunded: 0, denied: 0 }
    await write([80, 50].map(days => ({ ...row, at: NOW - days * DAY_MS, committed: days })))
    // The oldest row was looked up before the other process added one.
    const step = {
      level: 'day' as const,
      before: lastBoundary(plainCalendar('day', ZONE), NOW - 40 * DAY_MS),
      starts: starts('day', NOW - 60 * DAY_MS, NOW - 41 * DAY_MS),
    }
    // One of each dimension of the totals.
    expect(await compactTotals(db, step, 100)).toBe(await countsOf('usage_total where span = 1'))
    expect(await compactUsers(db, shardOf(user), step, 100, new Set())).toMatchObject({ rows: 1 })
    expect(await db.query({ text: sql`select committed from usage` })).toEqual([{ committed: 80 }])
    await compactAll(NOW + DAY_MS)
    expect([await countsOf('usage'), await countsOf('usage_total where span = 0')]).toEqual([0, 0])
  })

  test('that has moved some totals and not others shows no sender with less than nothing', async () => {
    const [user = 0] = neighbours(1)
    const row = { user, quota: 64, country: 'DE', committed: 0, refunded: 0, denied: 0 }
    const midnight = lastBoundary(plainCalendar('day', ZONE), NOW - 50 * DAY_MS)
    const [first, second] = [midnight + 2 * HOUR_MS, midnight + 2 * HOUR_MS + QUARTER_MS]
    await write([
      { ...row, at: first, committed: 5 },
      { ...row, at: second, denied: 7 },
    ])
    const hours = { starts: [midnight, midnight + HOUR_MS, midnight + 3 * HOUR_MS], to: midnight + DAY_MS }
    const shown = async () =>
      (await sumSenders(db, hours, 100)).map(({ interval, key, committed, denied }) => [
        interval,
        key,
        committed,
        denied,
      ])
    expect(await shown()).toEqual([[1, 'campaigns', 5, 7]])
    // Of the first quarter what was sent in all, and of the second what the sender did.
    await db.query({
      text: sql`update usage_total set span = 1, bucket = $1
        where (dimension, bucket) in ((0, $2::timestamptz), (3, $3::timestamptz))`,
      values: [midnight, first, second].map(at => new Date(at).toISOString()),
    })
    expect(await shown()).toEqual([
      [0, 'campaigns', 0, 7],
      [0, null, 5, 0],
      [1, 'campaigns', 5, 0],
      [1, null, 0, 7],
    ])
    await compactAll()
    expect(await shown()).toEqual([[0, 'campaigns', 5, 7]])
  })

  test('goes on the next day, also with usage that arrived late', async () => {
    const [user = 0] = neighbours(1)
    const old = { user, quota: 64, country: 'DE', refunded: 0, denied: 0 }
    await write([{ ...old, at: NOW - 50 * DAY_MS, committed: 1 }])
    await compactAll()
    await write([{ ...old, at: NOW - 50 * DAY_MS, committed: 2 }])
    await compactAll(NOW + DAY_MS)
    expect(await countsOf('usage')).toBe(0)
    const rows = await db.query({ text: sql`select committed from usage_day` })
    expect(rows).toEqual([{ committed: 3 }])
  })

  test('does a user with more rows than a page, page by page', async () => {
    const [one = 0, busy = 0, other = 0] = neighbours(3).toSorted((a, b) => a - b)
    await db.query({
      text: sql`insert into usage select $1::smallint, $2::bigint, '2026-09-01'::timestamptz + n * interval '15 min', n % 7, null, null, n, 1, 0, 0, 0, 0
        from generate_series(0, 2999) n`,
      values: [shardOf(busy), busy],
    })
    await write(
      [one, other].map(user => ({
        user,
        at: NOW - 60 * DAY_MS,
        quota: 1,
        country: null,
        committed: 5,
        refunded: 0,
        denied: 0,
      })),
    )
    const before = await sumUsage(db, busy, byMonth, 'quota', 1_000)
    const job = compaction()
    const first = await job.compactOnce(NOW)
    expect(first).toMatchObject({ isBehind: true })
    // One page of the shard, and the totals of one day: in all, by country, by type and by sender.
    expect(first.rows).toBeLessThanOrEqual(2_004)
    expect(await sumUsage(db, busy, byMonth, 'quota', 1_000)).toEqual(before)
    await compactAll()
    expect(await sumUsage(db, busy, byMonth, 'quota', 1_000)).toEqual(before)
    expect(await countsOf('usage')).toBe(0)
  })

  test('leaves the usage of a user that cannot be added up, names it, and does all others', async () => {
    const [good = 0, bad = 0, last = 0] = neighbours(3).toSorted((a, b) => a - b)
    const at = NOW - 60 * DAY_MS
    const elsewhere = someone(SHARDS[1])
    await write(
      [good, bad, last, elsewhere].map(user => ({
        user,
        at,
        quota: 1,
        country: null,
        committed: 5,
        refunded: 0,
        denied: 0,
      })),
    )
    await db.query({
      text: sql`insert into usage_day values ($1, $2, $3, 1, null, null, 9223372036854775806, 0, 0, 0, 0, 0)`,
      values: [shardOf(bad), bad, new Date(lastBoundary(plainCalendar('day', ZONE), at)).toISOString()],
    })
    await compactAll()
    expect(errors).toMatchObject([{ shard: shardOf(bad), user_id: bad }])
    expect(await db.query({ text: sql`select user_id from usage` })).toEqual([{ user_id: bad }])
    expect(await countsOf('usage_day')).toBe(4)
  })

  test('of a shard that fails does not hold up the others', async () => {
    const users = SHARDS.map(someone)
    await write(
      users.map(user => ({
        user,
        at: NOW - 60 * DAY_MS,
        quota: 1,
        country: null,
        committed: 5,
        refunded: 0,
        denied: 0,
      })),
    )
    const held = await openTransaction(db, tx =>
      tx.query({
        text: sql`select from usage where shard = $1 and user_id = $2 for update`,
        values: [shardOf(users[0] ?? 0), users[0] ?? 0],
      }),
    )
    const hasty = createUsageCompaction({ db: impatientDatabase(url), log, now: () => NOW, timeZone: ZONE })
    await expect(hasty.compactOnce(NOW)).rejects.toThrow('lock timeout')
    expect(await db.query({ text: sql`select user_id from usage_day` })).toEqual([{ user_id: users[1] }])
    await held.commit()
    await compactAll()
    expect(await countsOf('usage_day')).toBe(2)
  })
})

describe('sums of busy users', () => {
  /** 50 rows in each quarter of an hour of the last days, with some that no grant paid for. */
  async function fill(user: number, days: number): Promise<void> {
    await db.query({
      text: sql`insert into usage select $1::smallint, $2::bigint, date_bin('15 min', $3::timestamptz - n * interval '15 min', 'epoch'),
          nullif(k, 0), 'C' || k, null, 20 + n % 50, 10, 1 + k % 2, 1, k % 3, k % 2, k % 2, nullif(k % 3, 0), null, null, null, null, nullif(k % 4, 0)
        from generate_series(0, $4::int - 1) n, generate_series(0, 9) k`,
      values: [shardOf(user), user, new Date(NOW).toISOString(), days * 96],
    })
  }
  const reports = async (user: number) => [
    await sumUsage(db, user, recentDays, undefined, 10_000),
    await sumUsage(db, user, byDay, 'user', 10_000),
    await sumUsage(
      db,
      user,
      { starts: [NOW - 3 * DAY_MS - QUARTER_MS, NOW - DAY_MS], to: NOW - QUARTER_MS },
      undefined,
      10,
    ),
    (await pastUsage(db, user, NOW)).days,
  ]

  test('change no report and no forecast, and are forgotten with the rows that they repeat', async () => {
    const [user = 0] = neighbours(1)
    const usual = someone(shardOf(user))
    await fill(user, 45)
    await write(randomRows([usual], 50, 3))
    const before = await reports(user)
    const usualBefore = await reports(usual)
    await compactAll()
    expect(await reports(user)).toEqual(before)
    expect(await reports(usual)).toEqual(usualBefore)
    // The finished days (UTC) that are not compacted, of one user.
    const sums = await db.query<{ user_id: number; rows: number }>({
      text: sql`select user_id, count(*) as rows from usage_busy group by 1`,
    })
    expect(sums).toEqual([{ user_id: user, rows: 37 * 96 }])
    // Two days later, nothing was sent since: the user is busy no more.
    await compactAll(NOW + 2 * DAY_MS)
    expect(await countsOf('usage_busy')).toBe(0)
    expect((await sumUsage(db, user, recentDays, undefined, 10_000)).length).toBe(before[0]?.length)
  })

  test('leave out a user whose rows cannot be added up, and do the others', async () => {
    const [bad = 0, good = 0] = neighbours(2).toSorted((a, b) => a - b)
    await fill(bad, 3)
    await fill(good, 3)
    await db.query({
      text: sql`insert into usage select $1::smallint, $2::bigint, '2026-11-18', null, k, null, 9223372036854775806, 0, 0, 0, 0, 0
        from unnest('{AA,BB}'::text[]) k`,
      values: [shardOf(bad), bad],
    })
    await compactAll()
    expect(errors).toMatchObject([{ shard: shardOf(bad), user_id: bad }])
    // The days before that one have sums.
    const later = await db.query({ text: sql`select user_id from usage_busy_range where until > '2026-11-18'` })
    expect(later).toEqual([{ user_id: good }])
  })

  test('of days that a clock which was ahead took for ended miss nothing that is sent on them', async () => {
    const [user = 0] = neighbours(1)
    await fill(user, 3)
    await compactAll(NOW + DAY_MS)
    const today = { starts: [NOW - (NOW % DAY_MS)], to: NOW + 2 * DAY_MS }
    const before = await sumUsage(db, user, today, undefined, 10)
    // The clock is right again, and the user goes on.
    await compactAll()
    await write([{ user, at: NOW + HOUR_MS, quota: 128, country: 'AT', committed: 7, refunded: 0, denied: 0 }])
    const [after] = await sumUsage(db, user, today, undefined, 10)
    expect(after?.committed).toBe((before[0]?.committed ?? 0) + 7)
    // These days get their sums once they have ended.
    await compactAll(NOW + DAY_MS)
    expect((await sumUsage(db, user, today, undefined, 10))[0]).toEqual(after)
  })

  test('wait until all usage of the day is rolled up', async () => {
    const [user = 0] = neighbours(1)
    await fill(user, 3)
    const before = await reports(user)
    await db.query({
      text: sql`insert into usage_pending values ($1, 1, '2026-11-18', array[$2::bigint], '{1}', '{null}', '{null}', '{0}', '{5}', '{1}')`,
      values: [shardOf(user), user],
    })
    await compactAll()
    expect(await countsOf('usage_busy')).toBe(0)
    await db.query({ text: sql`truncate usage_pending` })
    await compactAll()
    expect(await countsOf('usage_busy')).toBeGreaterThan(0)
    expect(await reports(user)).toEqual(before)
  })
})

test('a forecast stays as it is, also its first use', async () => {
  const [user = 0] = neighbours(1)
  await write(randomRows([user], 200, 4))
  const before = await pastUsage(db, user, NOW)
  await compactAll()
  const after = await pastUsage(db, user, NOW)
  expect(after.days).toEqual(before.days)
  // The beginning of the month of the first use.
  expect(after.first).toBe(lastBoundary(plainCalendar('month', ZONE), before.first ?? 0))
})

test('the sums of each quota survive exactly', async () => {
  const users = neighbours(3)
  await write(randomRows(users, 500, 5))
  const sums = async () =>
    db.query<UsageSums & { shard: Shard }>({
      text: sql`select user_id, quota_id, sum(committed - refunded)::bigint as net, sum(denied)::bigint as denied, sum(no_quota)::bigint as no_quota
        from (select user_id, quota_id, committed, refunded, denied, no_quota from usage
          union all select user_id, quota_id, committed, refunded, denied, no_quota from usage_day
          union all select user_id, quota_id, committed, refunded, denied, no_quota from usage_month) u
        group by 1, 2 order by 1, 2`,
    })
  const before = await sums()
  await compactAll()
  expect(await sums()).toEqual(before)
})
