import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { quotasOfUser } from '../../db/quotas.ts'
import { pastUsage } from '../../db/usage.ts'
import { summarize } from '../../domain/summary.ts'
import { userIdOf } from '../access.ts'
import { NoQuery, UserListQuery } from '../contract.ts'
import { listPage } from '../listing.ts'
import { answers } from '../openapi.ts'
import type { RouteContext } from '../server.ts'

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
        response: answers({ 200: Type.Ref('QuotaPage#') }, ['forbidden', 'invalid_request']),
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
        response: answers({ 200: Type.Ref('QuotaSummary#') }, ['forbidden', 'invalid_request']),
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
