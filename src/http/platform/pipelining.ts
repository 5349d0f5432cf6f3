/**
 * Bounds the requests of a connection that wait for their answers. A client may send requests before it has the answers to earlier
 * ones, and Node.js hands over all that a read of 64 KiB holds at once: 1,700 small requests, which occupy the event loop and take
 * memory before a limit of calls or a slow reader can stop them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Twice what the load generator sends ahead. Proxies and usual clients send the next request after the answer. */
export const MAX_PIPELINED = 32

/** The requests of a connection without an answer. */
interface Requests {
  count: number
  /** One for all: every request comes through here. It looks for no socket, which a request loses when it is destroyed. */
  readonly countAnswer: () => void
}

const waiting = new WeakMap<Socket, Requests>()

/** A handler of requests. A connection with more than `MAX_PIPELINED` without an answer is closed, and the rest is not handled. */
export function boundPipelining(handler: Handler): Handler {
  return (request, response) => {
    const { socket } = request
    // What was read before the connection was closed still arrives here.
    if (socket.destroyed) return
    const requests = requestsOf(socket)
    if (requests.count >= MAX_PIPELINED) return closeCheaply(socket)
    requests.count += 1
    response.on('close', requests.countAnswer)
    handler(request, response)
  }
}

function requestsOf(socket: Socket): Requests {
  const known = waiting.get(socket)
  if (known !== undefined) return known
  const requests: Requests = {
    count: 0,
    countAnswer() {
      requests.count -= 1
    },
  }
  waiting.set(socket, requests)
  return requests
}

/**
 * Closes a connection that has up to two thousand requests. For each, Node.js makes an error while it emits `close`. Without their
 * stacks the whole takes half the time.
 */
function closeCheaply(socket: Socket): void {
  const { stackTraceLimit } = Error
  socket.prependOnceListener('close', () => {
    Error.stackTraceLimit = 0
  })
  socket.once('close', () => {
    Error.stackTraceLimit = stackTraceLimit
  })
  socket.destroy()
}
