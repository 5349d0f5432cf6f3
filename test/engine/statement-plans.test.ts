/**
 * The plans of the engine's statements do not depend on statistics: a database has none right after an import, and wrong
 * ones if it was analyzed before its first sends. Each statement finds its rows by their keys all the same.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { disableAutovacuum } from '../../bench/fill.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { LEDGER_STATEMENTS } from '../../src/db/ledger/statements.ts'
import { ENGINE_SETTINGS } from '../../src/engine/connections.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { callsFor, emptyLedger, fillLedger, fillQuotas, KEYS } from './statement-plans-fixture.ts'

const names = Object.keys(callsFor(0))

/** The columns that an index must be searched by, for each table: one of these lists. */
const SEARCHED_BY: Readonly<Record<string, readonly (readonly string[])[]>> = {
  account: [['shard', 'user_id']],
  quota: [
    ['shard', 'id'],
    ['shard', 'user_id'],
  ],
  quota_window: [['shard', 'quota_id', 'window_no']],
  value_counter: [['shard', 'quota_id', 'value_key', 'window_start']],
  reservation: [['shard', 'user_id', 'id']],
  shard_head: [['shard']],
  event: [['shard', 'user_id']],
  event_sequence: [['shard', 'user_id']],
  reservation_action: [['shard', 'user_id', 'reservation_id']],
  // The empty key: the greatest id.
  user_profile: [['shard', 'user_id']],
  principal: [['id'], ['subject'], []],
}

/** Pages of 8 KiB that a statement may touch to find the rows of a key. */
const PAGES_PER_KEY = 15
/** Rows that a part of its plan may read or discard for a key. */
const ROWS_PER_KEY = 2

/** A node of a plan: the fields that are used here. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Total Cost': number
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
}

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

function rowsOf(node: PlanNode): number {
  const removed = ['Rows Removed by Filter', 'Rows Removed by Join Filter', 'Rows Removed by Index Recheck'] as const
  return node['Actual Loops'] * removed.reduce((rows, name) => rows + (node[name] ?? 0), node['Actual Rows'])
}

/**
 * The pages that a plan touches to find rows, without those that it writes: a row that has no room on its page moves to
 * another one, with an entry in every index of its table.
 */
function pagesReadBy(plan: PlanNode): number {
  const writes = nodesOf(plan).some(node => node['Node Type'] === 'ModifyTable')
  if (writes) return (plan.Plans ?? []).reduce((pages, part) => pages + pagesReadBy(part), 0)
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

/** The tables that a plan does not read by an index and all columns of a key. */
function tablesReadOtherwise(plan: PlanNode): string[] {
  return nodesOf(plan).flatMap(node => {
    const table = node['Relation Name']
    if (table === undefined || !node['Node Type'].endsWith('Scan')) return []
    const searched = [...(node['Index Cond'] ?? '').matchAll(/\((\w+) = /g)].map(([, column]) => column)
    const isByKey = SEARCHED_BY[table]?.some(key => key.every(column => searched.includes(column)))
    return isByKey ? [] : [`${table}: ${node['Node Type']} by ${searched.join(', ') || 'nothing'}`]
  })
}

const { db, url } = await databaseOfOnePostgres()
await disableAutovacuum(db)

const clients: pg.Client[] = []
afterAll(async () => {
  for (const client of clients) await client.end()
})

/** The value of a parameter as a literal: EXECUTE takes no other. The type of an array's elements stands in its binary form. */
async function literalOf(client: pg.Client, value: string | Buffer | null): Promise<string> {
  if (value === null) return 'null'
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  const types = await client.query<{ name: string }>('select $1::oid::regtype::text as name', [value.readInt32BE(8)])
  const { rows } = await client.query<{ text: string }>(`select $1::${types.rows[0]?.name}[]::text as text`, [value])
  return `'${rows[0]?.text}'`
}

/** A connection with the engine's settings that has planned every statement. It keeps generic plans. */
async function openSession(mode: 'generic' | 'custom') {
  const calls = callsFor(clients.length)
  const client = new pg.Client({ connectionString: url })
  clients.push(client)
  await client.connect()
  for (const [setting, value] of Object.entries(ENGINE_SETTINGS)) await client.query(`set ${setting} = '${value}'`)
  await client.query(`set plan_cache_mode = force_${mode}_plan`)

  async function explain(name: string, options: string): Promise<PlanNode> {
    const values: string[] = []
    for (const value of calls[name]?.values ?? []) values.push(await literalOf(client, value))
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (${options}format json) execute "${name}" ${values.length > 0 ? `(${values.join(', ')})` : ''}`,
    )
    const [row] = rows
    if (row === undefined) throw new Error('there is no plan')
    return row['QUERY PLAN'][0].Plan
  }

  const costs = new Map<string, number>()
  for (const name of names) {
    await client.query(`prepare "${name}" as ${LEDGER_STATEMENTS[name]}`)
    costs.set(name, (await explain(name, ''))['Total Cost'])
  }

  /** Executes the statement and undoes it. */
  async function planOf(name: string): Promise<PlanNode> {
    await client.query('begin')
    try {
      return await explain(name, 'analyze, buffers, timing off, ')
    } finally {
      await client.query('rollback')
    }
  }

  return {
    forgetPlans: () => client.query('discard plans'),
    /** Expects that the plan is still the one with which the session began. */
    async expectKept(name: string): Promise<void> {
      expect((await explain(name, ''))['Total Cost'], name).toBe(costs.get(name))
    },
    async expectCheap(name: string): Promise<void> {
      expect(tablesReadOtherwise(await explain(name, ''))).toEqual([])
      const plan = await planOf(name)
      for (const node of nodesOf(plan)) expect(rowsOf(node)).toBeLessThanOrEqual(ROWS_PER_KEY * KEYS)
      expect(pagesReadBy(plan)).toBeLessThan(PAGES_PER_KEY * KEYS)
    },
  }
}

type Session = Awaited<ReturnType<typeof openSession>>

test('every statement is covered', () => {
  // `wait-for-locks` sets a limit, and reads no table.
  expect([...names, 'wait-for-locks'].sort()).toEqual(Object.keys(LEDGER_STATEMENTS).sort())
})

describe.each([
  {
    state: 'never analyzed',
    empty: async () => {},
    fill: async () => {
      await fillQuotas(db)
      await fillLedger(db)
    },
  },
  {
    state: 'analyzed before the first sends',
    empty: async () => {
      await emptyLedger(db)
      await db.query({ text: sql`analyze` })
    },
    fill: () => fillLedger(db),
  },
])('with tables that were $state', ({ empty, fill }) => {
  let early: Session
  let late: Session
  let custom: Session

  beforeAll(async () => {
    await empty()
    early = await openSession('generic')
    await fill()
    late = await openSession('generic')
    custom = await openSession('custom')
  })

  // PostgreSQL keeps a plan that it made for an empty table, and some of these read the whole table for each key.
  test('the plans of the time when they were empty are kept, until the connection forgets them', async () => {
    for (const name of names) await early.expectKept(name)
    await early.forgetPlans()
    for (const name of names) await early.expectCheap(name)
  })

  test.each(names)('a plan made since, for any values: %s', name => late.expectCheap(name))

  test.each(names)('a plan for these values: %s', name => custom.expectCheap(name))
})
