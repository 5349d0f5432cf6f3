import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AdminUsageQuery, TopUsersQuery, UserUsageQuery } from '../../contract/usage.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { responses } from '../platform/openapi.ts'
import { topUsersReport, usageReport } from './responses.ts'

/** What users sent and were denied, for themselves: `/api/sms/quota/usage`. */
export function userUsageRoutes(server: FastifyInstance, { db }: RouteContext): void {
  server.withTypeProvider<TypeBoxTypeProvider>().get(
    '/usage',
    {
      schema: {
        operationId: 'reportMyUsage',
        summary: 'Read my usage over time',
        tags: ['User'],
        querystring: UserUsageQuery,
        response: responses({ 200: Type.Ref('Usage#') }, ['forbidden', 'invalid_request']),
      },
    },
    request => usageReport(db, request.query, userIdOf(request)),
  )
}

/** The same of any user or all, for administrators: `/api/sms/admin/quota/usage…`. */
export function adminUsageRoutes(server: FastifyInstance, { db }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()
  const tags = ['Administrator']

  app.get(
    '/usage',
    {
      schema: {
        operationId: 'reportUsage',
        summary: 'Read usage over time, of a user or of all',
        tags,
        querystring: AdminUsageQuery,
        response: responses({ 200: Type.Ref('Usage#') }, ['forbidden', 'invalid_request']),
      },
    },
    request => usageReport(db, request.query, request.query.user_id),
  )

  app.get(
    '/usage/top',
    {
      schema: {
        operationId: 'listTopUsers',
        summary: 'List the users who used most',
        tags,
        querystring: TopUsersQuery,
        response: responses({ 200: Type.Ref('TopUsers#') }, ['forbidden', 'invalid_request']),
      },
    },
    request => topUsersReport(db, request.query),
  )
}
