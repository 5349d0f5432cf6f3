/** A proxy between an engine and its database that loses connections on command. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { whenDone } from './cleanup.ts'

/** A batch whose sender has lost the connection and which the server has not received, or not executed, in full. */
interface Stray {
  /** Delivers the batch, and resolves when the server has answered or closed the connection. */
  arrive(): Promise<void>
}

export interface Network {
  /** The URL of the database through this proxy. */
  readonly url: string
  /** Ends the next session during its setup, before its first batch. */
  loseNextSession(): { lost: Promise<void> }
  /** Never delivers the setup of the next session, and keeps its connection open. */
  silenceNextSession(): { silenced: Promise<void> }
  /** Ends the next session with a FATAL error that arrives together with the last answer of its setup. */
  endNextSessionAfterSetup(): { ended: Promise<void> }
  /** Lets the next commit succeed and loses its confirmation with the connection. */
  loseNextConfirmation(): { lost: Promise<void> }
  /**
   * Keeps back the next batch with a commit, and ends its sender's connection. Here and in `watchNextCommit` the service
   * cannot end the session of the lost connection, as if its connections led to another server from then on.
   */
  strandNextCommit(): Promise<Stray>
  /** Delivers the next batch with a commit; `disconnect` ends the sender's connection but not the server's. */
  watchNextCommit(): Promise<{ disconnect(): Stray }>
  /**
   * The other end of the connection with the next commit disappears, as when a machine loses its power: from then on
   * nothing is delivered in either direction, and neither end learns that the other has closed the connection. Of the
   * batch with the commit, the server gets nothing, the first half, or all.
   */
  swallowNextCommit(delivered: 'nothing' | 'half' | 'all'): { swallowed: Promise<void> }
  /** The other end of all connections that are open now disappears in that way. */
  swallowAll(): void
  /** Ends all connections, and every new one, until `restore`. */
  cut(): void
  restore(): void
}

type Trap = (chunk: Buffer, client: Socket, database: Socket) => void

/** The statement's name in a bind message. */
const COMMIT = '\0commit\0'
/** A function that the first statement of every session calls. */
const SETTING_UP = 'set_config'
/** The setting that a session's setup changes last. */
const SETUP_ENDS = 'client_connection_check_interval'

/** What ends the session of a lost connection, and what takes its place where it must not. */
const ENDING = 'pg_terminate_backend(lost.pid)'
const NOT_ENDING = 'false'.padEnd(ENDING.length)

/** What a server sends before it closes a connection (`ErrorResponse`). */
const FATAL = errorResponse({
  S: 'FATAL',
  V: 'FATAL',
  C: '57P01',
  M: 'terminating connection due to administrator command',
})

export function errorResponse(fields: Record<string, string>): Buffer {
  const body = `${Object.entries(fields)
    .map(([code, value]) => `${code}${value}\0`)
    .join('')}\0`
  const header = Buffer.alloc(5)
  header.write('E')
  header.writeInt32BE(4 + Buffer.byteLength(body), 1)
  return Buffer.concat([header, Buffer.from(body)])
}

/** Call it where tests are declared. */
export async function createNetwork(databaseUrl: string): Promise<Network> {
  const target = new URL(databaseUrl)
  const folder = target.searchParams.get('host')
  const port = Number(target.port || 5432)
  const sockets = new Set<Socket>()
  /** Server connections that stay open after their clients'. */
  const abandoned = new Set<Socket>()
  /** Connections of which neither end hears from the other any more. */
  const swallowed = new Set<Socket>()
  let canEndSessions = true
  let isCut = false
  let trap: { sign: string; spring: Trap } | undefined

  const server = createServer({ allowHalfOpen: true }, client => {
    if (isCut) {
      client.on('error', () => {}).destroy()
      return
    }
    const database = folder === null ? connect(port, target.hostname) : connect(`${folder}/.s.PGSQL.${port}`)
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('end', () => {
      if (!swallowed.has(client)) client.end()
    })
    client.on('close', () => {
      if (!abandoned.has(database) && !swallowed.has(database)) database.destroy()
    })
    database.on('close', () => {
      if (!swallowed.has(client)) client.destroy()
    })
    client.on('data', chunk => {
      if (swallowed.has(client)) return
      const ending = canEndSessions ? -1 : chunk.indexOf(ENDING)
      if (ending >= 0) chunk.write(NOT_ENDING, ending)
      const caught = trap !== undefined && chunk.includes(trap.sign) ? trap : undefined
      if (caught === undefined) {
        database.write(chunk)
      } else {
        trap = undefined
        caught.spring(chunk, client, database)
      }
    })
    database.on('data', chunk => {
      if (!abandoned.has(database) && !swallowed.has(database)) client.write(chunk)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })

  function abandon(client: Socket, database: Socket): void {
    canEndSessions = false
    abandoned.add(database)
    client.destroy()
  }
  const trapped = <T>(sign: string, spring: (...caught: Parameters<Trap>) => T) =>
    new Promise<T>(resolve => {
      trap = { sign, spring: (...caught) => resolve(spring(...caught)) }
    })
  const answered = (database: Socket) =>
    new Promise<void>(resolve => {
      database.once('data', () => resolve()).once('close', () => resolve())
    })

  const through = new URL(databaseUrl)
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as AddressInfo).port)
  through.searchParams.delete('host')
  return {
    url: through.href,

    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },

    restore() {
      isCut = false
    },

    loseNextSession: () => ({
      lost: trapped(SETTING_UP, (_chunk, client) => {
        client.destroy()
      }),
    }),

    silenceNextSession: () => ({ silenced: trapped(SETTING_UP, () => {}) }),

    endNextSessionAfterSetup: () => ({
      ended: trapped(SETUP_ENDS, async (chunk, client, database) => {
        abandoned.add(database)
        database.write(chunk)
        const [answer] = await once(database, 'data')
        client.end(Buffer.concat([answer, FATAL]))
        database.destroy()
      }).then(done => done),
    }),

    loseNextConfirmation: () => ({
      lost: trapped(COMMIT, async (chunk, client, database) => {
        abandoned.add(database)
        database.write(chunk)
        await answered(database)
        client.destroy()
      }).then(done => done),
    }),

    strandNextCommit: () =>
      trapped(COMMIT, (chunk, client, database) => {
        abandon(client, database)
        return {
          async arrive() {
            const answer = answered(database)
            database.write(chunk)
            await answer
          },
        }
      }),

    watchNextCommit: () =>
      trapped(COMMIT, (chunk, client, database) => {
        database.write(chunk)
        return {
          disconnect() {
            abandon(client, database)
            const answer = answered(database)
            return { arrive: () => answer }
          },
        }
      }),

    swallowNextCommit: delivered => ({
      swallowed: trapped(COMMIT, (chunk, client, database) => {
        const half = chunk.subarray(0, chunk.indexOf(COMMIT))
        if (delivered !== 'nothing') database.write(delivered === 'all' ? chunk : half)
        swallowed.add(client).add(database)
      }),
    }),

    swallowAll() {
      for (const socket of sockets) swallowed.add(socket)
    },
  }
}
