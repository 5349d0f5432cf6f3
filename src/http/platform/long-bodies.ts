/** Bodies that are read as slowly as they are processed: no limit on the whole time of the request, but one on the client's. */
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/**
 * What a client has to send in the time in which the service waits for it, in bytes: a single byte now and then would hold a slot for
 * ever.
 */
const MIN_BYTES = 1_024

const exempt = new WeakSet<Socket>()

/**
 * Reads the body of a request, which may take longer than `requestTimeout`. The connection is closed if the service has waited
 * `stallMs` for the client and got less than `MIN_BYTES` meanwhile. The time in which the body is processed does not count.
 */
export async function* readLongBody(
  request: IncomingMessage,
  body: AsyncIterable<Uint8Array>,
  stallMs: number,
): AsyncGenerator<Uint8Array, void> {
  const { socket } = request
  // Requests that tests inject have no connection.
  if (socket instanceof Socket) {
    exempt.add(socket)
    request.once('close', () => exempt.delete(socket))
  }
  let leftMs = stallMs
  let bytes = 0
  let startedAt = 0
  let timer: NodeJS.Timeout | undefined
  const waitForClient = () => {
    startedAt = performance.now()
    timer = setTimeout(() => socket.destroy(), Math.max(0, leftMs))
  }
  try {
    waitForClient()
    for await (const chunk of body) {
      clearTimeout(timer)
      leftMs -= performance.now() - startedAt
      bytes += chunk.length
      if (bytes >= MIN_BYTES) {
        leftMs = stallMs
        bytes = 0
      }
      yield chunk
      waitForClient()
    }
  } finally {
    clearTimeout(timer)
    // Node.js takes it from a request whose body is left early. The log and the metrics of the answer come later.
    request.socket = socket
  }
}

/** Whether an error of a connection is the time limit that one of its requests is exempt from. Node.js reports it once. */
export function isWithinLongBody({ code }: NodeJS.ErrnoException, socket: Socket): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && exempt.has(socket)
}
