/** Answers errors with problems. */
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ERRORS, Problem } from '../../errors.ts'
import { SECURITY_HEADERS } from './headers.ts'
import { isWithinLongBody } from './long-bodies.ts'
import { CLIENT_FAULTS, problemBody, problemOf } from './problems.ts'
import { loggedRequest, type RequestLog } from './request-log.ts'
import { type SlowDown, waitPaused } from './slow-down.ts'

/** An error of a connection, with what was received of the request. */
type BrokenRequest = NodeJS.ErrnoException & { readonly rawPacket?: unknown }

export interface ErrorAnswers {
  /** The problem that answers an error of a request, and what its answer waits for, if anything. Logs failures of the service. */
  judge(
    error: unknown,
    request: FailedRequest,
    bodyLimit: number,
  ): { problem: Problem; waiting: Promise<void> | undefined }
  /** Answers a request with a problem. For a path that cannot be decoded, this runs before all hooks. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): unknown
  /** Answers a request that is not valid HTTP, and closes the connection. */
  answerBroken(error: BrokenRequest, socket: Socket): void
}

type FailedRequest = Parameters<RequestLog['failed']>[0] & Parameters<SlowDown['isAbove']>[0] & { is404?: boolean }

export const problemHeaders = (problem: Problem, requestId: string) => ({
  ...SECURITY_HEADERS,
  ...problem.headers,
  'x-request-id': requestId,
  'content-type': 'application/problem+json; charset=utf-8',
})

/** @param bodyLimit of routes that have none of their own, in bytes */
export function createErrorAnswers(requestLog: RequestLog, slowDown: SlowDown, bodyLimit: number): ErrorAnswers {
  function judge(...[error, request, limit]: Parameters<ErrorAnswers['judge']>): ReturnType<ErrorAnswers['judge']> {
    const problem = problemOf(error, limit)
    if (ERRORS[problem.code].status >= 500) requestLog.failed(request, problem, error)
    const isRefusal = CLIENT_FAULTS.has(problem.code) || (request.is404 === true && problem.code === 'not_found')
    return { problem, waiting: isRefusal && slowDown.isAbove(request) ? waitPaused(request.raw, true) : undefined }
  }

  return {
    judge,
    answer(error, request, reply) {
      const { raw, principal, is404 } = request
      const limit = request.routeOptions.bodyLimit ?? bodyLimit
      const fault = isGone(error, reply) ? callerGone() : error
      const { problem, waiting } = judge(fault, { ...loggedRequest(request), raw, principal, is404 }, limit)
      request.problem = problem
      const send = () =>
        reply
          .code(ERRORS[problem.code].status)
          .headers(problemHeaders(problem, request.id))
          .send(problemBody(problem, request.id))
      return waiting === undefined ? send() : waiting.then(send)
    },
    answerBroken(error, socket) {
      if (error.code === 'ECONNRESET' || !socket.writable || isWithinLongBody(error, socket)) return
      if (hasAskedNothing(error, socket)) return void socket.destroy()
      requestLog.broken(socket.remoteAddress, error.code)
      if (slowDown.isBrokenAbove(socket.remoteAddress)) socket.destroy()
      else socket.end(brokenResponse(isHead(error)))
    },
  }
}

/** Whether an error says no more than that the caller has closed the connection: of a body on its way, or of an answer that is sent as it comes. */
function isGone(error: unknown, { raw }: FastifyReply): boolean {
  const { code, message } = error as Partial<NodeJS.ErrnoException>
  const isBroken = code === 'ERR_STREAM_PREMATURE_CLOSE' || (code === 'ECONNRESET' && message === 'aborted')
  return isBroken && (raw.closed || raw.req.destroyed)
}

const callerGone = () => new Problem('invalid_request', 'The connection was closed before the call was complete.')

/** Browsers open connections ahead, and would take what comes on such a one for the answer to their first request. */
const hasAskedNothing = ({ code }: BrokenRequest, socket: Socket) =>
  code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0

/** Whether the broken request asks for no body: what came after its headers would be taken for the next answer. */
const isHead = ({ rawPacket }: BrokenRequest) =>
  Buffer.isBuffer(rawPacket) && rawPacket.toString('latin1', 0, 5) === 'HEAD '

function brokenResponse(isWithoutBody: boolean): string {
  const requestId = randomUUID()
  const problem = new Problem(
    'invalid_request',
    'The request is not valid HTTP, its headers are too large, or it came too slowly.',
  )
  const body = JSON.stringify(problemBody(problem, requestId))
  const headers = {
    ...SECURITY_HEADERS,
    'x-request-id': requestId,
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 400 Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${isWithoutBody ? '' : body}`
}
