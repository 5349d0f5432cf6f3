import type { FastifyInstance } from 'fastify'
import { SearchQuery } from '../../contract/search.ts'
import { invalidRequest } from '../../errors.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../platform/openapi.ts'
import { get } from '../platform/routes.ts'
import { resultOf } from './responses.ts'

/** Search over all users: `/api/sms/admin/search`. */
export function searchRoutes(server: FastifyInstance, { db, now }: RouteContext): void {
  get(server, '', {
    ...operation(
      'Administrator',
      'search',
      'Search',
      'Finds users, quotas, reservations, webhooks and plans by the beginning of an id, a reference or a name.',
    ),
    query: SearchQuery,
    answer: 'SearchResult',
    handler: request => {
      const text = request.query.q.trim()
      if (text === '') throw invalidRequest([{ path: 'q', message: 'must be more than spaces' }])
      return resultOf(db, text, now())
    },
  })
}
