import { describe, expect, test } from 'vitest'
import {
  blocksOf,
  genericPlanOf,
  nodesOf,
  type PlanNode,
  planOf,
  plansOf,
  statementOf,
  transactionOf,
} from '../../bench/explain.ts'
import { loadQuotas } from '../../bench/load.ts'
import { samplesOf } from '../../bench/statements.ts'
import type { Database, Queryable } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { listQuotas } from '../../src/db/quotas/lists.ts'
import { findQuota, quotasOfUser } from '../../src/db/quotas/quotas.ts'
import { QUOTA_STATUSES, type Quota, roll, statusOf } from '../../src/domain/quota.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { listed } from '../support/quota-lists.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const LOADED = { quotas: 12_000, users: 1_200, now: NOW }
const NEWEST = { by: 'id', descending: true } as const
const FIRST = { skip: 0 }

const { db } = await databaseOfOnePostgres()
await loadQuotas(db, LOADED)
const samples = await samplesOf(db, LOADED)

/** The scans of `quota` in a plan: indexes by name, and `Seq Scan` if it reads the whole table. */
function accessesOf(plan: PlanNode): string[] {
  return nodesOf(plan).flatMap(node => {
    if (node['Index Name'] !== undefined) return [node['Index Name']]
    return node['Relation Name'] === 'quota' && node['Node Type'] === 'Seq Scan' ? ['Seq Scan'] : []
  })
}

const idsOf = (quotas: readonly Quota[]) => quotas.map(({ id }) => id)

/** The most pages of 8 KiB that an answer may read: 200 quotas of one user can lie on as many. */
const FEW = 450

describe('a statement that costs the same however many quotas there are', () => {
  test.each(samples.filter(({ grows }) => grows === undefined))('$name', async ({ run }) => {
    const plans = await plansOf(db, await transactionOf(db, run))
    const accesses = plans.flatMap(accessesOf)
    expect(accesses).not.toEqual([])
    expect(accesses).not.toContain('Seq Scan')
    expect(plans.reduce((sum, plan) => sum + blocksOf(plan), 0)).toBeLessThan(FEW)
  })

  test.each([
    [{}, false],
    [{}, true],
    [{ status: 'expired' }, true],
    [{ status: 'expired' }, false],
    [{ status: 'active' }, false],
    [{ status: 'active' }, true],
  ] as const)('any page by cursor: %j by expiry, descending: %s', async (filter, descending) => {
    const order = { by: 'expires_at', descending } as const
    const { quotas } = await listed(db, { filter, order, size: LOADED.quotas }, NOW)
    const expiring = quotas.filter(quota => quota.expires_at !== null)
    const blocks: number[] = []
    for (const share of [0.02, 0.98]) {
      const quota = expiring[Math.floor(expiring.length * share)]
      if (quota === undefined) throw new Error('nothing expires')
      const start = { after: { value: quota.expires_at, id: quota.id } }
      const next = quotas.indexOf(quota) + 1
      expect(idsOf((await listed(db, { filter, order, start }, NOW)).quotas)).toEqual(
        idsOf(quotas.slice(next, next + 20)),
      )
      const list = (on: Database) => listQuotas(on, filter, order, start, 20, NOW)
      const plans = await plansOf(db, await transactionOf(db, list))
      blocks.push(plans.reduce((sum, plan) => sum + blocksOf(plan), 0))
    }
    expect(Math.max(...blocks)).toBeLessThan(Math.min(...blocks) + 15)
  })

  test.each<[string, (on: Queryable) => Promise<unknown>, string[]]>([
    ['a quota by its id', on => findQuota(on, 64), ['quota_pkey']],
    ['a summary', on => quotasOfUser(on, 1, NOW), ['quota_unexpired_of_user', 'quota_unexpired_of_user']],
  ])('%s, planned once for all', async (_, run, indexes) => {
    const statement = await statementOf(db, run)
    expect(statement.name).toBeDefined()
    expect(accessesOf(await genericPlanOf(db, statement))).toEqual(indexes)
  })
})

describe('a filter over all users', () => {
  test.each([
    [{ kind: 'cap' }, 'quota_list_caps'],
    [{ status: 'deleted' }, 'quota_list_deleted_by_id'],
    [{ status: 'expired' }, 'quota_list_by_expiry'],
    [{ status: 'suspended' }, 'quota_list_suspended'],
    [{ status: 'scheduled' }, 'quota_list_by_start'],
    [{ status: 'exhausted' }, 'quota_alert_exhausted'],
    [{ name: 'package 1199' }, 'quota_list_by_name'],
    [{ external_ref: 'contract-1199' }, 'quota_list_by_external_ref'],
  ] as const)('%j finds its few quotas by an index of their own', async (filter, index) => {
    const statements = await transactionOf(db, on => listQuotas(on, filter, NEWEST, FIRST, 20, NOW))
    const accesses = (await plansOf(db, statements)).flatMap(accessesOf)
    expect(accesses).toContain(index)
    expect(accesses).not.toContain('Seq Scan')
  })

  test('selects exactly the quotas that show the status', async () => {
    const { quotas, total } = await listed(db, { size: LOADED.quotas }, NOW)
    expect(total).toEqual({ exactly: quotas.length })
    const shown = Map.groupBy(quotas, quota => statusOf(roll(quota, NOW).quota, NOW))
    for (const status of QUOTA_STATUSES.filter(status => status !== 'deleted')) {
      const expected = shown.get(status) ?? []
      const bounds = { scanned: LOADED.quotas, counted: LOADED.quotas, sorted: LOADED.quotas }
      const found = await listed(db, { filter: { status }, size: LOADED.quotas, bounds }, NOW)
      expect(found.total, status).toEqual({ exactly: expected.length })
      expect(expected.length, status).toBeGreaterThan(100)
      expect(idsOf(found.quotas)).toEqual(idsOf(expected))
    }
  })
})

test("a user's deleted quotas stay, and cost the user's other quotas nothing", async () => {
  const user = 2
  const blocks = async () => blocksOf(await planOf(db, await statementOf(db, on => quotasOfUser(on, user, NOW))))
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
