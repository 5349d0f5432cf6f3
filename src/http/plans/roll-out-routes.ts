import type { FastifyInstance } from 'fastify'
import { givePlanInSteps, givePlanStep, type PlanTerms, previewPlanStep } from '../../admin/plans/give-plan.ts'
import { PlanParams } from '../../contract/plans.ts'
import { RollOutHeaders, RollOutReq } from '../../contract/roll-out.ts'
import { findPlan } from '../../db/plans/plans.ts'
import { sendMany } from '../changes/many.ts'
import { refusal } from '../changes/outcomes.ts'
import { versionCheck } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { parseJsonBodies } from '../platform/json-body.ts'
import { operation } from '../platform/openapi.ts'
import { change } from '../platform/routes.ts'
import { givablePlan, planOf } from './responses.ts'
import { createRollOutReport, selectedUsers, selectionOf } from './roll-out.ts'

/** The maximum size of a body, in bytes: 10,000 ids of 17 characters, and the rest. */
const MAX_BODY_BYTES = 256 * 1024

/** The current version of a plan for many: `/api/sms/admin/plans/{id}/roll-out`. */
export function rollOutRoutes(server: FastifyInstance, context: RouteContext): void {
  // Its scope must be its own, because its bodies may be larger.
  server.register(async scope => rollOutRoute(scope, context))
}

function rollOutRoute(server: FastifyInstance, context: RouteContext): void {
  const { db, now } = context
  parseJsonBodies(server, server.bodyReader, MAX_BODY_BYTES)

  change(server, 'POST', '/:id/roll-out', {
    ...operation(
      'Administrator',
      'rollOutPlan',
      'Give the current version of a plan to many users',
      'Gives it to each user as a single call does, in small steps, each a transaction, and reports progress and failures as newline-delimited JSON. A user who is refused does not affect the others. If the call breaks off, whole steps have taken effect: repeat it with the same `Idempotency-Key`. With the `If-Match` of its dry run, a version that was made since is not given. Check that the last line of the response is `end`.',
    ),
    bodyLimit: MAX_BODY_BYTES,
    params: PlanParams,
    headers: RollOutHeaders,
    body: RollOutReq,
    answer: 'RollOutRecord',
    isLines: true,
    errors: ['not_found', 'version_mismatch', 'plan_archived', 'idempotency_mismatch', 'overloaded'],
    handler: async (request, reply) => {
      const { id } = request.params
      const { dry_run: isDryRun = false, reason, fresh, ...select } = request.body
      const { 'if-match': ifMatch, 'idempotency-key': key } = request.headers
      const plan = givablePlan(await findPlan(db, id), id)
      const { version } = plan
      if (!versionCheck(ifMatch)(version)) throw refusal({ outcome: 'version_mismatch', version }, planOf(id))
      const selection = selectionOf(select, plan)
      const terms: PlanTerms = { plan, isMeant: selection.isMeant, reason, ...(fresh === undefined ? {} : { fresh }) }
      return sendMany(context, reply, {
        what: 'roll-out of a plan',
        isDryRun,
        key,
        // With the version: a repeated call completes what an earlier one began, and gives no other version.
        asked: { operation: 'rollOutPlan', id, version, select, reason, fresh },
        select: () => selectedUsers(db, selection),
        step: (userIds, author) =>
          givePlanInSteps(isDryRun ? previewPlanStep : givePlanStep, db, userIds, terms, author),
        ...createRollOutReport(isDryRun, now),
      })
    },
  })
}
