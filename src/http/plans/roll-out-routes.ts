import { Readable } from 'node:stream'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { givePlanInSteps, givePlanStep, type PlanTerms, previewPlanStep } from '../../admin/give-plan.ts'
import { PlanParams } from '../../contract/plans.ts'
import { RollOutHeaders, RollOutReq } from '../../contract/roll-out.ts'
import { NoQuery } from '../../contract/schemas.ts'
import { findPlan } from '../../db/plans/plans.ts'
import { beginOf, linesOf, NDJSON } from '../changes/bulk-lines.ts'
import { refusal } from '../changes/outcomes.ts'
import { authorOf, versionCheck } from '../changes/requests.ts'
import { streamSteps } from '../changes/step-stream.ts'
import type { RouteContext } from '../context.ts'
import { UNBUFFERED } from '../platform/headers.ts'
import { parseJsonBodies } from '../platform/json-body.ts'
import { changeResponses, operation } from '../platform/openapi.ts'
import { givablePlan, planOf } from './responses.ts'
import { createRollOutReport, selectedUsers, selectionOf } from './roll-out.ts'

/** The maximum size of a body, in bytes: 10,000 ids of 17 characters, and the rest. */
const MAX_BODY_BYTES = 256 * 1024

/** The current version of a plan for many: `/api/sms/admin/plans/{id}/roll-out`. */
export function rollOutRoutes(server: FastifyInstance, context: RouteContext): void {
  // Its scope must be its own, because its bodies may be larger.
  server.register(async scope => rollOutRoute(scope, context))
}

function rollOutRoute(server: FastifyInstance, { db, now, steps: { pacer, slots } }: RouteContext): void {
  parseJsonBodies(server, server.bodyReader, MAX_BODY_BYTES)

  server.withTypeProvider<TypeBoxTypeProvider>().post(
    '/:id/roll-out',
    {
      bodyLimit: MAX_BODY_BYTES,
      schema: {
        ...operation(
          'Administrator',
          'rollOutPlan',
          'Give the current version of a plan to many users',
          'Gives it to each user as a single call does, in small steps, each a transaction, and reports progress and failures as newline-delimited JSON. A user who is refused does not affect the others. If the call breaks off, whole steps have taken effect: repeat it with the same `Idempotency-Key`. With the `If-Match` of its dry run, a version that was made since is not given. Check that the last line of the response is `end`.',
        ),
        params: PlanParams,
        querystring: NoQuery,
        headers: RollOutHeaders,
        body: RollOutReq,
        response: {
          ...changeResponses({}, [
            'not_found',
            'version_mismatch',
            'plan_archived',
            'idempotency_mismatch',
            'overloaded',
          ]),
          200: {
            description: 'One JSON object a line.',
            content: { [NDJSON]: { schema: Type.Ref('RollOutRecord#') } },
          },
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const { dry_run: isDryRun = false, reason, fresh, ...select } = request.body
      const { 'if-match': ifMatch, 'idempotency-key': key } = request.headers
      const plan = givablePlan(await findPlan(db, id), id)
      const { version } = plan
      if (!versionCheck(ifMatch)(version)) throw refusal({ outcome: 'version_mismatch', version }, planOf(id))
      const selection = selectionOf(select, plan)
      slots.hold(reply)
      const author = authorOf(request, now())
      // With the version: a repeated call completes what an earlier one began, and gives no other version.
      const asked = { operation: 'rollOutPlan', id, version, select, reason, fresh }
      const begun = isDryRun ? null : await beginOf(db, key, asked, author)
      const terms: PlanTerms = { plan, isMeant: selection.isMeant, reason, ...(fresh === undefined ? {} : { fresh }) }
      const report = createRollOutReport(isDryRun, now)
      const records = streamSteps(selectedUsers(db, selection), {
        pacer,
        step: userIds =>
          givePlanInSteps(isDryRun ? previewPlanStep : givePlanStep, db, userIds, terms, () => ({
            ...author,
            now: now(),
            ...(begun === null ? {} : { requestId: begun.id }),
          })),
        linesOf: (userId, outcome) => report.linesOf(userId, outcome),
        counts: () => report.counts,
        onStopped: error => server.requestLog.stopped(request, 'roll-out of a plan', error),
      })
      return reply
        .type(NDJSON)
        .headers(UNBUFFERED)
        .send(Readable.from(linesOf(begun, records)))
    },
  )
}
