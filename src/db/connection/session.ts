/** Sessions on the server: how the service sets them up, gives up on them, and ends those that it gave up on. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { SQLSTATE } from './errors.ts'
import { type Sql, sql } from './sql.ts'

/** Longest to wait for a connection, and then for its setup, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 3_000

/** Longest a statement of the pool waits for a lock, in milliseconds, unless its database or transaction says otherwise. */
export const LOCK_TIMEOUT_MS = 1_000

/** The options of both kinds of connections: the machine probes an idle connection after that time. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 } as const

/** The settings of every session of the service, regardless of the server's. */
const SETTINGS = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  // The server ends a session, with its locks, eight seconds after the service's machine has disappeared. Left alone it
  // takes two hours, and half a batch may have arrived, whose locks stop its users at all other processes.
  tcp_keepalives_idle: '4',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '4',
  tcp_user_timeout: '8000',
}

/** A process of the server. Its number alone is not enough: numbers are used again, also on another server. */
export interface Session {
  readonly pid: string
  /** The seconds since 1970 at which it started, to the microsecond. */
  readonly began: string
}

export interface OpenSession extends Session {
  /** Whether it cannot write: the server is a standby, or is set so. */
  readonly isReadOnly: boolean
  /** Whether the tables may be distributed over a cluster. */
  readonly isCluster: boolean
}

/**
 * Does `work`, and closes the connection if that takes longer than `ms`, in milliseconds: its statement then fails.
 * Nothing else tells that a server disappeared without closing the connection.
 */
export async function withDeadline<T>(client: pg.ClientBase, ms: number, work: () => Promise<T>): Promise<T> {
  let isDone = false
  const giveUp = () => {
    if (!isDone) disconnect(client, `no answer within ${ms} ms`)
  }
  // An answer that arrived while this process stood still is read first.
  const timeout = setTimeout(() => setImmediate(giveUp), ms)
  try {
    return await work()
  } finally {
    isDone = true
    clearTimeout(timeout)
  }
}

/** Closes a connection at once, without waiting for its answers. */
export function disconnect(client: pg.ClientBase, reason: string): void {
  if (client instanceof pg.Client) client.connection.stream.destroy(new Error(reason))
}

/**
 * Sets up a session. It does so after connecting and not in the connection's options, so that options in the URL still
 * count and poolers that refuse options still work.
 */
export async function configureSession(
  client: pg.ClientBase,
  further: Readonly<Record<string, string>>,
): Promise<OpenSession> {
  const settings = { ...SETTINGS, ...further }
  // A confirmed commit is durable: `on`, or more if the operator configured more.
  const text = sql`select pid::text, extract(epoch from backend_start)::text as began,
      current_setting('transaction_read_only') = 'on' as "isReadOnly",
      exists (select from pg_extension where extname = 'citus') as "isCluster",
      (select count(set_config(name, value, false)) from unnest($1::text[], $2::text[]) as t (name, value)),
      case when current_setting('synchronous_commit') <> 'remote_apply'
        then set_config('synchronous_commit', 'on', false) end
    from pg_stat_activity where pid = pg_backend_pid()`
  const { rows } = await client.query<OpenSession>({ text, values: [Object.keys(settings), Object.values(settings)] })
  try {
    // The server cancels a statement soon after its client has gone. Some platforms cannot detect that and refuse it.
    await client.query("set client_connection_check_interval = '1s'")
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === SQLSTATE.invalidParameterValue)) throw error
  }
  const [session] = rows
  if (session === undefined) throw new Error('the server does not list this session in pg_stat_activity')
  return session
}

/** At most this many sessions may go on on the server, after their connections, while new ones are opened. */
const MAX_LOST = 4

/**
 * Sessions whose connections were lost. The server may not know that, and a commit that waits for a synchronous standby
 * goes on waiting even if it does: no timeout ends that wait. So every new connection first ends the sessions of lost
 * ones. Otherwise their processes would pile up, and their locks would stop the users concerned.
 */
export interface LostSessions {
  add(session: Session): void
  /**
   * Ends them through a connection that is being set up. Answers how many were still alive.
   * @throws Error if too many of them do not end: the server is in trouble, and another process would not help it
   */
  end(client: pg.ClientBase): Promise<number>
}

export function createLostSessions(): LostSessions {
  const sessions = new Set<Session>()
  return {
    add(session) {
      sessions.add(session)
    },
    async end(client) {
      const lost = [...sessions]
      if (lost.length === 0) return 0
      let alive = await terminate(client, lost)
      const found = alive.size
      for (let n = 0; alive.size > 0 && n < 6; n++) {
        await pause(5 * 2 ** n)
        alive = await terminate(client, lost)
      }
      for (const session of lost) if (!alive.has(session.pid)) sessions.delete(session)
      if (alive.size > MAX_LOST) throw new Error(`${alive.size} sessions of lost connections go on on the server`)
      return found
    },
  }
}

/** Asks sessions to end. Answers the process ids of those that are still there. */
async function terminate(client: pg.ClientBase, sessions: readonly Session[]): Promise<Set<string>> {
  const values = [sessions.map(({ pid }) => pid), sessions.map(({ began }) => began)]
  const ask = (text: Sql) => client.query<{ pid: string }>({ text, values })
  const { rows } = await ask(sql`select lost.pid::text as pid, pg_terminate_backend(lost.pid) ${STILL_ALIVE}`).catch(
    error => {
      // Every role may end its own sessions, unless an administrator has taken the function away.
      if (!(error instanceof pg.DatabaseError && error.code === SQLSTATE.insufficientPrivilege)) throw error
      return ask(sql`select lost.pid::text as pid ${STILL_ALIVE}`)
    },
  )
  return new Set(rows.map(({ pid }) => pid))
}

/** The process is named by the list, never by the view: with any plan, no other session can be ended. */
const STILL_ALIVE = sql`from unnest($1::int[], $2::numeric[]) as lost (pid, began)
  join pg_stat_activity a on a.pid = lost.pid and extract(epoch from a.backend_start) = lost.began`
