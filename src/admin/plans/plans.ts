/** What administrators do with plans. What users have changes only when a plan is given. */

import { insertChanges, nextVersion } from '../../db/changes/insert.ts'
import type { Database, Transaction } from '../../db/connection/database.ts'
import { findDefaultPlan, findPlan, lockPlans, nextPlanId, writePlan } from '../../db/plans/plans.ts'
import { holdRateCard } from '../../db/rates/rate-cards.ts'
import type { ActionOn } from '../../domain/events/audit.ts'
import {
  archivePlan,
  changePlan,
  type Plan,
  type PlanDraft,
  type PlanPatch,
  type PlanSlot,
  planViewOf,
  slotIssues,
  slotOf,
} from '../../domain/plans/plan.ts'
import { PLAN_DEFAULTS, planFieldsOf } from '../../domain/plans/plan-fields.ts'
import type { ValidationIssue } from '../../errors.ts'
import type { Author } from '../kit/author.ts'
import { findUncountable, uncountableIssues } from '../kit/countable-values.ts'
import { once, type Repeated } from '../kit/idempotency.ts'
import type { NotChangeable, VersionCheck } from '../kit/lock-quota.ts'
import { noSuchCard } from '../rates/rate-cards.ts'

type Invalid = { outcome: 'invalid'; issues: ValidationIssue[] }

export type PlanCreated = { outcome: 'created'; plan: Plan } | Invalid | { outcome: 'too_many_plans' }

export type PlanUpdated =
  | { outcome: 'changed' | 'unchanged'; plan: Plan }
  | Invalid
  | NotChangeable
  | { outcome: 'plan_archived' }

/** Makes a plan; with an idempotency key, makes it only once. */
export function createPlanOnce(
  db: Database,
  draft: PlanDraft,
  author: Author,
  key: string | undefined,
): Promise<PlanCreated | Repeated<Plan>> {
  const call = { key, request: { operation: 'createPlan', ...draft }, answerOf: planOf }
  return once(db, call, author, tx => createPlan(tx, draft, author))
}

async function createPlan(tx: Transaction, draft: PlanDraft, author: Author): Promise<PlanCreated> {
  const slots = draft.slots.map(slotOf)
  const issues = await issuesOf(tx, slots)
  if (issues.length > 0) return { outcome: 'invalid', issues }
  await lockPlans(tx)
  const id = await nextPlanId(tx)
  if (id === undefined) return { outcome: 'too_many_plans' }
  const { rate_card_id = null } = draft
  if (rate_card_id !== null && !(await holdRateCard(tx, rate_card_id))) return noSuchCard(rate_card_id)
  const { now, actor } = author
  const plan: Plan = {
    id,
    version: 1,
    ...planFieldsOf(PLAN_DEFAULTS, draft),
    slots,
    archived_at: null,
    created_at: now,
    created_by: actor,
    updated_at: now,
    updated_by: actor,
  }
  await record(tx, 'created', null, plan, author)
  return { outcome: 'created', plan }
}

async function issuesOf(tx: Transaction, slots: readonly PlanSlot[]): Promise<ValidationIssue[]> {
  const issues = slotIssues(slots)
  const uncountable = await findUncountable(tx, slots)
  return [...issues, ...slots.flatMap((slot, index) => uncountableIssues(uncountable, slot, `/slots/${index}`))]
}

/**
 * Changes a plan by merging. With an idempotency key, changes it only once; a repeated call does not check the version again: the
 * first call changed it.
 */
export function updatePlanOnce(
  db: Database,
  id: number,
  patch: PlanPatch,
  author: Author,
  mayChange: VersionCheck,
  key: string | undefined,
): Promise<PlanUpdated | Repeated<Plan>> {
  const call = { key, request: { operation: 'updatePlan', id, ...patch }, answerOf: planOf }
  return once(db, call, author, async tx => {
    const known = await lockPlan(tx, id, mayChange)
    if (known.outcome !== 'known') return known
    const { plan: before } = known
    if (before.archived_at !== null) return { outcome: 'plan_archived' }
    const changed = changePlan(before, patch, author)
    if (changed.outcome === 'unchanged') return { outcome: 'unchanged', plan: before }
    const { plan } = changed
    const issues = await issuesOf(tx, plan.slots)
    if (issues.length > 0) return { outcome: 'invalid', issues }
    const { rate_card_id } = plan
    if (rate_card_id !== before.rate_card_id && !(await holdRateCard(tx, rate_card_id))) return noSuchCard(rate_card_id)
    await record(tx, 'updated', before, plan, author)
    return { outcome: 'changed', plan }
  })
}

/** Archives a plan: no further user gets it, and those who have it keep it. */
export function archivePlanIf(
  db: Database,
  id: number,
  author: Author,
  mayChange: VersionCheck,
): Promise<{ outcome: 'archived' } | NotChangeable> {
  return db.transaction(async tx => {
    const known = await lockPlan(tx, id, mayChange)
    if (known.outcome !== 'known') return known
    const archived = archivePlan(known.plan, author)
    if (archived.outcome === 'changed') await record(tx, 'archived', known.plan, archived.plan, author)
    return { outcome: 'archived' }
  })
}

async function lockPlan(
  tx: Transaction,
  id: number,
  mayChange: VersionCheck,
): Promise<{ outcome: 'known'; plan: Plan } | NotChangeable> {
  await lockPlans(tx)
  const plan = await findPlan(tx, id)
  if (plan === undefined) return { outcome: 'not_found' }
  if (!mayChange(plan.version)) return { outcome: 'version_mismatch', version: plan.version }
  return { outcome: 'known', plan }
}

/** Writes a plan and its history. If it becomes the default, another one is no longer. */
async function record(
  tx: Transaction,
  action: ActionOn<'plan'>,
  before: Plan | null,
  after: Plan,
  author: Author,
): Promise<void> {
  if (after.is_default && before?.is_default !== true) {
    const other = await findDefaultPlan(tx)
    const changed = other && changePlan(other, { is_default: false }, author)
    if (other !== undefined && changed?.outcome === 'changed') await record(tx, 'updated', other, changed.plan, author)
  }
  await writePlan(tx, after, before)
  const { id } = after
  const shown = { before: before && planViewOf(before), after: planViewOf(after) }
  await insertChanges(tx, 'plan', [{ id, version: await nextVersion(tx, 'plan', id), action, ...shown }], author)
}

function planOf(done: { outcome: string; plan?: Plan }): Plan | undefined {
  return done.plan
}
