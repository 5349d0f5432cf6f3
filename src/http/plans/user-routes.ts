import type { FastifyInstance } from 'fastify'
import { givePlanStep, type PlanTerms } from '../../admin/plans/give-plan.ts'
import { GivePlanReq, type UserPlan } from '../../contract/plans.ts'
import { UserParams } from '../../contract/users.ts'
import type { Database } from '../../db/connection/database.ts'
import { findPlan } from '../../db/plans/plans.ts'
import { planOfUser } from '../../db/plans/users.ts'
import type { Giving } from '../../domain/plans/give-plan.ts'
import { accepted } from '../changes/outcomes.ts'
import { authorOf } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { change, get } from '../platform/routes.ts'
import { givablePlan, planOf } from './responses.ts'

/** The plan of a user: `/api/sms/admin/users/{user_id}/plan`. */
export function userPlanRoutes(server: FastifyInstance, context: RouteContext): void {
  readRoute(server, context)
  giveRoute(server, context)
  takeRoute(server, context)
}

function readRoute(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '/:user_id/plan', {
    ...operation(
      'Administrator',
      'getPlanOfUser',
      'Read the plan of a user',
      'Of any user: without one, `plan` is null.',
    ),
    params: UserParams,
    answer: 'UserPlan',
    handler: async (request): Promise<UserPlan> => {
      const { user_id } = request.params
      const found = await planOfUser(db, user_id)
      if (found === undefined) return { user_id, plan: null, slots: [], ended: [] }
      const slots = found.quotas.flatMap(({ id, plan }) =>
        plan === null
          ? []
          : [{ slot: plan.slot, quota_id: id, outcome: 'stays' as const, kept: [...plan.kept], carried: 0 }],
      )
      return { user_id, plan: found.plan, slots, ended: [] }
    },
  })
}

/** A plan changes a few times a year. */
const MAX_TRIES = 3

function giveRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  change(server, 'PUT', '/:user_id/plan', {
    ...operation(
      'Administrator',
      'givePlan',
      'Give a user a plan',
      "Gives the current version, in one transaction: makes the quotas that the user lacks, changes those of the same slots in place, and ends those of slots that the plan does not have. A limit below what is used takes nothing back. A user has one plan at most: another one is replaced. Quotas of the user's own stay. To give the same version again changes nothing.",
    ),
    params: UserParams,
    body: GivePlanReq,
    answer: 'UserPlan',
    errors: ['not_found', 'plan_archived', 'too_many_quotas', 'being_erased'],
    handler: async (request): Promise<UserPlan> => {
      const { user_id } = request.params
      const { plan_id, ...manner } = request.body
      // Again if a version was made after the plan was read.
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const plan = givablePlan(await findPlan(db, plan_id), plan_id)
        const giving = await giveOne(db, user_id, { plan, ...manner, mustBeCurrent: true }, authorOf(request, now()))
        if (giving === null) continue
        const { id, name, version } = plan
        return {
          user_id,
          plan: { id, name, version },
          slots: slotsOf(giving),
          ended: giving.ended.map(quota => quota.id),
        }
      }
      throw new Error(`plan ${plan_id} was changed at each of ${MAX_TRIES} tries to give it`)
    },
  })
}

function takeRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  change(server, 'DELETE', '/:user_id/plan', {
    ...operation(
      'Administrator',
      'takePlan',
      'Take the plan of a user away',
      'Ends the quotas of the plan now. Without a plan, it changes nothing.',
    ),
    params: UserParams,
    answer: null,
    errors: ['being_erased'],
    handler: async (request, reply) => {
      const { user_id } = request.params
      await giveOne(db, user_id, { plan: null }, authorOf(request, now()))
      return reply.code(204).send(null)
    },
  })
}

/** Null: there is a later version of the plan. */
async function giveOne(
  db: Database,
  userId: number,
  terms: PlanTerms,
  author: Parameters<typeof givePlanStep>[3],
): Promise<Giving | null> {
  const [outcome] = await givePlanStep(db, [userId], terms, author)
  if (outcome === undefined) throw new Error(`user ${userId} has no outcome`)
  const done = accepted(outcome, planOf())
  return done.outcome === 'given' ? done : null
}

function slotsOf({ slots }: Giving): UserPlan['slots'] {
  return slots.map(({ slot, outcome, quota, kept, carried }) => ({
    slot,
    quota_id: quota.id,
    outcome,
    kept: [...kept],
    carried,
  }))
}
