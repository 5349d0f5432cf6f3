import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Caller } from '../../contract/caller.ts'
import { NamesQuery } from '../../contract/names.ts'
import { NoQuery } from '../../contract/schemas.ts'
import { namesOf } from '../../db/users/principal-names.ts'
import { formatTimestamp } from '../../domain/time/time.ts'
import { isNameOfService } from '../../domain/users/principal-name.ts'
import type { Principal } from '../auth/claims.ts'
import { principalOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { operation, responses } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'

/**
 * `/api/sms/me`. The claim with the user id and the names of the roles are configured, so a client cannot read them from
 * the token itself.
 */
export function callerRoutes(server: FastifyInstance, { settings }: RouteContext): void {
  server.get(
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
        name: principal.name,
        user_id: principal.userId,
        user_ref: principal.userRef,
        roles: [...principal.roles],
        adjust_limit: adjustLimitOf(principal, settings.supportAdjustLimit),
        expires_at: formatTimestamp(principal.expiresAt),
      }
    },
  )
}

/** The names of principals: `/api/sms/admin/names`. */
export function nameRoutes(server: FastifyInstance, { db }: RouteContext): void {
  get(server, '', {
    ...operation(
      'Administrator',
      'listNames',
      'Read the names of actors and senders',
      'The `name` of each subject: the one in its newest token, of the tokens with a name and a role. It is stored shortly after the token is first used. Nothing is decided by it. Subjects without a name are left out.',
    ),
    query: NamesQuery,
    answer: 'PrincipalNames',
    handler: async request => {
      const items = await namesOf(db, request.query.subject)
      // Earlier versions stored names that look like the service's.
      return { items: items.filter(({ name }) => !isNameOfService(name)) }
    },
  })
}

/** The most units of one adjustment; null if nothing bounds it. @param bound of tokens that may adjust but not change */
function adjustLimitOf({ permissions }: Principal, bound: number): number | null {
  if (permissions.has('change')) return null
  return permissions.has('adjust') ? bound : 0
}
