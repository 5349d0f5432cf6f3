/**
 * The door: reads the plain calls of senders on the connections of a server of Node.js, at a third of what its own reader and the
 * framework cost, and leaves all other requests to that server, with untouched bytes.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type DoorConnection, type DoorParts, readConnection, type TakePlainCall } from './connection.ts'

export interface Door {
  /** From then on, plain calls of new connections are taken. */
  open(take: TakePlainCall): void
}

/** How often connections are looked at, in milliseconds. */
const CHECK_MS = 1_000

/** @param limits in milliseconds: of connections between two requests, and of those that do not take their answers */
export function createDoor(
  server: Server,
  { idleMs, stallMs, isTls }: { idleMs: number; stallMs: number; isTls: boolean },
): Door {
  const event = isTls ? 'secureConnection' : 'connection'
  const [adopt] = server.listeners(event)
  if (adopt === undefined) throw new TypeError('the server takes no connections')
  const connections = new Set<DoorConnection>()
  let waiting: DoorConnection[] = []
  let ready: DoorConnection[] = []
  let take: TakePlainCall | undefined

  function turns(): void {
    const round = waiting
    waiting = []
    for (const connection of round) connection.turn()
  }

  function flush(): void {
    const round = ready
    ready = []
    for (const connection of round) connection.flush()
  }

  const parts = {
    take: (...call: Parameters<TakePlainCall>) => take?.(...call) ?? false,
    heldBytes: 0,
    isClosing: false as boolean,
    keepAlive: `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(idleMs / 1_000)}\r\n`,
    turnLater(connection: DoorConnection) {
      if (waiting.push(connection) === 1) setImmediate(turns)
    },
    flushLater(connection: DoorConnection) {
      if (ready.push(connection) === 1) process.nextTick(flush)
    },
    adopt: (socket: Socket) => void adopt.call(server, socket),
    forget: (connection: DoorConnection) => void connections.delete(connection),
  } satisfies DoorParts

  server.removeListener(event, adopt as () => void)
  server.on(event, (socket: Socket) => {
    if (take === undefined) parts.adopt(socket)
    else connections.add(readConnection(socket, parts))
  })
  const limits = { slowMs: CHECK_MS, idleMs, stallMs }
  const timer = setInterval(() => {
    const now = performance.now()
    for (const connection of connections) connection.check(now, limits)
  }, CHECK_MS).unref()
  server.on('close', () => clearInterval(timer))

  // Node.js does the same for its own connections there.
  const { close, closeAllConnections } = server
  server.close = done => {
    parts.isClosing = true
    for (const connection of connections) connection.close()
    return close.call(server, done)
  }
  server.closeAllConnections = () => {
    for (const { socket } of connections) socket.destroy()
    closeAllConnections.call(server)
  }

  return {
    open(next) {
      take = next
    },
  }
}
