/** Searches, the directory, erasures and retention cost what they find, however much there is, without statistics too. */
import { requestErasure } from '../../src/admin/users/erase-user.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { listTransfers } from '../../src/db/quotas/transfers.ts'
import { findDeletedQuotas, removeDeletedQuota, removeWindows } from '../../src/db/reservations/retention.ts'
import { pastUsageOf, recentUsage } from '../../src/db/usage/export.ts'
import { listErasures } from '../../src/db/users/erasure.ts'
import {
  eraseEvents,
  eraseQuota,
  eraseReceived,
  eraseReservations,
  eraseRows,
  eraseTopUsers,
} from '../../src/db/users/erasure-pages.ts'
import { search } from '../../src/db/users/search.ts'
import { denialsOfExport, eventsOfExport, quotasOfExport } from '../../src/db/users/user-data.ts'
import { findUser, listUsers } from '../../src/db/users/users.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { type PlanCase, testPlans } from '../support/explain.ts'
import { rawSql } from '../support/sql.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const USERS = 1_500
const OF_USER = 5

/** Few users have most: statements about them must not read it all, and those about others none of it. */
const BUSY = 1

const { db } = await databaseOfOnePostgres()
await db.query({
  text: sql`insert into account select shard, user_id, 1
         from unnest($1::smallint[], $2::bigint[]) u (shard, user_id)`,
  values: [Array.from({ length: USERS }, (_, user) => shardOf(user)), Array.from({ length: USERS }, (_, user) => user)],
})
/** Rows for each user, more for the busy one. The number of a row is `n`, from 1. */
const ROWS = `(select shard, user_id, n, user_id * 100000 + n as key, $1::timestamptz - n * interval '1 hour' as at
  from account, generate_series(1, case user_id when ${BUSY} then 3000 else ${OF_USER} end) n) r`
const at = [new Date(NOW).toISOString()]
await db.query({
  text: rawSql`insert into quota (shard, id, user_id, kind, name, "limit", time_zone, rollover_limit, overage_limit, priority, starts_at,
           alert_at, enabled, external_ref, metadata, window_start, created_at, created_by, updated_at, updated_by, deleted_at)
         select shard, key * 64 + shard, user_id, 'grant',
           case when n % 3 > 0 then 'Plan ' || n end, 5, 'UTC', 0, 0, 1, at, '{}', true,
           case when n % 3 > 0 then 'ref-' || n end, '{}', at, at, 'a', at, 'a', case when n % 2 = 0 then at end
         from ${ROWS}`,
  values: at,
})
await db.query({
  text: rawSql`insert into reservation
         select shard, user_id, 'm' || n, 0, 'consume', 1, null, null, false, false, 1, 1, 0, 0, 'release', false,
           array[key * 64 + shard, 0, 0, 1, 0, 1], at, at, at, null
         from ${ROWS}`,
  values: at,
})
await db.query({
  text: rawSql`insert into transfer (shard, id, user_id, quota_id, window_no, window_start, to_user_id, to_quota_id, units, at, actor, request_id)
         select shard, key * 64 + shard, user_id, key * 64 + shard, 0, at, user_id + 1, key, 1, at, 'a', 'r' from ${ROWS}`,
  values: at,
})
await db.query({
  text: rawSql`insert into usage select shard, user_id, at, null, null, null, 1, 1, 0, 0, 0, 0 from ${ROWS}`,
  values: at,
})
for (const table of ['usage_day', 'usage_month'])
  await db.query({
    text: rawSql`insert into ${table} select shard, user_id, at, null, null, null, 1, 1, 0, 0, 0, 0 from ${ROWS}`,
    values: at,
  })
await db.query({
  text: rawSql`insert into usage_busy select shard, user_id, at, 1, 1, 0, 0, 0, 0, null, null, null, null, null, null, 0, 0, 1 from ${ROWS}`,
  values: at,
})
await db.query({
  text: sql`insert into usage_busy_range select shard, user_id, $1, $1 from account`,
  values: at,
})
// A year of lists.
await db.query({
  text: sql`insert into usage_top select shard, $1::timestamptz - day * interval '1 day', users, users, 0
         from (select shard, (array_agg(user_id order by user_id))[:128] as users from account group by shard) listed,
           generate_series(1, 365) day`,
  values: at,
})
await db.query({
  text: rawSql`insert into denial select shard, user_id, at, n, 'm' || n, 'reserve', 1, null, null, false, 'no_quota', 0, null, null, '[]', 0
         from ${ROWS}`,
  values: at,
})
await db.query({ text: sql`insert into event_sequence select shard, user_id, 1 from account` })
await db.query({
  text: rawSql`insert into event select shard, row_number() over (partition by shard order by user_id, n), user_id, n, 'quota.updated', at, '{}'
         from ${ROWS}`,
  values: at,
})
await db.query({
  text: rawSql`insert into quota_window select shard, key * 64 + shard, 1, at, at, 5, 0, 0, 0, 0, 0 from ${ROWS}`,
  values: at,
})
await db.query({ text: rawSql`insert into archive select shard, key * 64 + shard, 1, 0 from ${ROWS}`, values: at })
await db.query({
  text: rawSql`insert into quota_change select shard, key * 64 + shard, 1, 'created', at, 'a', 'r', null, '{}' from ${ROWS}`,
  values: at,
})
await db.query({
  text: rawSql`insert into idempotency select user_id % 64, 'a', n || ' ' || user_id, '{}', at, jsonb_build_object('user_id', user_id)
         from ${ROWS}`,
  values: at,
})
await db.query({
  text: rawSql`insert into quota_alert select shard, key * 64 + shard, 80, at, 'infinity' from ${ROWS}`,
  values: at,
})

await db.query({ text: sql`update shard_head set grants = 100000, deleted_grants = 100000` })

const TABLES = [
  'quota',
  'reservation',
  'usage',
  'usage_day',
  'usage_month',
  'usage_busy',
  'usage_busy_range',
  'usage_top',
  'denial',
  'event_sequence',
  'quota_alert',
  'event',
  'quota_window',
  'archive',
  'quota_change',
  'idempotency',
  'account',
  'transfer',
]
const author = { now: NOW, actor: 'ada', requestId: 'test' }
const erasure = (user_id: number) => ({ user_id, requested_at: NOW })
/** Runs a page of an erasure that was requested before. */
const erasing = (user: number, page: (on: Database) => Promise<unknown>) => async (on: Database) => {
  await requestErasure(on, user, true, author)
  await page(on)
}

const searching = (what: string, text: string): PlanCase => [
  what,
  on => search(on, text, 21, NOW),
  {
    blocks: 1_600,
    indexes: {
      'search-quotas-by-name': ['quota_list_by_name'],
      'search-quotas-by-external_ref': ['quota_list_by_external_ref'],
    },
  },
]

const CASES: [string, (on: Database) => Promise<unknown>][] = [
  ['a page of transfers of all', on => listTransfers(on, {}, { size: 20, now: NOW })],
  [
    'a page of transfers of a user',
    on => listTransfers(on, { user_id: BUSY }, { after: 9_000_000, size: 20, now: NOW }),
  ],
  ['transfers to a user who is erased', erasing(77, on => eraseReceived(on, erasure(77), 500))],
  ['a page of users', on => listUsers(on, {}, { after: 700, size: 20, now: NOW })],
  ['a user', on => findUser(on, 77, NOW)],
  ['an export of quotas', on => quotasOfExport(on, { user_id: BUSY, state: 'deleted' }, { size: 200, now: NOW })],
  ['an export of recent usage', on => recentUsage(on, shardOf(BUSY), { user_id: BUSY, bucket: 0 }, BUSY, 0, 200)],
  ['an export of old usage', on => pastUsageOf(on, shardOf(77), [77], NOW)],
  [
    'an export of denials',
    on =>
      denialsOfExport(on, { user_id: BUSY }, { after: { at: NOW - 2_000 * HOUR_MS, number: 7 }, size: 200, now: NOW }),
  ],
  ['an export of events', on => eventsOfExport(on, { user_id: BUSY }, { after: 7, size: 200, now: NOW })],
  ['a request to erase a user', on => requestErasure(on, 77, false, author)],
  ['a page of erasures that are under way', erasing(77, on => listErasures(on, 12, 20))],
  [
    'a page of reservations to erase',
    erasing(77, on => eraseReservations(on, erasure(77), Number.NEGATIVE_INFINITY, 500)),
  ],
  ['a quota to erase', erasing(77, on => eraseQuota(on, erasure(77), 500))],
  ['a page of events to erase', erasing(77, on => eraseEvents(on, erasure(77), 500))],
  ['a page of usage and denials to erase', erasing(77, on => eraseRows(on, erasure(77), 500))],
  ['a page of lists of top users to erase', erasing(77, on => eraseTopUsers(on, erasure(77), 50))],
  ['a page of windows to remove', on => removeWindows(on, shardOf(77), 0, NOW - 2 * DAY_MS, 20)],
  ['a deleted quota to remove', on => removeDeletedQuota(on, shardOf(77), (77 * 100_000 + 2) * 64 + shardOf(77), 500)],
]

testPlans(db, TABLES, [
  searching('a search for a number', '12'),
  searching('a search for a name that most quotas begin with', 'plan'),
  searching('a search for a reference that most quotas begin with', 'ref-'),
  searching('a search for what stands for no name', '\u{10FFFF}'),
  searching('a search for an id that all users have', 'm1'),
  [
    'a page of deleted quotas',
    on => findDeletedQuotas(on, shardOf(77), { id: 0, deleted_at: 0 }, NOW, 20),
    { blocks: 1_600, uses: 'quota_by_deletion' },
  ],
  ...CASES.map(([what, work]): PlanCase => [what, work, { blocks: 1_600 }]),
])
