/** The log of requests, for operation and forensics. docs/logging.md says what it holds, and what it never does. */
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ClientAddressMode } from '../../config/variables.ts'
import { isUnavailable } from '../../db/connection/database.ts'
import { reasonOf, sqlStateOf } from '../../db/connection/errors.ts'
import { EngineFailure } from '../../engine/completion.ts'
import type { ErrorCode, Problem } from '../../errors.ts'
import { type AddressOf, createAddressOf, networkOf } from './client-address.ts'
import { CLIENT_FAULTS } from './problems.ts'

declare module 'fastify' {
  interface FastifyInstance {
    requestLog: RequestLog
  }
  interface FastifyContextConfig {
    /** Whether machines call this route, thousands of times a second: its responses are logged as a summary. */
    isForMachines?: boolean
  }
  interface FastifyRequest {
    /** The problem that answers this request; null if it is answered otherwise. */
    problem: Problem | null
  }
}

/** A request that was answered, as far as the log tells of it. */
export interface AnsweredRequest {
  readonly id: string
  readonly method: string
  readonly route: string | null
  readonly isForMachines: boolean
  readonly raw: Parameters<AddressOf>[0]
  readonly principal: { readonly subject: string } | null
  readonly status: number
  readonly ms: number
  /** The problem that answered it; null if it was answered otherwise. */
  readonly problem: Problem | null
  readonly traceparent: string | undefined
}

/** Says of each answer what it was. */
export type ReportAnswer = (request: AnsweredRequest) => void

export interface RequestLog {
  answered(request: AnsweredRequest): void
  /** Logs why a request, or an operation of a batch, failed that is not at fault itself. */
  failed(request: Pick<AnsweredRequest, 'id' | 'route'>, problem: Problem, error: unknown): void
  /** Logs that work whose answer had begun was given up. @param what names the work */
  stopped(request: FastifyRequest, what: string, error: unknown): void
  /** Logs a request that is not valid HTTP. @param reason the code of the parser's error */
  broken(address: string | undefined, reason: string | undefined): void
  /** Logs what was counted since the last call. */
  summarize(): void
}

export interface RequestLogOptions {
  log: FastifyBaseLogger
  clientAddress: ClientAddressMode
  addressOf?: AddressOf
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
}

const SUMMARY_MS = 10_000

/** Lines a second and kind. A flood of requests that are cheap to refuse must not become a flood of lines. */
const MAX_LINES_PER_SECOND = 10

/** Refusals that say that a sender is misconfigured or not who it should be. The others are results, such as a 409. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([...CLIENT_FAULTS, 'overloaded', 'unavailable', 'internal'])

/**
 * One line per response, without tokens, queries, bodies or the ids in paths. Routes for machines get one summary line every
 * ten seconds, and a line per refusal. Refusals, and answers to calls without a token, are sampled.
 */
export function createRequestLog({
  log,
  clientAddress,
  addressOf = createAddressOf(null),
  now = () => performance.now(),
}: RequestLogOptions): RequestLog {
  const summary = createSummary()
  const answers = createSampler(now)
  const failures = createSampler(now)
  const outages = createSampler(now, 1)
  const shown = (address: string | undefined) => shownAddress(address, clientAddress)
  const clientShown = ({ raw }: AnsweredRequest) => shown(addressOf(raw))
  return {
    answered(request) {
      const { problem, principal } = request
      if (request.isForMachines) {
        summary.add(request.status, request.ms)
        const isRefusal = problem !== null && REFUSALS.has(problem.code)
        if (!isRefusal && isDebugging(log)) log.debug(lineOf(request, clientShown), 'http: request answered')
        if (!isRefusal) return
      }
      const isSampled = problem !== null || principal === null
      if (isSampled && !answers.mayLog(problem?.code ?? 'without_token')) return
      log.info(lineOf(request, clientShown), 'http: request answered')
    },
    failed({ id, route }, problem, error) {
      const cause = problem.cause ?? error
      if (problem.code === 'internal' && failures.mayLog('internal'))
        log.error({ request_id: id, err: cause }, 'http: request failed')
      // The cause of an outage is in no other line: which disk is full, which server is away, which lock is held.
      if (problem.code === 'unavailable' && outages.mayLog('unavailable'))
        log.warn({ request_id: id, route, reason: causeOf(cause) }, 'http: call not served')
    },
    stopped(request, what, error) {
      if (isUnavailable(error)) request.log.warn({ reason: causeOf(error) }, `http: ${what} stopped`)
      else request.log.error({ err: error }, `http: ${what} stopped`)
    },
    broken(address, reason) {
      if (answers.mayLog('broken')) log.info({ client: shown(address), reason }, 'http: broken request refused')
    },
    summarize() {
      const line = summary.take()
      if (line !== null) log.info(line, 'http: sender requests answered')
      const leftOut = answers.takeLeftOut()
      if (leftOut !== null) log.warn({ left_out: leftOut }, 'http: lines left out')
    },
  }
}

/** Logs the summaries, and has all responses of the server reported. */
export function logRequests(app: FastifyInstance, requestLog: RequestLog, report: ReportAnswer): void {
  const timer = setInterval(() => requestLog.summarize(), SUMMARY_MS).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    requestLog.summarize()
  })
  app.decorate('requestLog', requestLog)
  app.decorateRequest('problem', null)
  app.addHook('onRequest', (request, _reply, done) => {
    // Node.js keeps the address of a socket from its first use on. Without one, it is lost when the client disconnects.
    void request.raw.socket.remoteAddress
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    report(answeredRequest(request, reply))
    done()
  })
}

/** A request of the framework, as the log takes it. */
export const loggedRequest = ({ id, routeOptions }: FastifyRequest) => ({ id, route: routeOptions.url ?? null })

function answeredRequest(request: FastifyRequest, reply: FastifyReply): AnsweredRequest {
  const { method, raw, principal, problem } = request
  const isForMachines = request.routeOptions.config?.isForMachines === true
  const { traceparent } = request.headers
  const answer = { status: reply.statusCode, ms: reply.elapsedTime, problem }
  const trace = { traceparent: typeof traceparent === 'string' ? traceparent : undefined }
  return { ...loggedRequest(request), method, isForMachines, raw, principal, ...answer, ...trace }
}

function lineOf(request: AnsweredRequest, shown: (request: AnsweredRequest) => string | undefined) {
  const { id, method, route, status, ms, principal, problem } = request
  return {
    request_id: id,
    method,
    route,
    status,
    ms: round(ms),
    subject: principal?.subject,
    client: shown(request),
    code: problem?.code,
    reason: problem !== null && 'reason' in problem ? problem.reason : undefined,
  }
}

/** What the database says, behind the engine's word for it. */
function causeOf(error: unknown): string {
  if (error instanceof EngineFailure && error.cause !== undefined) return causeOf(error.cause)
  const state = sqlStateOf(error)
  return state === undefined ? reasonOf(error) : `${reasonOf(error)} (${state})`
}

/** Pino leaves undefined fields out. */
function shownAddress(address: string | undefined, mode: ClientAddressMode): string | undefined {
  if (mode === 'off' || address === undefined) return undefined
  return mode === 'prefix' ? networkOf(address) : address
}

function isDebugging(log: FastifyBaseLogger): boolean {
  return log.level === 'debug' || log.level === 'trace'
}

/** Admits this many lines of a kind in each second, and counts those that it leaves out. Kinds are the codes of errors. */
function createSampler(now: () => number, linesPerSecond = MAX_LINES_PER_SECOND) {
  let second = 0
  const logged = new Map<string, number>()
  let leftOut = new Map<string, number>()
  return {
    mayLog(kind: string): boolean {
      const current = Math.floor(now() / 1_000)
      if (current !== second) logged.clear()
      second = current
      const counts = (logged.get(kind) ?? 0) < linesPerSecond ? logged : leftOut
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      return counts === logged
    },
    /** How many lines were left out since the last call, by kind; null if none. */
    takeLeftOut(): Record<string, number> | null {
      if (leftOut.size === 0) return null
      const counts = Object.fromEntries(leftOut)
      leftOut = new Map()
      return counts
    },
  }
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
