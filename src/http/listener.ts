import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { Problem } from '../errors.ts'
import type { TakePlainCall } from './door/connection.ts'
import { createDoor } from './door/door.ts'
import { clientRequestId, repeatedHeader, SECURITY_HEADERS, STRICT_TLS } from './platform/headers.ts'
import { boundPipelining } from './platform/pipelining.ts'
import { problemBody } from './platform/problems.ts'
import { createReadiness, type Readiness } from './platform/readiness.ts'
import { type SlowDown, waitPaused } from './platform/slow-down.ts'
import type { Certificate } from './tls.ts'

/** How long a stop waits for clients that have not sent their request or read their response completely. */
export const DRAIN_MS = 5_000

/** A client that sends slowly holds its connection for a limited time. Times are in milliseconds. */
const SERVER_OPTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 1_000,
}

const TLS_SERVER_OPTIONS = { ...SERVER_OPTIONS, handshakeTimeout: 10_000 }

/** How long a client may neither read the response nor send the request that it has begun, in milliseconds. */
const STALL_MS = 30_000

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/**
 * The server that owns the port. It listens before the other parts have started, so that health is answered from the
 * beginning. It answers `/livez` and `/readyz` itself, without the framework: a flood of them must not delay senders.
 */
export interface HttpListener {
  readonly server: Server
  readonly readiness: Readiness
  /** The certificate of new connections; undefined without TLS. */
  readonly certificate: Certificate | undefined
  /** New connections get this certificate, open ones keep theirs. Without TLS it does nothing. */
  renewCertificate(certificate: Certificate): void
  /** Opens the port. @throws Error of the operating system, with `syscall` `listen` */
  listen(host: string, port: number): Promise<void>
  /**
   * The handler of all other requests. Until then they are answered 503. From then on, floods of health checks are slowed down.
   *
   * @param take plain calls of senders, past Node.js and the handler
   */
  serve(handler: Handler, slowDown: SlowDown, take?: TakePlainCall): void
  /**
   * Closes the port and answers the requests under way. Clients that stop sending or reading do not delay it beyond
   * `DRAIN_MS`. Closing again does nothing.
   */
  close(): Promise<void>
}

/** @param certificate of a server that speaks HTTPS; without it, it speaks HTTP */
export function createListener(
  certificate?: Certificate,
  { stallMs = STALL_MS, drainMs = DRAIN_MS } = {},
): HttpListener {
  const readiness = createReadiness()
  let handler: Handler | undefined
  let current = certificate
  let slowDown: SlowDown | undefined

  async function answerHealth(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (slowDown?.isHealthCheckAbove(request) === true) await waitPaused(request)
    answer(request, response, request.url === '/livez' ? null : readiness.reason)
  }

  const handle = boundPipelining((request, response) => {
    if (certificate !== undefined)
      for (const [name, value] of Object.entries(STRICT_TLS)) response.setHeader(name, value)
    if (isHealthCheck(request)) return answerHealth(request, response)
    if (handler === undefined) return answer(request, response, readiness.reason ?? 'the service is starting')
    handler(request, response)
  })

  const tlsServer = certificate && createTlsServer({ ...TLS_SERVER_OPTIONS, ...certificate.options }, handle)
  const server: Server = tlsServer ?? createServer(SERVER_OPTIONS, handle)
  server.setTimeout(stallMs, endStalled)
  const door = createDoor(server, { idleMs: SERVER_OPTIONS.keepAliveTimeout, stallMs, isTls: tlsServer !== undefined })

  return {
    server,
    readiness,
    get certificate() {
      return current
    },
    renewCertificate(next) {
      if (tlsServer === undefined) return
      current = next
      tlsServer.setSecureContext(next.options)
    },
    async listen(host, port) {
      server.listen({ host, port })
      await once(server, 'listening')
    },
    serve(next, slowing, take) {
      handler = next
      slowDown = slowing
      if (take !== undefined) door.open(take)
    },
    close: () => drain(server, drainMs),
  }
}

/** The URL of a listening server, for programs on this machine, and whether it listens beyond this machine. */
export function addressOf({ server, certificate }: HttpListener): { url: string; isLoopback: boolean } {
  const { address, port, family } = server.address() as AddressInfo
  const isAnywhere = address === '0.0.0.0' || address === '::'
  const host = isAnywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
  const scheme = certificate === undefined ? 'http' : 'https'
  return { url: `${scheme}://${host}:${port}`, isLoopback: address === '::1' || address.startsWith('127.') }
}

/**
 * Ends a connection that was silent for its time limit, if its client is the cause: it does not read what it asked for. A connection
 * on which the service has yet to answer, such as a long poll, stays.
 */
function endStalled(this: Server, socket: Socket): void {
  // Between requests, Node.js sets another limit.
  const isIdle = socket.timeout !== this.timeout
  if (isIdle || socket.writableLength > 0) socket.destroy()
}

/** One with a header twice goes to the handler, which refuses it. */
function isHealthCheck({ method, url, rawHeaders }: IncomingMessage): boolean {
  const isHealth = (url === '/readyz' || url === '/livez') && (method === 'GET' || method === 'HEAD')
  return isHealth && repeatedHeader(rawHeaders) === undefined
}

/** Answers 200, or 503 with the reason. */
function answer(request: IncomingMessage, response: ServerResponse, reason: string | null): void {
  const requestId = clientRequestId(request.headers) ?? randomUUID()
  const problem = reason === null ? null : new Problem('unavailable', reason)
  const body = problem === null ? '{"status":"ok"}' : JSON.stringify(problemBody(problem, requestId))
  response.writeHead(problem === null ? 200 : 503, {
    ...SECURITY_HEADERS,
    ...problem?.headers,
    'x-request-id': requestId,
    'content-type': `application/${problem === null ? 'json' : 'problem+json'}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

async function drain(server: Server, drainMs: number): Promise<void> {
  if (!server.listening) return
  // Connections that clients keep alive become idle one by one, as their last requests are answered.
  const closingIdle = setInterval(() => server.closeIdleConnections(), 50)
  const closingAll = setTimeout(() => server.closeAllConnections(), drainMs)
  try {
    await new Promise(resolve => server.close(resolve))
  } finally {
    clearInterval(closingIdle)
    clearTimeout(closingAll)
  }
}
