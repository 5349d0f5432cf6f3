import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { IdempotencyHeaders, IfMatchHeaders, NoQuery, QuotaParams } from '../../contract/quotas.ts'
import { AdjustReq } from '../../contract/records.ts'
import { adjustQuotaOnce } from '../../db/idempotency.ts'
import type { RouteContext } from '../context.ts'
import { responses } from '../platform/openapi.ts'
import { authorOf, taggedView, updatedOrThrow, versionCheck } from './responses.ts'

/** Moves a limit without reading it before: `/api/sms/admin/quota/{id}/adjust`. */
export function adjustRoute(server: FastifyInstance, { db, now }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()

  app.post(
    '/:id/adjust',
    {
      schema: {
        operationId: 'adjustQuota',
        summary: "Move a quota's limit",
        description:
          'By so many units, up or down, under the rules of an update. Adjustments at the same time all count; with an `Idempotency-Key` a repeated one counts once.',
        tags: ['Administrator'],
        params: QuotaParams,
        querystring: NoQuery,
        headers: Type.Object({ ...IfMatchHeaders.properties, ...IdempotencyHeaders.properties }),
        body: AdjustReq,
        response: responses({ 200: Type.Ref('SmsQuota#') }, [
          'forbidden',
          'payload_too_large',
          'unsupported_media_type',
          'invalid_request',
          'not_found',
          'version_mismatch',
          'below_usage',
          'idempotency_mismatch',
        ]),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const { 'if-match': ifMatch, 'idempotency-key': key } = request.headers
      const author = authorOf(request, now())
      const adjusted = await adjustQuotaOnce(db, id, request.body, author, versionCheck(ifMatch), key)
      const quota = updatedOrThrow(adjusted, id)
      // A repeated adjustment gets the same answer, as of the same moment.
      return taggedView(reply, quota, quota.updated_at)
    },
  )
}
