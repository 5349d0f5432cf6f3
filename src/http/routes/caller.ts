import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { formatInstant } from '../../domain/time.ts'
import { principalOf } from '../access.ts'
import { NoQuery } from '../contract.ts'
import { answers } from '../openapi.ts'
import type { ServerParts } from '../server.ts'

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
        response: answers({ 200: Type.Ref('Caller#') }, ['invalid_request']),
      },
    },
    async request => {
      const principal = principalOf(request)
      return {
        subject: principal.subject,
        user_id: principal.userId,
        roles: authenticator.rolesOf(principal),
        expires_at: formatInstant(principal.expiresAt),
      }
    },
  )
}
