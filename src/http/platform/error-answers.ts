/** Answers errors with problems. */
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ERRORS, Problem } from '../../errors.ts'
import { SECURITY_HEADERS } from './headers.ts'
import { isWithinLongBody } from './long-bodies.ts'
import { CLIENT_FAULTS, problemBody, problemOf } from './problems.ts'
import type { RequestLog } from './request-log.ts'
import { type SlowDown, waitPaused } from './slow-down.ts'

/** An error of a connection, with what was received of the request. */
type BrokenRequest = NodeJS.ErrnoException & { readonly rawPacket?: unknown }

export interface ErrorAnswers {
  /** Answers a request with a problem. For a path that cannot be decoded, this runs before all hooks. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): unknown
  /** Answers a request that is not valid HTTP, and closes the connection. */
  answerBroken(error: BrokenRequest, socket: Socket): void
}

/** @param bodyLimit of routes that have none of their own, in bytes */
export function createErrorAnswers(requestLog: RequestLog, slowDown: SlowDown, bodyLimit: number): ErrorAnswers {
  return {
    answer(error, request, reply) {
      const problem = problemOf(error, request.routeOptions.bodyLimit ?? bodyLimit)
      request.problem = problem
      const { status } = ERRORS[problem.code]
      if (status >= 500) requestLog.failed(request, problem, error)
      const send = () =>
        reply
          .code(status)
          .headers({ ...SECURITY_HEADERS, ...problem.headers, 'x-request-id': request.id })
          .header('content-type', 'application/problem+json; charset=utf-8')
          .send(problemBody(problem, request.id))
      const isRefusal = CLIENT_FAULTS.has(problem.code) || (request.is404 && problem.code === 'not_found')
      return isRefusal && slowDown.isAbove(request) ? waitPaused(request.raw, true).then(send) : send()
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
