import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { NoQuery, UserListQuery } from '../../contract/quotas.ts'
import { quotasOfUser } from '../../db/quotas.ts'
import { pastUsage } from '../../db/usage-sums.ts'
import { summarize } from '../../domain/summary.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { responses } from '../platform/openapi.ts'
import { listPage } from './list.ts'

/** What users see of their own: `/api/sms/quota…`. There is no user selector; the token says who asks. */
export function userRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  const tags = ['User']

  app.get(
    '/list',
    {
      schema: {
        operationId: 'listMyQuotas',
        summary: 'List my quotas',
        tags,
        querystring: UserListQuery,
        response: responses({ 200: Type.Ref('QuotaPage#') }, ['forbidden', 'invalid_request']),
      },
    },
    request => listPage(db, request.query, { role: 'user', userId: userIdOf(request) }, now()),
  )

  app.get(
    '/summary',
    {
      schema: {
        operationId: 'summarizeMyQuotas',
        summary: 'Read my summary',
        tags,
        querystring: NoQuery,
        response: responses({ 200: Type.Ref('QuotaSummary#') }, ['forbidden', 'invalid_request']),
      },
    },
    async request => {
      const userId = userIdOf(request)
      const at = now()
      const [{ quotas, expired }, past] = await Promise.all([quotasOfUser(db, userId, at), pastUsage(db, userId, at)])
      return summarize(userId, quotas, expired, past, at)
    },
  )
}
