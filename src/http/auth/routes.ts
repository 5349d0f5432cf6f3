import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { NoQuery } from '../../contract/quotas.ts'
import { formatTimestamp } from '../../domain/time.ts'
import type { ServerParts } from '../context.ts'
import { responses } from '../platform/openapi.ts'
import { principalOf } from './guard.ts'

/** `/api/sms/me`: which claim holds the user id and what roles are called is configured, so only the service can tell. */
export function callerRoute(app: FastifyInstance, { authenticator }: Pick<ServerParts, 'authenticator'>): void {
  app.get(
    '',
    {
      schema: {
        operationId: 'whoAmI',
        summary: 'Read whom my token speaks for',
        description: 'For any good token.',
        tags: ['User'],
        querystring: NoQuery,
        response: responses({ 200: Type.Ref('Caller#') }, ['invalid_request']),
      },
    },
    async request => {
      const principal = principalOf(request)
      return {
        subject: principal.subject,
        user_id: principal.userId,
        roles: authenticator.rolesOf(principal),
        expires_at: formatTimestamp(principal.expiresAt),
      }
    },
  )
}
