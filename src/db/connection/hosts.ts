import pg from 'pg'
import { hostUrls } from '../../config/database-url.ts'

/**
 * The hosts of a database's URL, one of which takes writes: after a fail-over another one. New connections go to the
 * current host. Each that fails, or leads to a server that only reads, leaves it for the next.
 */
export interface Hosts {
  /** With one host a server that only reads is used as it is. */
  readonly areSeveral: boolean
  readonly current: string
  /** Goes on to the next host, unless another connection already has. */
  leave(url: string): void
  /** Connects to one host after the other, once around. Rejects with the error of the last one. */
  connect<T>(connect: (url: string) => Promise<T>): Promise<T>
  /** Takes a connection of a pool of `clientsOf`. If its host cannot be used, it tries the next, once around. */
  take(pool: pg.Pool): Promise<pg.PoolClient>
}

export function createHosts(url: string): Hosts {
  const urls = hostUrls(url)
  let index = 0

  const current = () => urls[index] ?? urls[0]

  function leave(left: string): void {
    if (left === current()) index = (index + 1) % urls.length
  }

  return {
    areSeveral: urls.length > 1,
    get current() {
      return current()
    },
    leave,
    async connect(connect) {
      for (let n = 1; ; n++) {
        const host = current()
        try {
          return await connect(host)
        } catch (error) {
          leave(host)
          if (n >= urls.length) throw error
        }
      }
    },
    async take(pool) {
      for (let n = 1; ; n++) {
        const host = current()
        try {
          return await pool.connect()
        } catch (error) {
          // The pool may also be full, which is no reason to go on.
          if (n >= urls.length || host === current()) throw error
        }
      }
    },
  }
}

type OnConnect = (error: Error | undefined) => void

/** The class of a pool's connections: each goes to the host that is the current one when the pool makes it. */
export function clientsOf(hosts: Hosts) {
  return class extends pg.Client {
    private readonly url: string

    constructor(config?: pg.ClientConfig) {
      const url = hosts.current
      super({ ...config, connectionString: url })
      this.url = url
    }

    override connect(): Promise<pg.Client>
    override connect(done: OnConnect): void
    override connect(done?: OnConnect): Promise<pg.Client> | undefined {
      if (done === undefined) return super.connect()
      super.connect((error: Error | undefined) => {
        if (error) hosts.leave(this.url)
        done(error)
      })
      return undefined
    }

    /** Refuses a server that only reads where another host may take writes. */
    assertWritable(isReadOnly: boolean): void {
      if (!hosts.areSeveral || !isReadOnly) return
      hosts.leave(this.url)
      throw new Error('this server only reads')
    }
  }
}
