import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AdminDenialsQuery, DenialParams, UserDenialsQuery } from '../../contract/denials.ts'
import { NoQuery } from '../../contract/schemas.ts'
import { userIdOf } from '../auth/guard.ts'
import type { RouteContext } from '../context.ts'
import { operation, readResponses } from '../platform/openapi.ts'
import { denialDetail, denialPage } from './responses.ts'

const LISTED =
  'Denied reserves and consumes, newest first; checks are not logged. Denials beyond the bounds of the log are counted in `skipped`. Kept for 7 days, unless `DENIAL_RETENTION_DAYS` says otherwise.'

/** A user's own denials: `/api/sms/quota/denials…`. */
export function userDenialRoutes(server: FastifyInstance, { db }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()

  app.get(
    '/denials',
    {
      schema: {
        ...operation('User', 'listMyDenials', 'List my denied messages', LISTED),
        querystring: UserDenialsQuery,
        response: readResponses(Type.Ref('DenialPage#')),
      },
    },
    request => denialPage(db, request.query, { role: 'user', userId: userIdOf(request) }),
  )

  app.get(
    '/denials/:denial_id',
    {
      schema: {
        ...operation('User', 'getMyDenial', 'Read why a message of mine was denied'),
        params: DenialParams,
        querystring: NoQuery,
        response: readResponses(Type.Ref('DenialDetail#'), ['not_found']),
      },
    },
    request => denialDetail(db, request.params.denial_id, { role: 'user', userId: userIdOf(request) }),
  )
}

/** The denials of all users: `/api/sms/admin/denials…`. */
export function adminDenialRoutes(server: FastifyInstance, { db }: RouteContext): void {
  const app = server.withTypeProvider<TypeBoxTypeProvider>()

  app.get(
    '',
    {
      schema: {
        ...operation('Administrator', 'listDenials', 'List denied messages', LISTED),
        querystring: AdminDenialsQuery,
        response: readResponses(Type.Ref('DenialPage#')),
      },
    },
    request => denialPage(db, request.query, { role: 'admin' }),
  )

  app.get(
    '/:denial_id',
    {
      schema: {
        ...operation('Administrator', 'getDenial', 'Read why a message was denied'),
        params: DenialParams,
        querystring: NoQuery,
        response: readResponses(Type.Ref('DenialDetail#'), ['not_found']),
      },
    },
    request => denialDetail(db, request.params.denial_id, { role: 'admin' }),
  )
}
