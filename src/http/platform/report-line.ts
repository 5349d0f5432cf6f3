import type { FastifyInstance } from 'fastify'
import { MAX_PAGE_SIZE } from '../../domain/basics/bounds.ts'
import { rateLimited } from './rate-limiter.ts'
import { type Closing, whenClosed } from './when-closed.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether its calls can cost as much as a hundred others: they run a few at a time, and the others wait in a line. */
    isReport?: boolean
  }
}

/** The reply of a report, as far as the line looks at it. */
interface Report {
  raw: Closing
  request: { principal: { subject: string } | null }
}

/** Bounds how many reports run at a time in a process. Those above wait for their turn. */
export interface ReportLine {
  /**
   * Calls `start` when the report of a reply may run, at once if there is room. One whose connection closes leaves the line.
   * @throws Problem `rate_limited` if too many of its principal wait
   */
  enter(reply: Report, start: () => void): void
  /** The report of a reply is made: others may run. Its principal has room for the next one when it is sent. */
  made(reply: Report): void
}

/** What a principal may have at a time: a page of the console asks for a few at once, a program for those of many users. */
const MAX_RUNNING = 2
const MAX_WAITING = 100

/** Of all principals together: each has one of the connections to the database, of which there are ten by default. */
const MAX_MAKING = 4

/** A second is longer than most reports take. */
const RETRY_MS = 1_000

export function createReportLine(): ReportLine {
  /** How many each principal has running, or not sent yet. */
  const runningOf = new Map<string, number>()
  const making = new Set<Report>()
  let line: { reply: Report; start: () => void }[] = []

  function count(principal: string, reports: number): number {
    const running = (runningOf.get(principal) ?? 0) + reports
    if (running === 0) runningOf.delete(principal)
    else runningOf.set(principal, running)
    return running
  }

  function startNext(): void {
    while (making.size < MAX_MAKING) {
      const next = line.find(({ reply }) => count(principalOf(reply), 0) < MAX_RUNNING)
      if (next === undefined) return
      line = line.filter(waiting => waiting !== next)
      making.add(next.reply)
      count(principalOf(next.reply), 1)
      whenClosed(next.reply.raw, () => {
        making.delete(next.reply)
        count(principalOf(next.reply), -1)
        startNext()
      })
      next.start()
    }
  }

  return {
    enter(reply, start) {
      const principal = principalOf(reply)
      if (line.filter(waiting => principalOf(waiting.reply) === principal).length >= MAX_WAITING) {
        throw rateLimited(
          `At most ${MAX_RUNNING} reports of a principal run at a time, and ${MAX_WAITING} wait.`,
          RETRY_MS,
        )
      }
      line.push({ reply, start })
      startNext()
      if (making.has(reply)) return
      whenClosed(reply.raw, () => {
        line = line.filter(waiting => waiting.reply !== reply)
      })
    },
    made(reply) {
      if (making.delete(reply)) startNext()
    },
  }
}

const principalOf = ({ request }: Report): string => request.principal?.subject ?? ''

/** A page of more rows than this costs as much as a report. */
const LONG_PAGE = MAX_PAGE_SIZE / 2

function hasLongPage(query: unknown): boolean {
  return typeof query === 'object' && query !== null && 'page_size' in query && Number(query.page_size) > LONG_PAGE
}

/** The routes of a scope that are reports, and long pages of its lists, wait in the line, after their queries are validated. */
export function lineUpReports(app: FastifyInstance, line: ReportLine): void {
  app.addHook('preHandler', (request, reply, done) => {
    if (request.routeOptions.config.isReport === true || hasLongPage(request.query)) line.enter(reply, done)
    else done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    line.made(reply)
    done(null, payload)
  })
}
