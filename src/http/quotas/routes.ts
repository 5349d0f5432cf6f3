import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import {
  AdminListQuery,
  CreateQuotaReq,
  IdempotencyHeaders,
  IfMatchHeaders,
  NoQuery,
  QuotaParams,
  SummaryQuery,
  UpdateQuotaReq,
} from '../../contract/quotas.ts'
import { addQuotaOnce } from '../../db/idempotency.ts'
import { findQuota, quotasOfUser, removeQuota, updateQuota } from '../../db/quotas.ts'
import { pastUsage } from '../../db/usage-sums.ts'
import { summarize } from '../../domain/summary.ts'
import type { RouteContext } from '../context.ts'
import { responses } from '../platform/openapi.ts'
import { listPage } from './list.ts'
import { draftOf, patchOf } from './requests.ts'
import {
  authorOf,
  createdOrThrow,
  deletedOrThrow,
  noSuchQuota,
  taggedView,
  updatedOrThrow,
  versionCheck,
} from './responses.ts'

/** What administrators do: `/api/sms/admin/quota…`. */
export function adminRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  const tags = ['Administrator']

  app.get(
    '/list',
    {
      schema: {
        operationId: 'listQuotas',
        summary: 'List quotas of all users',
        tags,
        querystring: AdminListQuery,
        response: responses({ 200: Type.Ref('QuotaPage#') }, ['forbidden', 'invalid_request']),
      },
    },
    request => listPage(db, request.query, { role: 'admin' }, now()),
  )

  app.get(
    '/summary',
    {
      schema: {
        operationId: 'summarizeQuotasOfUser',
        summary: "Read a user's summary",
        tags,
        querystring: SummaryQuery,
        response: responses({ 200: Type.Ref('QuotaSummary#') }, ['forbidden', 'invalid_request']),
      },
    },
    async request => {
      const { user_id: userId } = request.query
      const at = now()
      const [{ quotas, expired }, past] = await Promise.all([quotasOfUser(db, userId, at), pastUsage(db, userId, at)])
      return summarize(userId, quotas, expired, past, at)
    },
  )

  app.post(
    '',
    {
      schema: {
        operationId: 'createQuota',
        summary: 'Create a quota',
        tags,
        querystring: NoQuery,
        headers: IdempotencyHeaders,
        body: CreateQuotaReq,
        response: responses({ 201: Type.Ref('SmsQuota#') }, [
          'forbidden',
          'payload_too_large',
          'unsupported_media_type',
          'invalid_request',
          'too_many_quotas',
          'conflict',
          'idempotency_mismatch',
        ]),
      },
    },
    async (request, reply) => {
      const author = authorOf(request, now())
      const key = request.headers['idempotency-key']
      const quota = createdOrThrow(await addQuotaOnce(db, draftOf(request.body), author, key))
      reply.code(201).header('location', `/api/sms/admin/quota/${quota.id}`)
      // A repeated creation gets the same answer, as of the same moment.
      return taggedView(reply, quota, quota.created_at)
    },
  )

  app.get(
    '/:id',
    {
      schema: {
        operationId: 'getQuota',
        summary: 'Read a quota',
        tags,
        params: QuotaParams,
        querystring: NoQuery,
        response: responses({ 200: Type.Ref('SmsQuota#') }, ['forbidden', 'invalid_request', 'not_found']),
      },
    },
    async (request, reply) => {
      const quota = await findQuota(db, request.params.id)
      if (quota === undefined || quota.deleted_at !== null) throw noSuchQuota(request.params.id)
      return taggedView(reply, quota, now())
    },
  )

  app.put(
    '/:id',
    {
      schema: {
        operationId: 'updateQuota',
        summary: 'Update a quota',
        tags,
        params: QuotaParams,
        querystring: NoQuery,
        headers: IfMatchHeaders,
        body: UpdateQuotaReq,
        response: responses({ 200: Type.Ref('SmsQuota#') }, [
          'forbidden',
          'payload_too_large',
          'unsupported_media_type',
          'invalid_request',
          'not_found',
          'version_mismatch',
          'immutable_field',
          'below_usage',
          'too_many_quotas',
          'conflict',
        ]),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const author = authorOf(request, now())
      const check = versionCheck(request.headers['if-match'])
      const quota = updatedOrThrow(await updateQuota(db, id, patchOf(request.body), author, check), id)
      return taggedView(reply, quota, author.now)
    },
  )

  app.delete(
    '/:id',
    {
      schema: {
        operationId: 'deleteQuota',
        summary: 'Delete a quota',
        tags,
        params: QuotaParams,
        querystring: NoQuery,
        headers: IfMatchHeaders,
        response: responses({ 204: Type.Null({ description: 'Deleted; nothing is returned.' }) }, [
          'forbidden',
          'payload_too_large',
          'unsupported_media_type',
          'invalid_request',
          'not_found',
          'version_mismatch',
        ]),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const check = versionCheck(request.headers['if-match'])
      deletedOrThrow(await removeQuota(db, id, authorOf(request, now()), check), id)
      return reply.code(204).send(null)
    },
  )
}
