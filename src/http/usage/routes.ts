import type { FastifyInstance } from 'fastify'
import { AdminUsageQuery, TopUsersQuery, UserUsageQuery } from '../../contract/usage.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { topUsersReport, usageReport } from './responses.ts'

/** A user's own usage: `/api/sms/quota/usage`. */
export function userUsageRoutes(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '/usage', {
    ...operation('User', 'reportMyUsage', 'Read my usage over time'),
    isReport: true,
    query: UserUsageQuery,
    answer: 'Usage',
    handler: request =>
      usageReport(db, request.query, userIdOf(request), rows => server.reads.chargeSummed(request, rows)),
  })
}

/** The usage of one user or of all users: `/api/sms/admin/quota/usage…`. */
export function adminUsageRoutes(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '/usage', {
    ...operation('Administrator', 'reportUsage', 'Read usage over time, of one user or of all'),
    isReport: true,
    query: AdminUsageQuery,
    answer: 'Usage',
    handler: request =>
      usageReport(db, request.query, request.query.user_id, rows => server.reads.chargeSummed(request, rows)),
  })

  get(server, '/usage/top', {
    ...operation('Administrator', 'listTopUsers', 'List the users with the most usage'),
    isReport: true,
    query: TopUsersQuery,
    answer: 'TopUsers',
    handler: request => topUsersReport(db, request.query),
  })
}
