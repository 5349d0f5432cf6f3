import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import Type from 'typebox'
import { Problem } from '../../errors.ts'
import type { Metrics } from '../../metrics.ts'
import type { ServerParts } from '../context.ts'
import { problems } from '../platform/openapi.ts'

/** What operators and their machines ask, without a token. */
export function opsRoutes(app: FastifyInstance, { readiness, metrics, servesMetrics }: ServerParts): void {
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

  if (!servesMetrics) return
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
    (_request, reply) => sendMetrics(metrics, reply),
  )
}

/** A server that answers nothing but `/metrics`, for a port of its own. */
export function createMetricsServer(metrics: Metrics): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true })
  app.get('/metrics', (_request, reply) => sendMetrics(metrics, reply))
  return app
}

async function sendMetrics(metrics: Metrics, reply: FastifyReply): Promise<FastifyReply> {
  return reply.type(metrics.contentType).send(await metrics.text())
}
