/** A proxy between an engine and its database that loses connections on command. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll } from 'vitest'

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
  /** Keeps back the next batch with a commit, and ends its sender's connection. */
  strandNextCommit(): Promise<Stray>
  /** Delivers the next batch with a commit; `disconnect` ends the sender's connection but not the server's. */
  watchNextCommit(): Promise<{ disconnect(): Stray }>
}

type Trap = (chunk: Buffer, client: Socket, database: Socket) => void

/** The statement's name in a bind message. */
const COMMIT = '\0commit\0'
/** A function that the first statement of every session calls. */
const SETTING_UP = 'set_config'
/** The setting that a session's setup changes last. */
const SETUP_ENDS = 'client_connection_check_interval'

/** What a server sends before it closes a connection (`ErrorResponse`). */
const FATAL = errorResponse({
  S: 'FATAL',
  V: 'FATAL',
  C: '57P01',
  M: 'terminating connection due to administrator command',
})

function errorResponse(fields: Record<string, string>): Buffer {
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
  let trap: { sign: string; spring: Trap } | undefined

  const server = createServer(client => {
    const database = folder === null ? connect(port, target.hostname) : connect(`${folder}/.s.PGSQL.${port}`)
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('close', () => {
      if (!abandoned.has(database)) database.destroy()
    })
    database.on('close', () => client.destroy())
    client.on('data', chunk => {
      const caught = trap !== undefined && chunk.includes(trap.sign) ? trap : undefined
      if (caught === undefined) {
        database.write(chunk)
      } else {
        trap = undefined
        caught.spring(chunk, client, database)
      }
    })
    database.on('data', chunk => {
      if (!abandoned.has(database)) client.write(chunk)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  afterAll(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })

  function abandon(client: Socket, database: Socket): void {
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
  }
}
