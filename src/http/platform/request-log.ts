import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether machines call this route, thousands of times a second: its responses are logged as a summary. */
    isForMachines?: boolean
  }
}

const SUMMARY_MS = 10_000

/**
 * Logs one line per response, without tokens, queries, bodies or addresses. Routes for machines get one summary line
 * every ten seconds instead; their single lines are logged at level debug.
 */
export function logRequests(app: FastifyInstance): void {
  const summary = createSummary()
  const logSummary = () => {
    const line = summary.take()
    if (line !== null) app.log.info(line, 'http: sender requests answered')
  }
  const timer = setInterval(logSummary, SUMMARY_MS).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    logSummary()
  })

  app.addHook('onResponse', (request, reply, done) => {
    if (request.routeOptions.config.isForMachines === true) {
      summary.add(reply.statusCode, reply.elapsedTime)
      if (isDebugging(app)) request.log.debug(lineOf(request, reply), 'http: request answered')
    } else {
      request.log.info(lineOf(request, reply), 'http: request answered')
    }
    done()
  })
}

function lineOf(request: FastifyRequest, reply: FastifyReply) {
  return {
    method: request.method,
    route: request.routeOptions.url ?? null,
    status: reply.statusCode,
    ms: round(reply.elapsedTime),
    subject: request.principal?.subject,
  }
}

function isDebugging(app: FastifyInstance): boolean {
  return app.log.level === 'debug' || app.log.level === 'trace'
}

/** Counts responses by status, and their duration, until they are taken. */
function createSummary() {
  let statuses: Record<number, number> = {}
  let count = 0
  let totalMs = 0
  let maxMs = 0
  return {
    add(status: number, ms: number): void {
      statuses[status] = (statuses[status] ?? 0) + 1
      count++
      totalMs += ms
      maxMs = Math.max(maxMs, ms)
    },
    /** Null if there was no response. */
    take() {
      if (count === 0) return null
      const line = { statuses, ms_mean: round(totalMs / count), ms_max: round(maxMs) }
      statuses = {}
      count = totalMs = maxMs = 0
      return line
    },
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
