import { describe, expect, test } from 'vitest'
import { blocksOf, genericPlanOf, nodesOf, type PlanNode, planOf, statementOf } from '../../bench/explain.ts'
import { loadQuotas } from '../../bench/load.ts'
import { samplesOf } from '../../bench/statements.ts'
import type { Queryable } from '../../src/db/database.ts'
import { listQuotas } from '../../src/db/quota-lists.ts'
import { findQuota, quotasOfUser } from '../../src/db/quotas.ts'
import { QUOTA_STATUSES, type Quota, roll, statusOf } from '../../src/domain/quota.ts'
import { freshDatabase } from '../support/database.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const LOADED = { quotas: 20_000, users: 2_000, now: NOW }
const NEWEST = { by: 'id', descending: true } as const
const FIRST = { skip: 0 }

const { db } = await freshDatabase()
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

/** The most pages of 8 KiB that an answer may read: 200 quotas of one user can lie on as many, and are read twice. */
const FEW = 450

describe('a statement that costs the same however many quotas there are', () => {
  test.each(samples.filter(({ grows }) => grows === undefined))('$name', async ({ run }) => {
    const plan = await planOf(db, await statementOf(db, run))
    expect(accessesOf(plan)).not.toEqual([])
    expect(accessesOf(plan)).not.toContain('Seq Scan')
    expect(blocksOf(plan)).toBeLessThan(FEW)
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
    const { quotas } = await listQuotas(db, filter, order, FIRST, LOADED.quotas, NOW)
    const expiring = quotas.filter(quota => quota.expires_at !== null)
    const blocks: number[] = []
    for (const share of [0.02, 0.98]) {
      const quota = expiring[Math.floor(expiring.length * share)]
      if (quota === undefined) throw new Error('nothing expires')
      const list = (on: Queryable) =>
        listQuotas(on, filter, order, { after: { value: quota.expires_at, id: quota.id } }, 20, NOW)
      const next = quotas.indexOf(quota) + 1
      expect(idsOf((await list(db)).quotas)).toEqual(idsOf(quotas.slice(next, next + 20)))
      blocks.push(blocksOf(await planOf(db, await statementOf(db, list))))
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
  ] as const)('%j finds its few quotas by an index of their own', async (filter, index) => {
    const statement = await statementOf(db, on => listQuotas(on, filter, NEWEST, FIRST, 20, NOW))
    const accesses = accessesOf(await planOf(db, statement))
    expect(accesses).toContain(index)
    expect(accesses).not.toContain('Seq Scan')
  })

  test('selects exactly the quotas that show the status', async () => {
    const { quotas, total } = await listQuotas(db, {}, NEWEST, FIRST, LOADED.quotas, NOW)
    expect(quotas).toHaveLength(total ?? 0)
    const shown = Map.groupBy(quotas, quota => statusOf(roll(quota, NOW).quota, NOW))
    for (const status of QUOTA_STATUSES.filter(status => status !== 'deleted')) {
      const expected = shown.get(status) ?? []
      const found = await listQuotas(db, { status }, NEWEST, FIRST, LOADED.quotas, NOW)
      expect(found.total, status).toBe(expected.length)
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
    text: `insert into quota
           select copy.* from quota q, generate_series(1, 2000) n,
             jsonb_populate_record(q, jsonb_build_object('id', (100000 + n) * 64 + q.shard, 'external_ref', null,
               'deleted_at', q.created_at)) copy
           where q.id = (select min(id) from quota where user_id = $1)`,
    values: [user],
  })
  expect(await blocks()).toBeLessThan(before + 20)
})
