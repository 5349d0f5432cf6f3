/** Pauses are found by an index, however many have ended. */
import { beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, nodesOf, plansOf, transactionOf } from '../../bench/explain.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { listPauses, type PauseFilter } from '../../src/db/pauses/lists.ts'
import { readActivePauses, removeEndedPauses } from '../../src/db/pauses/pauses.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const PAUSES = 20_000
const { db } = await databaseOfOnePostgres()

// Every thousandth is active; all others ended by themselves or were lifted.
await db.query({
  text: rawSql`insert into pause (shard, id, user_id, country, until, origin, created_at, created_by, lifted_at)
         select 0, n, case when n % 10 > 0 then n % 500 end, case when n % 2 = 0 then 'FR' else 'DE' end,
           case when n % 1000 > 0 then to_timestamp($1::bigint / 1000) - (${PAUSES} - n) * interval '1 min' end,
           'breaker', to_timestamp(0), 'a', case when n % 7 = 0 and n % 1000 > 0 then to_timestamp(n) end
         from generate_series(1, ${PAUSES}) n`,
  values: [NOW],
})

const FEW = 250
const SCAN = 1_500

async function expectIndexed(blocks: number, run: (on: Database) => Promise<unknown>): Promise<void> {
  const plans = await plansOf(db, await transactionOf(db, run))
  expect(plans.length).toBeGreaterThan(0)
  expect(plans.flatMap(nodesOf).map(node => node['Node Type'])).not.toContain('Seq Scan')
  expect(plans.reduce((sum, plan) => sum + blocksOf(plan), 0)).toBeLessThan(blocks)
}

describe.each([
  ['before any statistics', sql``],
  ['with statistics', sql`analyze pause`],
])('%s', (_when, statement) => {
  beforeAll(async () => {
    if (statement !== '') await db.query({ text: statement })
  })

  test.each<[string, PauseFilter, number, number]>([
    ['all', {}, PAUSES + 1, FEW],
    ['all, deep', {}, 1_000, FEW],
    ['active ones', { active: true }, PAUSES + 1, FEW],
    ['active ones of a user and country', { active: true, user_id: 7, country: 'DE' }, PAUSES + 1, FEW],
    ['those of a user that are over', { active: false, user_id: 7 }, PAUSES + 1, SCAN],
    ['those of an origin that made none', { origin: 'person' }, PAUSES + 1, SCAN],
  ])('a page of %s', async (_name, filter, before, blocks) => {
    await expectIndexed(blocks, on => listPauses(on, filter, before, 20, NOW))
  })

  test('what processes read', () => expectIndexed(FEW, on => on.transaction(tx => readActivePauses(tx, NOW))))

  test('a page of the retention', () => expectIndexed(FEW, on => removeEndedPauses(on, NOW - 86_400_000_000, 20)))
})
