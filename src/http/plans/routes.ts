import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { archivePlanIf, createPlanOnce, updatePlanOnce } from '../../admin/plans/plans.ts'
import { CreatePlanReq, PlanParams, PlansQuery, UpdatePlanReq } from '../../contract/plans.ts'
import { ChangeHeaders, IfMatchHeaders } from '../../contract/quotas.ts'
import { IdempotencyHeaders } from '../../contract/schemas.ts'
import { findPlan, listPlans, usersByVersion } from '../../db/plans/plans.ts'
import { planViewOf, type SlotDraft } from '../../domain/plans/plan.ts'
import { followRules } from '../changes/follow-rules.ts'
import { accepted, found } from '../changes/outcomes.ts'
import { authorOf, versionCheck } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { cursorInteger } from '../platform/cursors.ts'
import { operation } from '../platform/openapi.ts'
import { change, get } from '../platform/routes.ts'
import { getList, listOf } from '../resource/list.ts'
import { slotDraftOf } from './requests.ts'
import { planOf, taggedPlan } from './responses.ts'

/** Plans: `/api/sms/admin/plans…`. */
export function planRoutes(server: FastifyInstance, context: RouteContext): void {
  readRoutes(server, context)
  createRoute(server, context)
  updateRoute(server, context)
  archiveRoute(server, context)
}

const plans = listOf({ query: PlansQuery, key: cursorInteger, read: listPlans, view: planViewOf })

function readRoutes(server: FastifyInstance, context: RouteContext): void {
  const { db } = context
  getList(server, '', context, plans, {
    ...operation('Administrator', 'listPlans', 'List plans', 'Newest first.'),
    isReport: true,
    answer: 'PlanPage',
  })

  get(server, '/:id', {
    ...operation('Administrator', 'getPlan', 'Read a plan, and how many users have which version'),
    params: PlanParams,
    answer: 'PlanDetail',
    errors: ['not_found'],
    handler: async (request, reply) => {
      const { id } = request.params
      const plan = found(await findPlan(db, id), planOf(id))
      return { ...taggedPlan(reply, plan), users: await usersByVersion(db, id) }
    },
  })
}

/** The plan, with the slots in the form in which they are stored and compared. */
function withSlots<Body extends Static<typeof UpdatePlanReq>>(body: Body): Body & { slots?: SlotDraft[] } {
  const { slots } = body
  return slots === undefined ? body : { ...body, slots: slots.map(slotDraftOf) }
}

function createRoute(server: FastifyInstance, { db, now, pauses }: RouteContext): void {
  change(server, 'POST', '', {
    ...operation('Administrator', 'createPlan', 'Create a plan'),
    headers: IdempotencyHeaders,
    body: CreatePlanReq,
    answer: { 201: Type.Ref('Plan#') },
    errors: ['too_many_plans', 'idempotency_mismatch'],
    handler: async (request, reply) => {
      const key = request.headers['idempotency-key']
      const draft = { ...request.body, slots: request.body.slots.map(slotDraftOf) }
      const made = accepted(await createPlanOnce(db, draft, authorOf(request, now()), key), planOf())
      const plan = made.outcome === 'replayed' ? made.answer : made.plan
      await followRules(pauses)
      reply.code(201).header('location', `/api/sms/admin/plans/${plan.id}`)
      return taggedPlan(reply, plan)
    },
  })
}

function updateRoute(server: FastifyInstance, { db, now, pauses }: RouteContext): void {
  change(server, 'PUT', '/:id', {
    ...operation(
      'Administrator',
      'updatePlan',
      'Update a plan',
      'A change of `name` or `slots` makes a new version. No quota of a user changes before the version is given.',
    ),
    params: PlanParams,
    headers: ChangeHeaders,
    body: UpdatePlanReq,
    answer: { 200: Type.Ref('Plan#') },
    errors: ['not_found', 'version_mismatch', 'plan_archived', 'idempotency_mismatch'],
    handler: async (request, reply) => {
      const { id } = request.params
      const { 'if-match': ifMatch, 'idempotency-key': key } = request.headers
      const author = authorOf(request, now())
      const updated = await updatePlanOnce(db, id, withSlots(request.body), author, versionCheck(ifMatch), key)
      const done = accepted(updated, planOf(id))
      await followRules(pauses)
      return taggedPlan(reply, done.outcome === 'replayed' ? done.answer : done.plan)
    },
  })
}

function archiveRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  change(server, 'DELETE', '/:id', {
    ...operation(
      'Administrator',
      'archivePlan',
      'Archive a plan',
      'It is given to no further user. Those who have it keep it, with their quotas. To archive it again changes nothing.',
    ),
    params: PlanParams,
    headers: IfMatchHeaders,
    answer: null,
    errors: ['not_found', 'version_mismatch'],
    handler: async (request, reply) => {
      const { id } = request.params
      const check = versionCheck(request.headers['if-match'])
      accepted(await archivePlanIf(db, id, authorOf(request, now()), check), planOf(id))
      return reply.code(204).send(null)
    },
  })
}
