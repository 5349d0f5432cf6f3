import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { adjustQuotaOnce, updateQuota } from '../../admin/quotas/change-quota.ts'
import { createQuotaOfNewUser, createQuotaOnce } from '../../admin/quotas/create-quota.ts'
import { deleteQuota } from '../../admin/quotas/delete-quota.ts'
import { AdjustReq } from '../../contract/adjust.ts'
import { ChangeHeaders, CreateQuotaReq, IfMatchHeaders, QuotaParams, UpdateQuotaReq } from '../../contract/quotas.ts'
import { IdempotencyHeaders } from '../../contract/schemas.ts'
import { accepted } from '../changes/outcomes.ts'
import { authorOf, boundedAuthorOf, versionCheck } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { change } from '../platform/routes.ts'
import { unknownUser } from '../references/references.ts'
import { bulkRoute, giveRoute } from './bulk-routes.ts'
import { importRoute } from './import-routes.ts'
import { draftOf, patchOf } from './requests.ts'
import { answeredOf, quotaOf, taggedView } from './responses.ts'

const shownQuota = Type.Ref('SmsQuota#')

/** What administrators change: `/api/sms/admin/quota…`. */
export function quotaChangeRoutes(server: FastifyInstance, context: RouteContext): void {
  createRoute(server, context)
  updateRoute(server, context)
  adjustRoute(server, context)
  deleteRoute(server, context)
}

function createRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  change(server, 'POST', '', {
    ...operation('Administrator', 'createQuota', 'Create a quota'),
    headers: IdempotencyHeaders,
    body: CreateQuotaReq,
    answer: { 201: shownQuota },
    errors: ['too_many_quotas', 'conflict', 'idempotency_mismatch', 'being_erased'],
    config: { makesUser: true },
    handler: async (request, reply) => {
      const author = authorOf(request, now())
      const key = request.headers['idempotency-key']
      const draft = draftOf(request.body)
      const { newUserRef } = request
      const outcome = await (newUserRef === null
        ? createQuotaOnce(db, draft, author, key)
        : createQuotaOfNewUser(db, newUserRef, draft, author, key))
      if (outcome === undefined) throw unknownUser(newUserRef ?? '', null, true)
      const created = answeredOf(accepted(outcome, quotaOf()), author.now)
      reply.code(201).header('location', `/api/sms/admin/quota/${created.quota.id}`)
      return taggedView(reply, created)
    },
  })
}

function updateRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  change(server, 'PUT', '/:id', {
    ...operation('Administrator', 'updateQuota', 'Update a quota'),
    params: QuotaParams,
    headers: ChangeHeaders,
    body: UpdateQuotaReq,
    answer: { 200: shownQuota },
    errors: [
      'not_found',
      'version_mismatch',
      'immutable_field',
      'below_usage',
      'too_many_quotas',
      'conflict',
      'idempotency_mismatch',
    ],
    handler: async (request, reply) => {
      const { id } = request.params
      const { 'if-match': ifMatch, 'idempotency-key': key } = request.headers
      const author = authorOf(request, now())
      const updated = await updateQuota(db, id, patchOf(request.body), author, versionCheck(ifMatch), key)
      return taggedView(reply, answeredOf(accepted(updated, quotaOf(id)), author.now))
    },
  })
}

function adjustRoute(server: FastifyInstance, { db, now, settings }: RouteContext): void {
  change(server, 'POST', '/:id/adjust', {
    config: { access: 'adjust' },
    ...operation(
      'Administrator',
      'adjustQuota',
      "Adjust a quota's limit",
      'Adds units to the limit, or subtracts them, without reading it first. The rules of an update apply. Adjustments that are made at the same time all count. With an `Idempotency-Key`, a repeated call counts once. With `until`, the units are a grant of their own, which the answer shows. The support role moves at most `SUPPORT_ADJUST_LIMIT` units of each user in 24 hours, by all its changes together; above that it is 403.',
    ),
    params: QuotaParams,
    headers: ChangeHeaders,
    body: AdjustReq,
    answer: { 200: shownQuota },
    errors: ['not_found', 'version_mismatch', 'below_usage', 'too_many_quotas', 'being_erased', 'idempotency_mismatch'],
    handler: async (request, reply) => {
      const { id } = request.params
      const { 'if-match': ifMatch, 'idempotency-key': key } = request.headers
      const author = boundedAuthorOf(request, now(), settings)
      const adjusted = await adjustQuotaOnce(db, id, request.body, author, versionCheck(ifMatch), key)
      return taggedView(reply, answeredOf(accepted(adjusted, quotaOf(id)), author.now))
    },
  })
}

function deleteRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  change(server, 'DELETE', '/:id', {
    ...operation('Administrator', 'deleteQuota', 'Delete a quota'),
    params: QuotaParams,
    headers: IfMatchHeaders,
    answer: null,
    errors: ['not_found', 'version_mismatch'],
    handler: async (request, reply) => {
      const { id } = request.params
      const check = versionCheck(request.headers['if-match'])
      accepted(await deleteQuota(db, id, authorOf(request, now()), check), quotaOf(id))
      return reply.code(204).send(null)
    },
  })
}

/** Changes of many quotas, in steps: `/api/sms/admin/quota/import`, `…/bulk` and `…/give`. Each reads its body in its own way. */
export function quotaStepRoutes(server: FastifyInstance, context: RouteContext): void {
  for (const route of [importRoute, bulkRoute, giveRoute]) server.register(async scope => route(scope, context))
}
