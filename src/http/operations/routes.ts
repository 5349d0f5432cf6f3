import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { Problem } from '../../errors.ts'
import type { ServerParts } from '../context.ts'
import { operation, problems } from '../platform/openapi.ts'

/**
 * Health and metrics, without a token: `/livez`, `/readyz`, `/metrics`. The server that owns the port answers health
 * itself, with the same results; the routes are for the OpenAPI document.
 */
export function operationsRoutes(app: FastifyInstance, { listener, metricsPage }: ServerParts): void {
  app.get(
    '/livez',
    {
      schema: {
        ...operation(
          'Operations',
          'live',
          'Is the process alive?',
          'Answers from the start of the process on. Does not check the database, since a restart of the service would not repair it.',
        ),
        security: [],
        response: { 200: Type.Ref('Health#'), ...problems(['invalid_request', 'internal', 'rate_limited']) },
      },
    },
    async () => ({ status: 'ok' }),
  )

  app.get(
    '/readyz',
    {
      schema: {
        ...operation(
          'Operations',
          'ready',
          'Is the service ready?',
          'Answers the latest of the checks that the service makes once a second: the database answers, can be written and has room, and the clocks agree. `detail` says why it is not ready.',
        ),
        security: [],
        response: {
          200: Type.Ref('Health#'),
          ...problems(['invalid_request', 'internal', 'rate_limited', 'unavailable']),
        },
      },
    },
    async () => {
      const { reason } = listener.readiness
      if (reason !== null) throw new Problem('unavailable', reason)
      return { status: 'ok' }
    },
  )

  if (metricsPage === null) return
  app.get(
    '/metrics',
    {
      schema: {
        ...operation('Operations', 'metrics', 'Metrics for Prometheus', 'No label names a user.'),
        security: [],
        response: {
          200: { content: { 'text/plain': { schema: Type.String() } } },
          ...problems(['invalid_request', 'internal', 'rate_limited']),
        },
      },
    },
    (_request, reply) => metricsPage.send(reply),
  )
}
