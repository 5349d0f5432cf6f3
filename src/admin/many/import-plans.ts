/** The steps of an import whose rows are quotas, or give users plans. */
import type { Database } from '../../db/connection/database.ts'
import { findPlan, plansNamed } from '../../db/plans/plans.ts'
import type { Plan } from '../../domain/plans/plan.ts'
import type { Author } from '../kit/author.ts'
import { givePlanInSteps, givePlanStep, type PlanOutcome, previewPlanStep } from '../plans/give-plan.ts'
import { createImportPreview } from './import-preview.ts'
import {
  type ImportedPlan,
  type ImportedQuota,
  type ImportedRow,
  type ImportOutcome,
  importStep,
  isOfPlan,
  isOfQuota,
} from './import-quotas.ts'

type Step<Row> = (rows: readonly Row[], author: Author) => Promise<ImportOutcome[]>

/**
 * What carries out the steps of an import, or of a dry run. No two rows of a step are for the same quota or user's plan. Each plan is
 * given in transactions of its own; like that of quotas, they can be repeated.
 */
export function createImportSteps(db: Database, isDryRun: boolean): Step<ImportedRow> {
  const importQuotas: Step<ImportedQuota> = isDryRun
    ? createImportPreview(db)
    : (rows, author) => importStep(db, rows, author)
  const give = isDryRun ? previewPlanStep : givePlanStep

  async function givePlan(
    rows: readonly ImportedPlan[],
    name: number | string,
    author: Author,
  ): Promise<ImportOutcome[]> {
    const plan = await planNamed(db, name)
    if ('outcome' in plan) return rows.map(() => plan)
    const users = rows.map(({ user_id }) => user_id)
    const outcomes = await givePlanInSteps(give, db, users, { plan }, () => author)
    return outcomes.map(outcomeOf)
  }

  return async (rows, author) => {
    const outcomes = new Map<ImportedRow, ImportOutcome | undefined>()
    const note = (of: readonly ImportedRow[], done: readonly ImportOutcome[]) => {
      for (const [index, row] of of.entries()) outcomes.set(row, done[index])
    }
    const quotas = rows.filter(isOfQuota)
    if (quotas.length > 0) note(quotas, await importQuotas(quotas, author))
    for (const [name, ofPlan] of Map.groupBy(rows.filter(isOfPlan), ({ plan }) => plan))
      note(ofPlan, await givePlan(ofPlan, name, author))
    return rows.map(row => {
      const outcome = outcomes.get(row)
      if (outcome === undefined) throw new Error(`a row of user ${row.user_id} has no outcome`)
      return outcome
    })
  }
}

/** Ids that a message lists. */
const MAX_LISTED = 3

async function planNamed(db: Database, name: number | string): Promise<Plan | ImportOutcome> {
  const found = typeof name === 'number' ? await findPlan(db, name) : undefined
  const plans =
    typeof name === 'number' ? [found].filter(plan => plan !== undefined) : await plansNamed(db, name, MAX_LISTED)
  const [plan, other] = plans.filter(({ archived_at }) => archived_at === null)
  if (plan === undefined)
    return refused(`must be the id or the name of a plan that is not archived, not ${JSON.stringify(name)}`)
  if (other === undefined) return plan
  return refused(
    `is the name of several plans, such as ${plan.id} and ${other.id}: give the id of the one that is meant`,
  )
}

const refused = (message: string): ImportOutcome => ({ outcome: 'invalid', issues: [{ path: '/plan', message }] })

function outcomeOf(giving: PlanOutcome): ImportOutcome {
  // The user has a later version, which was made meanwhile.
  if (giving.outcome === 'left_out') return { outcome: 'unchanged' }
  if (giving.outcome !== 'given') return giving
  if (giving.changes.length === 0) return { outcome: 'unchanged' }
  return { outcome: giving.changes.every(({ change }) => change.before === null) ? 'created' : 'updated' }
}
