/** The statements that the service sends, and the plans that PostgreSQL makes for them. */
import type { Database, Queryable, Transaction } from '../src/db/connection/database.ts'
import { rawSql } from '../test/support/sql.ts'

export type Statement = Parameters<Queryable['query']>[0]

/** A node of a plan as `explain (format json)` writes it: the fields that are used here. */
export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: PlanNode[]
}

/** Runs `work` in a database and returns the statements of its transaction, its settings included. */
export async function transactionOf(db: Database, work: (db: Database) => Promise<unknown>): Promise<Statement[]> {
  const sent: Statement[] = []
  const recording = (on: Queryable): Transaction => ({
    isCluster: false,
    query(statement) {
      sent.push(statement)
      return on.query(statement)
    },
  })
  await work({
    ...db,
    ...recording(db),
    transaction: (inside, mode) => db.transaction(tx => inside(recording(tx)), mode),
  })
  return sent
}

/** The plans of a transaction's statements, made under its settings. */
export function plansOf(db: Database, statements: readonly Statement[]): Promise<PlanNode[]> {
  return explainAll(db, statements, planOf)
}

/** The plans of a transaction's statements as texts. */
export function planTextsOf(db: Database, statements: readonly Statement[]): Promise<string[]> {
  return explainAll(db, statements, planTextOf)
}

function explainAll<Plan>(
  db: Database,
  statements: readonly Statement[],
  explainOne: (tx: Queryable, statement: Statement) => Promise<Plan>,
): Promise<Plan[]> {
  return db.transaction(async tx => {
    const plans: Plan[] = []
    for (const statement of statements) {
      if (isSetting(statement)) await tx.query(statement)
      else plans.push(await explainOne(tx, statement))
    }
    return plans
  })
}

export const isSetting = ({ text }: Statement) => text.startsWith('set local ')

/** Runs a statement and returns its plan as a tree, with the blocks it touched. */
export async function planOf(db: Queryable, statement: Statement): Promise<PlanNode> {
  const [row] = await explain<[{ Plan: PlanNode }]>(db, 'analyze, buffers, timing off, format json', statement)
  if (row === undefined) throw new Error('there is no plan')
  return row[0].Plan
}

/** Runs a statement and returns its plan as text. */
async function planTextOf(db: Queryable, statement: Statement): Promise<string> {
  const lines = await explain<string>(db, 'analyze, buffers, costs off, timing off, summary off', statement)
  return lines.join('\n')
}

async function explain<Row>(db: Queryable, options: string, { text, values = [] }: Statement): Promise<Row[]> {
  const rows = await db.query<{ 'QUERY PLAN': Row }>({ text: rawSql`explain (${options}) ${text}`, values })
  return rows.map(row => row['QUERY PLAN'])
}

export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

/** Pages of 8 KiB that a plan read. */
export function blocksOf(plan: PlanNode): number {
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}
