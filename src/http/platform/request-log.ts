import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether machines call this route, thousands of times a second: its answers are logged together. */
    isForMachines?: boolean
  }
}

const SUMMARY_MS = 10_000

/**
 * Logs a line an answer, without what callers keep to themselves. Where answers are summarized, that line is for
 * debugging only, and every ten seconds one line tells how many there were.
 */
export function logRequests(app: FastifyInstance): void {
  const summary = createSummary()
  const tell = () => {
    const line = summary.take()
    if (line !== null) app.log.info(line, 'senders answered')
  }
  const telling = setInterval(tell, SUMMARY_MS).unref()
  app.addHook('onClose', async () => {
    clearInterval(telling)
    tell()
  })

  app.addHook('onResponse', (request, reply, done) => {
    if (request.routeOptions.config.isForMachines === true) {
      summary.add(reply.statusCode, reply.elapsedTime)
      if (isDebugging(app)) request.log.debug(lineOf(request, reply), 'answered')
    } else {
      request.log.info(lineOf(request, reply), 'answered')
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

/** Counts answers by status, and how long they took, since it was last taken. */
function createSummary() {
  let answers: Record<number, number> = {}
  let count = 0
  let totalMs = 0
  let mostMs = 0
  return {
    add(status: number, ms: number): void {
      answers[status] = (answers[status] ?? 0) + 1
      count++
      totalMs += ms
      mostMs = Math.max(mostMs, ms)
    },
    /** Null if there were none. */
    take() {
      if (count === 0) return null
      const line = { answers, ms_mean: round(totalMs / count), ms_max: round(mostMs) }
      answers = {}
      count = totalMs = mostMs = 0
      return line
    },
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
