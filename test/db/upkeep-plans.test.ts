/** The statements of the sweeper and of retention cost the same however much has been settled before. */
import { expect, test } from 'vitest'
import { nodesOf, planOf, type Statement } from '../../bench/explain.ts'
import type { Database, Transaction } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { BY_KEYS } from '../../src/db/connection/transaction-settings.ts'
import { DUE_PAGE, findDue } from '../../src/db/reservations/due.ts'
import { removeSettled } from '../../src/db/reservations/retention.ts'
import { SHARDS, shardFrom } from '../../src/domain/shard.ts'
import { DAY_MS } from '../../src/domain/time.ts'
import { databaseOfOnePostgres } from '../support/database.ts'

/** A thousand in each shard: far more than a page of the sweeper. */
const RESERVATIONS = 64_000
const NOW = Date.parse('2026-03-15T12:00:00.000Z')

/** Consumptions of 35 days over all shards, without statistics. */
const { db } = await databaseOfOnePostgres()
await db.query({
  text: sql`insert into reservation
    select n % 64, n % 5000, 'm' || n, 0, 'consume', 1, null, 'otp', false, false, 1, 1, 0, 0, 'release', false,
      array[64, 0, 0, 1, 0, 1], at, at, at
    from generate_series(1, $1::int) n, lateral (select to_timestamp(($2::bigint - n::bigint * $3) / 1000.0) as at) t`,
  values: [RESERVATIONS, NOW, Math.floor((35 * DAY_MS) / RESERVATIONS)],
})

/** The statement that `work` sends in a transaction, beside its settings. It is not run. */
async function statementIn(work: (db: Database) => Promise<unknown>): Promise<Statement> {
  const sent: Statement[] = []
  const tx: Transaction = {
    isCluster: false,
    async query(statement) {
      if (statement.text !== BY_KEYS) sent.push(statement)
      return []
    },
  }
  await work({ ...db, transaction: inside => inside(tx) }).catch(() => {})
  const [statement] = sent
  if (statement === undefined) throw new Error('nothing was sent')
  return statement
}

/** The scans of the plan, by type and index, and how many rows the first of them returned. */
function accessesOf({ text, values = [] }: Statement): Promise<{ accesses: string[]; rows: number }> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const nodes = nodesOf(await planOf(tx, { text, values }))
    const scans = nodes.filter(node => node['Index Name'] !== undefined || node['Relation Name'] !== undefined)
    return {
      accesses: scans.map(scan => `${scan['Node Type']} ${scan['Index Name']}`),
      rows: scans[0]?.['Actual Rows'] ?? Number.NaN,
    }
  })
}

const everywhere = (after: number) => new Map(SHARDS.map(shard => [shard, after]))
const SCANS = [
  ['for what has come due in a second', NOW - 1_000],
  ['back two minutes', NOW - 120_000],
  ['from the beginning', Number.NEGATIVE_INFINITY],
] as const

async function expectBounded(after: number): Promise<void> {
  const { accesses, rows } = await accessesOf(await statementIn(on => findDue(on, everywhere(after), NOW)))
  expect(accesses).toEqual(['Index Scan reservation_expiry'])
  // A page of each shard, and one row more to know that it ends there.
  expect(rows).toBeLessThanOrEqual(DUE_PAGE + 1)
}

async function expectRemovalByKeys(): Promise<void> {
  const removal = await statementIn(on => removeSettled(on, shardFrom(5), Number.NEGATIVE_INFINITY, NOW))
  const { accesses } = await accessesOf(removal)
  expect(accesses.filter(access => !access.startsWith('ModifyTable')).toSorted()).toEqual([
    'Index Scan reservation_action_pkey',
    'Index Scan reservation_expiry',
    'Index Scan reservation_pkey',
    'Index Scan reservation_pkey',
    'Index Scan value_counter_pkey',
  ])
}

test.each(SCANS)('the sweeper scans %s by its index, without statistics', (_, after) => expectBounded(after))
test('retention removes by its indexes, without statistics', expectRemovalByKeys)

test('all plans are the same with statistics', async () => {
  await db.query({ text: sql`analyze reservation` })
  for (const [, after] of SCANS) await expectBounded(after)
  await expectRemovalByKeys()
})
