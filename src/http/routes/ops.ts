import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { Problem } from '../../errors.ts'
import { problems } from '../openapi.ts'
import type { ServerParts } from '../server.ts'

/** What operators and their machines ask, without a token. */
export function opsRoutes(app: FastifyInstance, { readiness, metrics }: ServerParts): void {
  const tags = ['Operations']

  app.get(
    '/livez',
    {
      schema: {
        operationId: 'live',
        summary: 'Is the process alive?',
        description: 'Says nothing about the database: a restart would not bring that back.',
        tags,
        security: [],
        response: { 200: Type.Ref('Health#'), ...problems(['internal']) },
      },
    },
    async () => ({ status: 'ok' }),
  )

  app.get(
    '/readyz',
    {
      schema: {
        operationId: 'ready',
        summary: 'Can it serve?',
        description: 'Asks the database, compares the clocks, and says why it is not ready.',
        tags,
        security: [],
        response: { 200: Type.Ref('Health#'), ...problems(['internal', 'unavailable']) },
      },
    },
    async () => {
      const reasons = await readiness()
      if (reasons.length > 0) throw new Problem('unavailable', reasons.join('; '), { headers: { 'retry-after': '1' } })
      return { status: 'ok' }
    },
  )

  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'metrics',
        summary: 'Metrics for Prometheus',
        description: 'No label holds a user.',
        tags,
        security: [],
        response: { 200: { content: { 'text/plain': { schema: Type.String() } } }, ...problems(['internal']) },
      },
    },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()),
  )
}
