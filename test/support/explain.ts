/** Tests of plans as tables: what runs, and what each of its statements may read, with statistics and without. */
import { beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, nodesOf, type PlanNode, planOf, type Statement } from '../../bench/explain.ts'
import type { Database, Queryable, SqlValue, Transaction } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { BY_KEYS_IN_ORDER, type TransactionMode } from '../../src/db/connection/transaction-settings.ts'
import { rawSql } from './sql.ts'

interface Bounds {
  /** Fewer pages of 8 KiB than this are read by all statements together. */
  blocks?: number
  /** Rows of the tables that a statement reads at most, with those that a filter removed, and rows of any part of its plan. */
  rows?: number
  /** By table or name of a statement: the indexes that each such statement uses, in the order of their names, once for each scan. */
  indexes?: Readonly<Record<string, readonly string[]>>
  /** An index that at least one of the statements uses. */
  uses?: string
}

export type PlanCase = readonly [what: string, work: (on: Database) => Promise<unknown>, bounds: Bounds]

export interface Explained {
  statement: Statement
  /** Whether the plan holds for any parameters: PostgreSQL may keep it for a named statement. */
  isGeneric: boolean
  plan: PlanNode
}

/**
 * Tests each case before and after an ANALYZE of the tables. No plan may read one of them as a whole.
 * Statements without one of these tables are not planned.
 */
export function testPlans(db: Database, tables: readonly string[], cases: readonly PlanCase[]): void {
  describe.each(['without', 'with'])('%s statistics', when => {
    beforeAll(async () => {
      if (when === 'with') await db.query({ text: rawSql`analyze ${tables.join(', ')}` })
    })

    test.each(cases)('%s', async (_what, work, bounds) => {
      const all = await explain(db, work, tables)
      expect(all.length).toBeGreaterThan(0)
      for (const one of all) expectBounded(one, tables, bounds)
      for (const [of, indexes] of Object.entries(bounds.indexes ?? {})) {
        const used = all.filter(({ statement }) => statement.name === of || isOn([of]).test(statement.text))
        expect(used.length, of).toBeGreaterThan(0)
        const scanned = tables.includes(of) ? [of] : tables
        for (const { plan } of used) expect(accessesOf(plan, scanned), JSON.stringify(plan)).toEqual(indexes)
      }
      if (bounds.uses !== undefined) expect(all.flatMap(({ plan }) => accessesOf(plan, tables))).toContain(bounds.uses)
      // What runs for any parameters, and for these.
      for (const isGeneric of [false, true]) {
        const plans = all.filter(one => one.isGeneric === isGeneric).map(({ plan }) => plan)
        expect(plans.reduce((sum, plan) => sum + blocksOf(plan), 0)).toBeLessThan(bounds.blocks ?? Infinity)
      }
    })
  })
}

function expectBounded({ statement, plan }: Explained, tables: readonly string[], bounds: Bounds): void {
  const about = `${statement.name ?? statement.text}: ${JSON.stringify(plan)}`
  const scans = nodesOf(plan).filter(({ 'Relation Name': table = '' }) => tables.includes(table))
  expect(
    scans.map(scan => scan['Node Type']).filter(type => type.includes('Seq Scan')),
    about,
  ).toEqual([])
  const { rows = Infinity } = bounds
  expect(
    scans.reduce((sum, scan) => sum + rowsReadBy(scan), 0),
    about,
  ).toBeLessThanOrEqual(rows)
  for (const node of nodesOf(plan)) expect(node['Actual Rows'], about).toBeLessThanOrEqual(rows)
}

/** The scans of tables: indexes by name, of others the type. */
export function accessesOf(plan: PlanNode, tables: readonly string[]): string[] {
  return nodesOf(plan)
    .filter(node => tables.includes(node['Relation Name'] ?? '') && node['Node Type'] !== 'ModifyTable')
    .map(node => (/^Index (Only )?Scan$/.test(node['Node Type']) ? `${node['Index Name']}` : node['Node Type']))
    .toSorted()
}

function rowsReadBy(node: PlanNode): number {
  if (node['Node Type'] === 'ModifyTable') return 0
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return (node['Actual Rows'] + removed) * node['Actual Loops']
}

const isOn = (tables: readonly string[]) => new RegExp(String.raw`\b(?:${tables.join('|')})\b`)

const ROLLED_BACK = new Error('rolled back')

/**
 * Runs `work` in a transaction that is undone. Each statement on the tables is planned in its place: under the settings of its
 * transaction, and after the statements before it.
 */
export async function explain(
  db: Database,
  work: (on: Database) => Promise<unknown>,
  tables: readonly string[],
): Promise<Explained[]> {
  const all: Explained[] = []
  const undone = db.transaction(async tx => {
    const recording: Transaction = {
      isCluster: false,
      async query(statement) {
        if (!/^\s*(?:select|with|insert|update|delete)\b/.test(statement.text)) return tx.query(statement)
        const kinds = statement.name === undefined ? [false] : [false, true]
        for (const isGeneric of isOn(tables).test(statement.text) ? kinds : []) {
          // To explain a statement runs it.
          await tx.query({ text: sql`savepoint planned` })
          all.push({ statement, isGeneric, plan: await (isGeneric ? genericPlanOf : planOf)(tx, statement) })
          await tx.query({ text: sql`rollback to savepoint planned` })
        }
        return tx.query(statement)
      },
    }
    const transaction = async <T>(inside: (tx: Transaction) => Promise<T>, mode?: TransactionMode): Promise<T> => {
      await tx.query({ text: mode === 'keyed snapshot' ? sql`reset all; ${BY_KEYS_IN_ORDER}` : sql`reset all` })
      return inside(recording)
    }
    await work({ ...db, ...recording, transaction })
    throw ROLLED_BACK
  })
  await expect(undone).rejects.toBe(ROLLED_BACK)
  return all
}

/** The plan for any parameters. */
async function genericPlanOf(tx: Queryable, { text, values = [] }: Statement): Promise<PlanNode> {
  await tx.query({ text: sql`set local plan_cache_mode = force_generic_plan; prepare generic as ${text}` })
  const parameters = values.length > 0 ? `(${values.map(literalOf).join(', ')})` : ''
  const plan = await planOf(tx, { text: rawSql`execute generic ${parameters}` })
  await tx.query({ text: sql`deallocate generic` })
  return plan
}

export function literalOf(value: SqlValue): string {
  if (value === null) return 'null'
  const items = Array.isArray(value) ? value.map(item => (item === null ? 'null' : JSON.stringify(item))) : undefined
  return `'${(items === undefined ? String(value) : `{${items.join(',')}}`).replaceAll("'", "''")}'`
}
