/** Exempts bodies that are read as slowly as they are processed from the server's limit on the time of a request. */
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** How long such a connection may be silent in both directions, in milliseconds. */
const IDLE_MS = 30_000

const exempt = new WeakSet<Socket>()

/** Lets the body of a request take longer than `requestTimeout`, as long as its connection is not silent for `IDLE_MS`. */
export function allowLongBody(request: IncomingMessage): void {
  const { socket } = request
  // Requests that tests inject have no connection.
  if (!(socket instanceof Socket)) return
  exempt.add(socket)
  const end = () => socket.destroy()
  socket.setTimeout(IDLE_MS, end)
  request.once('close', () => {
    exempt.delete(socket)
    socket.off('timeout', end)
  })
}

/** Whether an error of a connection is the time limit that one of its requests is exempt from. Node.js reports it once. */
export function isWithinLongBody({ code }: NodeJS.ErrnoException, socket: Socket): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && exempt.has(socket)
}
