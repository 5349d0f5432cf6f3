/** A page of denials costs the same however many there are, for any user and any age; so does a step of their retention. */
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { blocksOf, nodesOf, type PlanNode, planOf, type Statement } from '../../bench/explain.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { BY_KEYS, IN_INDEX_ORDER } from '../../src/db/connection/transaction-settings.ts'
import { findOldDenials, removeDenials } from '../../src/db/reservations/denial-retention.ts'
import { type DenialFilter, findDenial, listDenials } from '../../src/db/reservations/denials.ts'
import type { DenialKey } from '../../src/domain/denial.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { DAY_MS } from '../../src/domain/time.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
/** This user has most denials, and they are old. */
const BUSY = 1
const SMALL = 2

const { db, url } = await databaseOfOnePostgres()

const SETTINGS = [BY_KEYS, IN_INDEX_ORDER]

type Sent = Statement & { settings: string }

/** Every statement of the log of denials that `work` sends, with the settings of its transaction. */
async function statementsOf(work: (db: Database) => Promise<unknown>): Promise<Sent[]> {
  const sent: Sent[] = []
  const recording: Database = {
    ...db,
    transaction: (inside, mode) =>
      db.transaction(tx => {
        let settings = sql``
        return inside({
          isCluster: false,
          query(statement) {
            if (SETTINGS.includes(statement.text)) settings = statement.text
            else if (/\bdenial\b/.test(statement.text)) sent.push({ ...statement, settings })
            return tx.query(statement)
          },
        })
      }, mode),
  }
  await work(recording)
  return sent
}

const old = (days: number, user_id: number) => ({ at: NOW - days * DAY_MS, user_id, number: 1 })

/** The statements that connections prepare, which may keep the generic plan that was made when the table was empty. */
const PREPARED = await statementsOf(async on => {
  await findDenial(on, old(1, BUSY))
  await findOldDenials(on, NOW - 102 * DAY_MS, NOW, 100)
  const keys = [102, 103, 104].map(days => ({ ...old(days, BUSY), shard: shardOf(BUSY) }))
  await removeDenials(on, keys)
})
const early = new pg.Client({ connectionString: url })
afterAll(() => early.end())
await early.connect()
await early.query('set plan_cache_mode = force_generic_plan')

async function earlyPlanOf({ name, values = [] }: Sent): Promise<PlanNode> {
  const literals = values.map(value => (Array.isArray(value) ? `'{${value.join(',')}}'` : `'${value}'`))
  const { rows } = await early.query(
    `explain (analyze, buffers, timing off, format json) execute "${name}" (${literals.join(', ')})`,
  )
  return rows[0]['QUERY PLAN'][0].Plan
}

/** The indexes of the log; the subjects of senders are looked up by key. */
const indexesOf = (plan: PlanNode) =>
  nodesOf(plan)
    .flatMap(node => node['Index Name'] ?? [])
    .filter(name => !name.startsWith('principal_'))

for (const statement of PREPARED) {
  await early.query(statement.settings.replaceAll('set local', 'set'))
  await early.query(`prepare "${statement.name}" as ${statement.text}`)
  await earlyPlanOf(statement)
}

for (const [user, count, newest, everySeconds] of [
  [BUSY, 60_000, NOW - 100 * DAY_MS, 60],
  [SMALL, 50, NOW - 100 * DAY_MS, 10],
  ...Array.from({ length: 40 }, (_, index) => [3 + index, 1_000, NOW, 600]),
] as [number, number, number, number][]) {
  await db.query({
    text: sql`insert into denial (shard, user_id, at, number, id, op, units, allow_partial, reason, remaining, skipped, explanation)
           select $1, $2, $3::timestamptz - n * $5::int * interval '1 s', nextval('denial_number'), 'm' || n, 'reserve', 1,
             false, 'quota_exhausted', 0, 0, '[{"quota_id": 64, "kind": "grant", "verdict": "exhausted", "units": 0}]'
           from generate_series(1, $4::int) n`,
    values: [shardOf(user), user, new Date(newest).toISOString(), count, everySeconds],
  })
}

const list =
  (filter: DenialFilter, after?: DenialKey) =>
  (on: Database): Promise<unknown> =>
    listDenials(on, filter, after, 20)
const CASES: [string, (db: Database) => Promise<unknown>, string][] = [
  ['the newest of a user with most of them', list({ user_id: BUSY }), 'denial_pkey'],
  ['deep in them', list({ user_id: BUSY }, old(110, BUSY)), 'denial_pkey'],
  ['a day of them', list({ user_id: BUSY, from: NOW - 105 * DAY_MS, to: NOW - 104 * DAY_MS }), 'denial_pkey'],
  [
    'those of a reason and a country in some days',
    list({ user_id: BUSY, reason: 'no_quota', country: 'DE', from: NOW - 102 * DAY_MS, to: NOW - 101 * DAY_MS }),
    'denial_pkey',
  ],
  ['those of a user with few', list({ user_id: SMALL }), 'denial_pkey'],
  ['those of a user and an id', list({ user_id: BUSY, id: 'm17' }), 'denial_by_id'],
  ['those of an id', list({ id: 'm17' }), 'denial_by_id'],
  ['the newest of all', list({}), 'denial_by_time'],
  ['deep in all', list({}, old(105, BUSY)), 'denial_by_time'],
  [
    'those of a sender',
    list({ sender: 'gateway', from: NOW - 105 * DAY_MS, to: NOW - 104 * DAY_MS }),
    'denial_by_time',
  ],
  ['a day of all', list({ from: NOW - 105 * DAY_MS, to: NOW - 104 * DAY_MS }), 'denial_by_time'],
  ['one', on => findDenial(on, old(1, BUSY)), 'denial_pkey'],
  ['old ones', on => findOldDenials(on, Number.NEGATIVE_INFINITY, NOW, 100), 'denial_by_time'],
  ['old ones, on from a time', on => findOldDenials(on, NOW - 105 * DAY_MS, NOW, 100), 'denial_by_time'],
  ['some to remove', on => removeDenials(on, [{ ...old(1, BUSY), shard: shardOf(BUSY) }]), 'denial_pkey'],
]

// As the planner sees them before statistics were gathered, and after.
test.each(['before', 'after'])(
  'each statement uses the index that is made for it, %s the first analyze',
  async when => {
    if (when === 'after') await db.query({ text: sql`analyze denial` })
    for (const [name, work, index] of CASES) {
      const statements = await statementsOf(work)
      expect(statements.length, name).toBeGreaterThan(0)
      for (const { settings, ...statement } of statements) {
        const plan = await db.transaction(async tx => {
          await tx.query({ text: rawSql`${settings}` })
          return planOf(tx, statement)
        })
        const used = indexesOf(plan)
        expect(used, `${name}: ${JSON.stringify(plan)}`).toEqual([index])
        expect(blocksOf(plan), name).toBeLessThan(250)
      }
    }
  },
)

test('plans that were made when the table was empty find rows by the same indexes', async () => {
  const indexes = {
    'find-denial': 'denial_pkey',
    'find-old-denials': 'denial_by_time',
    'remove-denials': 'denial_pkey',
  }
  expect(PREPARED.map(({ name }) => name)).toEqual(Object.keys(indexes))
  for (const statement of PREPARED) {
    const plan = await earlyPlanOf(statement)
    const used = indexesOf(plan)
    expect(used).toEqual(Object.entries(indexes).flatMap(([name, index]) => (name === statement.name ? [index] : [])))
    expect(blocksOf(plan), JSON.stringify(plan)).toBeLessThan(250)
  }
})
