import { expect, test } from 'vitest'
import { blocksOf, plansOf, transactionOf } from '../../bench/explain.ts'
import { loadQuotas } from '../../bench/load.ts'
import { samplesOf } from '../../bench/statements.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { listQuotas } from '../../src/db/quotas/lists.ts'
import { findQuota, quotasOfUser } from '../../src/db/quotas/quotas.ts'
import { findShardsWithDeleted } from '../../src/db/reservations/retention.ts'
import { QUOTA_STATUSES, type Quota, roll, statusOf } from '../../src/domain/quotas/quota.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { type PlanCase, testPlans } from '../support/explain.ts'
import { listed } from '../support/quota-lists.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const LOADED = { quotas: 12_000, users: 1_200, now: NOW }
const NEWEST = { by: 'id', descending: true } as const
const FIRST = { skip: 0 }

const { db } = await databaseOfOnePostgres()
await loadQuotas(db, LOADED)
const samples = await samplesOf(db, LOADED)

const idsOf = (quotas: readonly Quota[]) => quotas.map(({ id }) => id)

async function blocksFor(run: (on: Database) => Promise<unknown>): Promise<number> {
  return (await plansOf(db, await transactionOf(db, run))).reduce((sum, plan) => sum + blocksOf(plan), 0)
}

/** The most pages of 8 KiB that an answer may read: 200 quotas of one user can lie on as many. */
const FEW = 450

const FILTERS = [
  [{ kind: 'cap' }, 'quota_list_caps'],
  [{ status: 'deleted' }, 'quota_list_deleted_by_id'],
  [{ status: 'expired' }, 'quota_list_by_expiry'],
  [{ status: 'suspended' }, 'quota_list_suspended'],
  [{ status: 'scheduled' }, 'quota_list_by_start'],
  [{ status: 'exhausted' }, 'quota_alert_exhausted'],
  [{ name: 'package 1199' }, 'quota_list_by_name'],
  [{ external_ref: 'contract-1199' }, 'quota_list_by_external_ref'],
] as const

testPlans(
  db,
  ['quota', 'quota_alert', 'quota_change'],
  [
    // Their costs are the same however many quotas there are.
    ...samples
      .filter(({ grows }) => grows === undefined)
      .map(({ name, run }): PlanCase => [name, run, { blocks: FEW }]),
    ['a quota by its id', on => findQuota(on, 64), { indexes: { 'find-quota': ['quota_pkey'] } }],
    [
      'a summary',
      on => quotasOfUser(on, 1, NOW),
      { indexes: { 'quotas-of-user': ['quota_unexpired_of_user', 'quota_unexpired_of_user'] } },
    ],
    [
      'the shards with quotas that were deleted',
      on => findShardsWithDeleted(on, () => ({ id: 0, deleted_at: Number.NEGATIVE_INFINITY }), NOW),
      { rows: 64, uses: 'quota_by_deletion' },
    ],
    ...FILTERS.map(
      ([filter, index]): PlanCase => [
        `the few quotas of all users with ${JSON.stringify(filter)}`,
        on => listQuotas(on, filter, NEWEST, FIRST, 20, NOW),
        { uses: index },
      ],
    ),
  ],
)

test.each([
  [{}, false],
  [{}, true],
  [{ status: 'expired' }, true],
  [{ status: 'expired' }, false],
  [{ status: 'active' }, false],
  [{ status: 'active' }, true],
] as const)('any page by cursor: %j by expiry, descending: %s', async (filter, descending) => {
  const order = { by: 'expires_at', descending } as const
  const { items: quotas } = await listed(db, { filter, order, size: LOADED.quotas }, NOW)
  const expiring = quotas.filter(quota => quota.expires_at !== null)
  const blocks: number[] = []
  for (const share of [0.02, 0.98]) {
    const quota = expiring[Math.floor(expiring.length * share)]
    if (quota === undefined) throw new Error('nothing expires')
    const start = { after: { value: quota.expires_at, id: quota.id } }
    const next = quotas.indexOf(quota) + 1
    expect(idsOf((await listed(db, { filter, order, start }, NOW)).items)).toEqual(idsOf(quotas.slice(next, next + 20)))
    blocks.push(await blocksFor(on => listQuotas(on, filter, order, start, 20, NOW)))
  }
  expect(Math.max(...blocks)).toBeLessThan(Math.min(...blocks) + 15)
})

test('a filter selects exactly the quotas that show the status', async () => {
  const { items: quotas, total } = await listed(db, { size: LOADED.quotas }, NOW)
  expect(total).toEqual({ exactly: quotas.length })
  const shown = Map.groupBy(quotas, quota => statusOf(roll(quota, NOW).quota, NOW))
  for (const status of QUOTA_STATUSES.filter(status => status !== 'deleted')) {
    const expected = shown.get(status) ?? []
    const bounds = { scanned: LOADED.quotas, counted: LOADED.quotas, sorted: LOADED.quotas }
    const found = await listed(db, { filter: { status }, size: LOADED.quotas, bounds }, NOW)
    expect(found.total, status).toEqual({ exactly: expected.length })
    expect(expected.length, status).toBeGreaterThan(100)
    expect(idsOf(found.items)).toEqual(idsOf(expected))
  }
})

test("a user's deleted quotas stay, and cost the user's other quotas nothing", async () => {
  const user = 2
  const blocks = () => blocksFor(on => quotasOfUser(on, user, NOW))
  const before = await blocks()
  await db.query({
    text: sql`insert into quota
           select copy.* from quota q, generate_series(1, 2000) n,
             jsonb_populate_record(q, jsonb_build_object('id', (100000 + n) * 64 + q.shard, 'external_ref', null,
               'deleted_at', q.created_at)) copy
           where q.id = (select min(id) from quota where user_id = $1)`,
    values: [user],
  })
  expect(await blocks()).toBeLessThan(before + 20)
})
