import type { FastifyReply } from 'fastify'
import { type Plan, planViewOf } from '../../domain/plans/plan.ts'
import { found, refusal } from '../changes/outcomes.ts'
import { etagOf } from '../changes/requests.ts'

/** A plan with the ETag of its version. */
export function taggedPlan(reply: FastifyReply, plan: Plan) {
  reply.header('etag', etagOf(plan.version))
  return planViewOf(plan)
}

export const planOf = (id?: number) => ({ what: 'plan', id })

/** A plan that was found and is not archived. @throws Problem for any other */
export function givablePlan(plan: Plan | undefined, id: number): Plan {
  const known = found(plan, planOf(id))
  if (known.archived_at !== null) throw refusal({ outcome: 'plan_archived' }, planOf(id))
  return known
}
