import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { SearchQuery } from '../../contract/search.ts'
import { invalidRequest } from '../../errors.ts'
import type { RouteContext } from '../context.ts'
import { operation, readResponses } from '../platform/openapi.ts'
import { resultOf } from './responses.ts'

/** Search over all users: `/api/sms/admin/search`. */
export function searchRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  server.withTypeProvider<TypeBoxTypeProvider>().get(
    '',
    {
      schema: {
        ...operation(
          'Administrator',
          'search',
          'Search',
          'Finds users, quotas, reservations and webhooks by the beginning of an id, a reference or a name.',
        ),
        querystring: SearchQuery,
        response: readResponses(Type.Ref('SearchResult#')),
      },
    },
    request => {
      const text = request.query.q.trim()
      if (text === '') throw invalidRequest([{ path: 'q', message: 'must be more than spaces' }])
      return resultOf(db, text, now())
    },
  )
}
