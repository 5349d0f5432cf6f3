import type { FastifyReply } from 'fastify'
import type { Repeated } from '../../admin/idempotency.ts'
import type { NotChangeable } from '../../admin/lock-quota.ts'
import type { PlanCreated, PlanUpdated } from '../../admin/plans.ts'
import { MAX_PLANS } from '../../domain/bounds.ts'
import { type Plan, planViewOf } from '../../domain/plan.ts'
import { invalidRequest, Problem } from '../../errors.ts'
import { etagOf } from '../changes/requests.ts'
import { keyMismatch } from '../platform/problems.ts'

/** A plan with the ETag of its version. */
export function taggedPlan(reply: FastifyReply, plan: Plan) {
  reply.header('etag', etagOf(plan.version))
  return planViewOf(plan)
}

/** The plan that a call has made or changed. @throws Problem for any other outcome */
export function planOrThrow(done: PlanCreated | PlanUpdated | Repeated<Plan>, id?: number): Plan {
  switch (done.outcome) {
    case 'created':
    case 'changed':
    case 'unchanged':
      return done.plan
    case 'replayed':
      return done.answer
    case 'mismatch':
      throw keyMismatch(done.fields)
    case 'invalid':
      throw invalidRequest(done.issues)
    case 'too_many_plans':
      throw new Problem('too_many_plans', `There are already ${MAX_PLANS} plans, the maximum.`)
    case 'plan_archived':
      throw new Problem('plan_archived', `Plan ${id} is archived.`)
    default:
      throw notChangeable(done, id ?? 0)
  }
}

export function notChangeable(refused: NotChangeable, id: number): Problem {
  if (refused.outcome === 'not_found') return noSuchPlan(id)
  return new Problem('version_mismatch', `The plan now has version ${refused.version}.`, {
    headers: { etag: etagOf(refused.version) },
  })
}

/** Returns what was found. @throws Problem `not_found` if the plan does not exist */
export function foundPlan<T>(found: T | undefined, id: number): T {
  if (found === undefined) throw noSuchPlan(id)
  return found
}

function noSuchPlan(id: number): Problem {
  return new Problem('not_found', `Plan ${id} does not exist.`)
}

/** @throws Problem `plan_archived` */
export function givablePlan(plan: Plan): Plan {
  if (plan.archived_at !== null) throw new Problem('plan_archived', `Plan ${plan.id} is archived.`)
  return plan
}
