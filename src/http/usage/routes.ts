import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AdminUsageQuery, TopUsersQuery, UserUsageQuery } from '../../contract/usage.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { operation, readResponses } from '../platform/openapi.ts'
import { topUsersReport, usageReport } from './responses.ts'

/** A user's own usage: `/api/sms/quota/usage`. */
export function userUsageRoutes(server: FastifyInstance, { db }: RouteContext): void {
  server.withTypeProvider<TypeBoxTypeProvider>().get(
    '/usage',
    {
      schema: {
        ...operation('User', 'reportMyUsage', 'Read my usage over time'),
        querystring: UserUsageQuery,
        response: readResponses(Type.Ref('Usage#')),
      },
    },
    request => usageReport(db, request.query, userIdOf(request)),
  )
}

/** The usage of one user or of all users: `/api/sms/admin/quota/usage…`. */
export function adminUsageRoutes(server: FastifyInstance, { db }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()

  app.get(
    '/usage',
    {
      schema: {
        ...operation('Administrator', 'reportUsage', 'Read usage over time, of one user or of all'),
        querystring: AdminUsageQuery,
        response: readResponses(Type.Ref('Usage#')),
      },
    },
    request => usageReport(db, request.query, request.query.user_id),
  )

  app.get(
    '/usage/top',
    {
      schema: {
        ...operation('Administrator', 'listTopUsers', 'List the users with the most usage'),
        querystring: TopUsersQuery,
        response: readResponses(Type.Ref('TopUsers#')),
      },
    },
    request => topUsersReport(db, request.query),
  )
}
