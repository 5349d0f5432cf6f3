/** Requests for more units are found by an index, also those of a user who has had a great many. */
import { beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, nodesOf, plansOf, transactionOf } from '../../bench/explain.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import {
  countRequests,
  hasAutomatic,
  type IncreaseRequestFilter,
  listIncreaseRequests,
  removeDecidedRequests,
} from '../../src/db/quotas/increase-requests.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const REQUESTS = 40_000
const USER = 7
const SHARD = shardOf(USER)
const { db } = await databaseOfOnePostgres()

// Half of them are of one user, who has two open ones, the oldest and one in the middle. Each was approved automatically in its window.
await db.query({
  text: rawSql`insert into increase_request (shard, id, user_id, quota_id, units, reason, status, created_at, decided_at, automatic_window, retained_from)
         select case when n % 2 = 0 then ${SHARD} else n % 64 end, n * 64 + case when n % 2 = 0 then ${SHARD} else n % 64 end,
           case when n % 2 = 0 then ${USER} else n end, ${SHARD}, 5, 'Sale', case when n in (2, ${REQUESTS / 2}) then 'open' else 'declined' end,
           to_timestamp($1::bigint / 1000), to_timestamp($1::bigint / 1000) + n * interval '1 s', n,
           to_timestamp($1::bigint / 1000) + n * interval '1 s'
         from generate_series(1, ${REQUESTS}) n`,
  values: [NOW],
})

const NEWEST = (REQUESTS + 1) * 64
const FEW = 250

async function expectIndexed(run: (on: Database) => Promise<unknown>): Promise<void> {
  const plans = await plansOf(db, await transactionOf(db, run))
  expect(plans.length).toBeGreaterThan(0)
  expect(plans.flatMap(nodesOf).map(node => node['Node Type'])).not.toContain('Seq Scan')
  expect(plans.reduce((sum, plan) => sum + blocksOf(plan), 0)).toBeLessThan(FEW)
}

describe.each([
  ['before any statistics', sql``],
  ['with statistics', sql`analyze increase_request`],
])('%s', (_when, statement) => {
  beforeAll(async () => {
    if (statement !== '') await db.query({ text: statement })
  })

  test.each<[string, IncreaseRequestFilter, number]>([
    ['all', {}, NEWEST],
    ['all, deep', {}, 64_000],
    ['open ones', { status: 'open' }, NEWEST],
    ['a status that none has', { status: 'withdrawn' }, NEWEST],
    ['a user', { user_id: USER }, NEWEST],
    ['a user, deep', { user_id: USER }, 64_000],
    ['open ones of a user', { user_id: USER, status: 'open' }, NEWEST],
    ['a user who has none', { user_id: 8, status: 'declined' }, NEWEST],
  ])('a page of %s', async (_name, filter, before) => {
    await expectIndexed(on => listIncreaseRequests(on, filter, before, 20))
  })

  test('what a new request asks for', async () => {
    await expectIndexed(on => on.transaction(tx => countRequests(tx, USER, NOW)))
    await expectIndexed(on => on.transaction(tx => hasAutomatic(tx, SHARD, 7)))
  })

  test('a page of the retention', () => expectIndexed(on => removeDecidedRequests(on, NOW + 100_000, 20)))
})
