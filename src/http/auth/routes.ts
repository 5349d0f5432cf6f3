import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Caller } from '../../contract/caller.ts'
import { NoQuery } from '../../contract/schemas.ts'
import { formatTimestamp } from '../../domain/time.ts'
import { operation, responses } from '../platform/openapi.ts'
import { principalOf } from './guard.ts'

/**
 * `/api/sms/me`. The claim with the user id and the names of the roles are configured, so a client cannot read them from
 * the token itself.
 */
export function callerRoutes(app: FastifyInstance): void {
  app.get(
    '',
    {
      schema: {
        ...operation('User', 'whoAmI', 'Read who my token belongs to', 'For any valid token.'),
        querystring: NoQuery,
        response: responses({ 200: Type.Ref('Caller#') }, ['invalid_request']),
      },
    },
    async (request): Promise<Caller> => {
      const principal = principalOf(request)
      return {
        subject: principal.subject,
        user_id: principal.userId,
        roles: [...principal.roles],
        expires_at: formatTimestamp(principal.expiresAt),
      }
    },
  )
}
