/** The statements of usage find their rows by keys, with and without statistics, however much usage there is. */
import { disableAutovacuum } from '../../bench/fill.ts'
import { readQuarters } from '../../src/db/breaker/past.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { compactTotals, compactUsers, oldestUsage } from '../../src/db/usage/compaction.ts'
import { sumBusyUsers } from '../../src/db/usage/heavy-users.ts'
import { sumByKey, sumSenders, sumTotals } from '../../src/db/usage/of-all.ts'
import { rollUpUsage } from '../../src/db/usage/rollup.ts'
import { pastUsage, sumUsage, type UsageFilter } from '../../src/db/usage/sums.ts'
import { topUsers } from '../../src/db/usage/top-users.ts'
import { shardFrom, shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { type PlanCase, testPlans } from '../support/explain.ts'
import { rawSql } from '../support/sql.ts'

const { db } = await databaseOfOnePostgres()
await disableAutovacuum(db)
const NOW = Date.parse('2026-11-20T10:00:00Z')
const SHARD = shardFrom(5)
/** A user of the shard. */
const USER = Array.from({ length: 1_000 }, (_, user) => user).find(user => shardOf(user) === SHARD) ?? 0

// 60 days of 300 users of one shard, a row on each day, and 150 more of each day of all other shards.
for (const table of ['usage', 'usage_day', 'usage_month']) {
  const age = { usage: 0, usage_day: 60, usage_month: 500 }[table] ?? 0
  await db.query({
    text: rawSql`insert into ${table} select case when u < 300 then ${SHARD} else u % 64 end, case when u = 0 then ${USER} else u end,
        date_bin('15 min', $1::timestamptz - (d + $2) * interval '1 day', 'epoch'), 64, 'DE', null, 1, 1, 0, 0, 0, 0
      from generate_series(0, 59) d, generate_series(0, 449) u on conflict do nothing`,
    values: [new Date(NOW).toISOString(), age],
  })
}
// A few of them send to another country, too.
await db.query({
  text: sql`insert into usage select u % 64, u, date_bin('15 min', $1::timestamptz - interval '1 day', 'epoch'), 64, 'NG', 'otp', 1, 1, 0, 0, 0, 0
    from generate_series(301, 303) u`,
  values: [new Date(NOW).toISOString()],
})
await db.query({
  text: sql`insert into usage_total select 0, d, date_bin('15 min', $1::timestamptz - n * interval '15 min', 'epoch'), c,
      1, 1, 0, 0, 0, 0, null, null, null, null, null, null, 0, 0
    from generate_series(0, 9000) n, unnest('{1,3}'::int[]) d, generate_series(1, 5) c`,
  values: [new Date(NOW).toISOString()],
})
await db.query({
  text: sql`insert into usage_busy select u % 64, u, date_bin('15 min', $1::timestamptz - d * interval '1 day', 'epoch'), 1, 1, 0, 0, 0, 0,
      null, null, null, null, null, null, 0, 0, 1
    from generate_series(0, 59) d, generate_series(1000, 1449) u`,
  values: [new Date(NOW).toISOString()],
})
await db.query({
  text: sql`insert into usage_top select s, $1::timestamptz - d * interval '1 day', array_agg(u), array_agg(u), 3
    from generate_series(0, 63) s, generate_series(0, 99) d, generate_series(1, 20) u group by 1, 2`,
  values: ['2026-11-20T00:00:00Z'],
})
await db.query({
  text: rawSql`insert into usage_pending select ${SHARD}, n, '2026-11-20', array[n, n + 1], '{64,64}', '{DE,DE}', '{null,null}', '{0,0}', '{1,1}', '{1,1}'
    from generate_series(1, 20) n`,
})

const day = { level: 'day', before: NOW - 35 * DAY_MS, starts: [NOW - 100 * DAY_MS, NOW - 36 * DAY_MS] } as const
const month = { level: 'month', before: NOW - 90 * DAY_MS, starts: [NOW - 200 * DAY_MS] } as const
const intervals = { starts: [NOW - 2 * DAY_MS, NOW - DAY_MS], to: NOW }
/** A rare value of each filter, so that a plan shows whether an index has it. */
const FILTERS: { readonly [name in keyof Required<UsageFilter>]: Pick<UsageFilter, name> } = {
  country: { country: 'NG' },
  message_type: { message_type: 'otp' },
}
const JUDGED = { message_types: ['otp'], from: NOW - 29 * DAY_MS, to: NOW }
/** Each with the most rows that a statement may read. */
const WORK: [what: string, work: (db: Database) => Promise<unknown>, most: number][] = [
  ['a report of a user', on => sumUsage(on, USER, intervals, undefined, 10), 50],
  ['a report of a user by country', on => sumUsage(on, USER, intervals, 'country', 10), 50],
  ['a forecast', on => pastUsage(on, USER, NOW), 80],
  ['totals', on => sumTotals(on, intervals, 'country', 10), 1_000],
  ['totals by sender', on => sumSenders(on, intervals, 10), 1_000],
  ['the top users', on => topUsers(on, NOW - DAY_MS, NOW, 10), 64 * 20 * 2 + 50],
  ['all users by user', on => sumByKey(on, intervals, 'user', 10, 600), 601],
  ...Object.entries(FILTERS).flatMap(([name, filter]): typeof WORK => [
    [`a report of a user of one ${name}`, on => sumUsage(on, USER, intervals, undefined, 10, filter), 50],
    [`all users of one ${name}`, on => sumByKey(on, intervals, 'user', 10, 600, filter), 20],
    [`the top users of one ${name}`, on => topUsers(on, NOW - 2 * DAY_MS, NOW, 10, filter), 20],
  ]),
  ['the oldest usage', on => oldestUsage(on, 'day', NOW), 4],
  ['compaction by day', on => compactUsers(on, SHARD, day, 200, new Set()), 500],
  ['compaction by month', on => compactUsers(on, SHARD, month, 200, new Set()), 500],
  // Each total that it adds up, and again to remove it.
  ['compaction of totals', on => compactTotals(on, day, 200), 400],
  ['sums of busy users', on => sumBusyUsers(on, SHARD, NOW - 30 * DAY_MS, NOW - (NOW % DAY_MS), () => {}), 500],
  [
    'destinations that the breaker judges',
    on => on.transaction(tx => readQuarters(tx, { user_id: USER }, JUDGED), 'keyed snapshot'),
    40,
  ],
  ['the rollup', on => rollUpUsage(on, SHARD, ['otp']), 100],
]

testPlans(
  db,
  ['usage', 'usage_day', 'usage_month', 'usage_top', 'usage_total', 'usage_busy'],
  WORK.map(([what, work, rows]): PlanCase => [what, work, { rows }]),
)
