/** Pages of customers are read in the order of an index, for each order and filter, and figures are made by keys. */
import { beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, nodesOf, plansOf, transactionOf } from '../../bench/explain.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { renewFigures } from '../../src/db/users/customer-figures.ts'
import {
  type CustomerFilter,
  type CustomerKey,
  type CustomerOrder,
  countAtRisk,
  listCustomers,
  searchCustomers,
} from '../../src/db/users/customers.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const USERS = 40_000
const { db } = await databaseOfOnePostgres()

const ids = Array.from({ length: USERS }, (_, user) => user)
await db.query({
  text: sql`insert into account (shard, user_id, plan_id) select shard, user_id, case when user_id % 2 = 0 then 1 when user_id % 301 = 0 then 2 end
         from unnest($1::smallint[], $2::bigint[]) u (shard, user_id)`,
  values: [ids.map(shardOf), ids],
})
// One in a hundred is at risk. A tenth has sent the same, and most were never denied.
await db.query({
  text: rawSql`insert into customer_figures (shard, user_id, computed_at, due_at, sequence, profile_version, name_key, state, urgency, used_share,
           daily, sent, sent_before, denied, denied_share, unmet, growth, last_message_at)
         select shard, user_id, $1, $1::timestamptz + interval '1 day', 0, 0, 'name ' || user_id % 1000,
           case when user_id % 100 = 0 then 'blocked' else 'ok' end, case when user_id % 100 = 0 then 4000000000 + user_id else 0 end,
           user_id % 1000 * 1000, array_fill(1, array[30]), case when user_id % 10 = 0 then 5 else user_id end, 1, 0, 0,
           user_id % 7, user_id % 300, $1::timestamptz - user_id * interval '1 minute'
         from account`,
  values: [new Date(NOW).toISOString()],
})

const FEW = 400
/** Of each customer that is passed over, a page of its row, and of the index of plans. */
const SCAN = 25_000

async function blocksFor(run: (on: Database) => Promise<unknown>): Promise<number> {
  const plans = await plansOf(db, await transactionOf(db, run))
  expect(plans.length).toBeGreaterThan(0)
  const scanned = plans.flatMap(nodesOf).filter(node => node['Node Type'] === 'Seq Scan')
  expect(scanned.map(node => node['Relation Name'])).toEqual([])
  return plans.reduce((sum, plan) => sum + blocksOf(plan), 0)
}

const down = (by: CustomerOrder['by']): CustomerOrder => ({ by, descending: true })
const deep = (value: CustomerKey['value']): CustomerKey => ({ value, user_id: 20_000 })

describe.each([
  ['before any statistics', sql``],
  ['with statistics', sql`analyze customer_figures, account`],
])('%s', (_when, statement) => {
  beforeAll(async () => {
    if (statement !== '') await db.query({ text: statement })
  })

  test.each<[string, CustomerFilter, CustomerOrder, after: CustomerKey | undefined, blocks: number]>([
    ['by name', {}, { by: 'name', descending: false }, undefined, FEW],
    ['by name, deep', {}, { by: 'name', descending: false }, deep('name 500'), FEW],
    ['by use', {}, down('used'), deep(500_000), FEW],
    ['by use, within bounds', { least: 400_000, most: 500_000 }, down('used'), undefined, FEW],
    ['by what was sent', {}, down('sent'), undefined, FEW],
    ['by what was sent, where many sent the same', {}, down('sent'), deep(5), FEW],
    ['by what was denied', {}, down('denied'), deep(0), FEW],
    ['by growth', {}, { by: 'growth', descending: false }, deep(150), FEW],
    ['by the last message', {}, down('last_message'), deep(NOW - 20_000 * 60_000), FEW],
    ['by what was lacking', { view: 'unmet' }, down('unmet'), deep(3), FEW],
    ['at risk', { view: 'at_risk' }, down('urgency'), undefined, FEW],
    ['blocked, at risk', { view: 'at_risk', state: 'blocked' }, down('urgency'), deep(4_000_020_000), FEW],
    ['about to lose a grant: none', { view: 'at_risk', state: 'ending' }, down('urgency'), undefined, FEW],
    ['in a state that few have', { state: 'blocked' }, down('sent'), undefined, SCAN],
    ['in a state that none has', { state: 'no_quota' }, down('sent'), undefined, SCAN],
    ['of a plan that half of them have', { plan_id: 1 }, down('sent'), undefined, 2_000],
    ['of a plan that few have', { plan_id: 2 }, down('sent'), undefined, 1_000],
    ['of a plan that none has', { plan_id: 9 }, down('name'), undefined, FEW],
  ])('a page of customers %s', async (_name, filter, order, after, blocks) => {
    expect(await blocksFor(on => listCustomers(on, filter, order, after, 20, NOW))).toBeLessThan(blocks)
  })

  test('how many are at risk', async () => {
    expect(await blocksFor(on => countAtRisk(on))).toBeLessThan(FEW + 100)
  })

  test('a search', async () => {
    expect(await blocksFor(on => searchCustomers(on, '12', { plan_id: 1 }, down('sent'), 20, NOW))).toBeLessThan(900)
  })

  test('a page of accounts whose figures are made anew', async () => {
    await db.query({ text: sql`update customer_figures set due_at = '-infinity' where user_id < 300` })
    await db.query({ text: sql`update usage_upkeep set until = '-infinity', next_user = null` })
    expect(await blocksFor(on => renewFigures(on, shardOf(7), NOW, 100, () => undefined))).toBeLessThan(30_000)
  })
})
