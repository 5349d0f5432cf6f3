/** What lies between an engine and its database, and fails when told to. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll } from 'vitest'

/** A series that was sent and whose sender has lost its connection; the server has not seen it yet, or not all of it. */
interface Stray {
  /** Lets the server have it at last, and settles when the server has answered, or has hung up. */
  arrive(): Promise<void>
}

export interface Network {
  /** The database, by this way. */
  readonly url: string
  /** The next session ends while it is being set up, before it has a batch. */
  loseNextSession(): { lost: Promise<void> }
  /** The next commit is carried out, but the word of it is lost with its connection. */
  loseNextConfirmation(): { lost: Promise<void> }
  /** The next series with a commit is held up on its way, and its sender loses the connection. */
  strandNextCommit(): Promise<Stray>
  /** The next series with a commit is passed on; when told, its sender loses the connection, the server does not. */
  watchNextCommit(): Promise<{ disconnect(): Stray }>
}

type Trap = (chunk: Buffer, client: Socket, database: Socket) => void

/** The name of the statement, as a bind names it. */
const COMMIT = '\0commit\0'
/** What every session begins with. */
const SETTING_UP = 'set_config'

/** To be called where tests are declared. */
export async function createNetwork(databaseUrl: string): Promise<Network> {
  const target = new URL(databaseUrl)
  const folder = target.searchParams.get('host')
  const port = Number(target.port || 5432)
  const sockets = new Set<Socket>()
  /** Server connections whose clients are gone. */
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
