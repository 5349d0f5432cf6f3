import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { addQuotaOnce, type CreatedOnce } from '../../db/idempotency.ts'
import { type Deleted, findQuota, quotasOfUser, removeQuota, type Updated, updateQuota } from '../../db/quotas.ts'
import type { Author } from '../../db/records.ts'
import { pastUsage } from '../../db/usage.ts'
import { MAX_QUOTAS_PER_USER } from '../../domain/bounds.ts'
import type { Quota } from '../../domain/quota.ts'
import { summarize } from '../../domain/summary.ts'
import type { Instant } from '../../domain/time.ts'
import { viewOf } from '../../domain/view.ts'
import { invalidRequest, Problem } from '../../errors.ts'
import { principalOf } from '../access.ts'
import {
  AdminListQuery,
  CreateQuotaReq,
  IdempotencyHeaders,
  IfMatchHeaders,
  NoQuery,
  QuotaParams,
  SummaryQuery,
  UpdateQuotaReq,
} from '../contract.ts'
import { listPage } from '../listing.ts'
import { answers } from '../openapi.ts'
import { draftOf, patchOf } from '../quota-requests.ts'
import type { RouteContext } from '../server.ts'

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
        response: answers({ 200: Type.Ref('QuotaPage#') }, ['forbidden', 'invalid_request']),
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
        response: answers({ 200: Type.Ref('QuotaSummary#') }, ['forbidden', 'invalid_request']),
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
        response: answers({ 201: Type.Ref('SmsQuota#') }, [
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
      reply.code(201).headers({ etag: etagOf(quota), location: `/api/sms/admin/quota/${quota.id}` })
      // A repeated creation gets the same answer, as of the same moment.
      return viewOf(quota, quota.created_at)
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
        response: answers({ 200: Type.Ref('SmsQuota#') }, ['forbidden', 'invalid_request', 'not_found']),
      },
    },
    async (request, reply) => {
      const quota = await findQuota(db, request.params.id)
      if (quota === undefined || quota.deleted_at !== null) throw noSuchQuota(request.params.id)
      reply.header('etag', etagOf(quota))
      return viewOf(quota, now())
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
        response: answers({ 200: Type.Ref('SmsQuota#') }, [
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
      reply.header('etag', etagOf(quota))
      return viewOf(quota, author.now)
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
        response: answers({ 204: Type.Null({ description: 'Deleted; nothing is returned.' }) }, [
          'forbidden',
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

function authorOf(request: FastifyRequest, now: Instant): Author {
  return { now, actor: principalOf(request).subject, requestId: request.id }
}

function etagOf(quota: Quota): string {
  return `"${quota.version}"`
}

function versionCheck(ifMatch: string | undefined): (version: number) => boolean {
  if (ifMatch === undefined || ifMatch === '*') return () => true
  const accepted = new Set(ifMatch.split(',').map(etag => etag.trim()))
  return version => accepted.has(`"${version}"`)
}

/* ── Outcomes as answers ────────────────────────────────────────────────────────────────────────────────────────── */

function createdOrThrow(created: CreatedOnce): Quota {
  switch (created.outcome) {
    case 'created':
    case 'replayed':
      return created.quota
    case 'mismatch':
      throw new Problem(
        'idempotency_mismatch',
        `This Idempotency-Key came with another body before; it differs in ${created.fields.join(', ')}.`,
        { members: { errors: created.fields.map(name => ({ path: `/${name}`, message: 'differs' })) } },
      )
    default:
      throw refusal(created)
  }
}

function updatedOrThrow(updated: Updated, id: number): Quota {
  switch (updated.outcome) {
    case 'changed':
    case 'unchanged':
      return updated.quota
    case 'not_found':
      throw noSuchQuota(id)
    case 'version_mismatch':
      throw versionMismatch(updated.version)
    default:
      throw refusal(updated)
  }
}

function deletedOrThrow(deleted: Deleted, id: number): void {
  if (deleted.outcome === 'not_found') throw noSuchQuota(id)
  if (deleted.outcome === 'version_mismatch') throw versionMismatch(deleted.version)
}

type Refusal = Exclude<
  CreatedOnce | Updated,
  { outcome: 'created' | 'replayed' | 'mismatch' | 'changed' | 'unchanged' | 'not_found' | 'version_mismatch' }
>

function refusal(refused: Refusal): Problem {
  switch (refused.outcome) {
    case 'invalid':
      return invalidRequest(refused.faults)
    case 'immutable_field':
      return new Problem('immutable_field', refused.faults.map(fault => `${fault.path} ${fault.message}`).join('; '), {
        members: { errors: refused.faults },
      })
    case 'below_usage':
      return new Problem('below_usage', refused.detail)
    case 'too_many_quotas':
      return new Problem(
        'too_many_quotas',
        `The user has ${MAX_QUOTAS_PER_USER} undeleted, unexpired quotas, the most one user can have.`,
      )
    case 'conflict':
      return new Problem('conflict', `Quota ${refused.existingId} of this user has this external_ref already.`, {
        members: { existing_id: refused.existingId },
      })
  }
}

function noSuchQuota(id: number): Problem {
  return new Problem('not_found', `There is no quota ${id}.`)
}

function versionMismatch(version: number): Problem {
  return new Problem('version_mismatch', `The quota has version ${version} now.`, {
    headers: { etag: `"${version}"` },
  })
}
