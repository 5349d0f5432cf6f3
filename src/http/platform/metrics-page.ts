/** What `/metrics` answers: bytes that are made at most once a second, once at a time, however many ask for them. */
import { createServer } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { ERRORS, Problem } from '../../errors.ts'
import type { Metrics } from '../../metrics.ts'
import { boundPipelining } from './pipelining.ts'
import { type SlowDown, slowDownCalls, waitPaused } from './slow-down.ts'

/** For how long a page answers further calls, in milliseconds. */
const FRESH_MS = 1_000

/** How long a client may neither send nor read, in milliseconds. */
const STALL_MS = 30_000

export interface MetricsPage {
  send(reply: FastifyReply): Promise<FastifyReply>
}

/** @param now milliseconds of a clock that never goes back */
export function createMetricsPage(
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  now: () => number = () => performance.now(),
): MetricsPage {
  let page: Promise<Buffer> | undefined
  let staleAt = Number.NEGATIVE_INFINITY
  let isMaking = false

  async function make(): Promise<Buffer> {
    isMaking = true
    try {
      return Buffer.from(await metrics.text())
    } catch (error) {
      page = undefined
      throw error
    } finally {
      isMaking = false
    }
  }

  return {
    async send(reply) {
      if (page === undefined || (!isMaking && now() >= staleAt)) {
        staleAt = now() + FRESH_MS
        page = make()
      }
      return reply.type(metrics.contentType).send(await page)
    },
  }
}

/** A server that answers only `/metrics`, on a port of its own. */
export function createMetricsServer(page: MetricsPage, slowDown: SlowDown): FastifyInstance {
  const app = Fastify({
    forceCloseConnections: true,
    serverFactory: handler => createServer(boundPipelining(handler)).setTimeout(STALL_MS),
  })
  slowDownCalls(app, slowDown)
  app.setErrorHandler(async (error, request, reply) => {
    if (!(error instanceof Problem)) throw error
    await waitPaused(request.raw, true)
    return reply.code(ERRORS[error.code].status).headers(error.headers).send(`${error.message}\n`)
  })
  app.get('/metrics', (_request, reply) => page.send(reply))
  return app
}
