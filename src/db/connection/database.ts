/** Access to PostgreSQL: statements, transactions, the types of their results, and the meaning of errors. */

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { EpochMs } from '../../domain/time/time.ts'
import {
  endsConnection,
  isTransactionRollback,
  leavesCommitOpen,
  reasonOf,
  reportsOutage,
  sqlStateOf,
} from './errors.ts'
import { clientsOf, createHosts, type Hosts } from './hosts.ts'
import { createPoolConnections, fullnessOf, type PoolConnections } from './pool-connections.ts'
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE, LOCK_TIMEOUT_MS, withDeadline } from './session.ts'
import { type Sql, sql } from './sql.ts'
import { beginStatements, type TransactionMode } from './transaction-settings.ts'
import { getTypeParser } from './values.ts'

/** A parameter. Not a Date (see `timestampParam`) and not an object: JSON goes as text, and the SQL casts it. */
export type SqlValue = string | number | boolean | null | Uint8Array | readonly SqlValue[]

/** With a `name`, the statement is parsed and planned once per connection. A name always stands for the same text. */
interface Statement {
  readonly name?: string
  readonly text: Sql
  readonly values?: readonly SqlValue[]
}

/** Takes statements: the database itself (each is a transaction of its own) or an open transaction. */
export interface Queryable {
  /** Runs a statement and returns its rows. `R` is the type of a row. */
  query<R extends object>(statement: Statement): Promise<R[]>
}

/** The facts that a connection knows of the tables. */
export interface Store {
  /** Whether they may be distributed over a cluster (`runPerCitusShard`). */
  readonly isCluster: boolean
}

export interface Transaction extends Queryable, Store {}

/** The connections of a pool. */
export interface PoolUse {
  used: number
  idle: number
  /** Statements and transactions that wait for a connection. */
  waiting: number
  max: number
}

export interface Database extends Queryable {
  /**
   * Runs `work` in a transaction and commits it; any error rolls it back. After a deadlock or a serialization failure
   * it runs `work` **again**, up to three times, so `work` must have no effect outside of the transaction. A
   * `ConnectionLost` from a writing transaction leaves open whether it was committed.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, mode?: TransactionMode): Promise<T>
  /** Returns the time on the database's clock, and whether it is a standby or read-only; fails without an answer. */
  ping(): Promise<{ now: EpochMs; isReadOnly: boolean }>
  readonly pool: PoolUse
  /** Waits for running statements, then closes every connection. */
  close(): Promise<void>
}

/** An open transaction as a place for work that would begin its own. */
export function joinTransaction(tx: Transaction): Pick<Database, 'transaction'> {
  return { transaction: work => work(tx) }
}

/** Runs a statement whose text depends on whether the tables are those of a cluster: only a connection knows. */
export function inSnapshot<R extends object>(
  db: Pick<Database, 'transaction'>,
  statementFor: (store: Store) => Statement,
): Promise<R[]> {
  return db.transaction(tx => tx.query<R>(statementFor(tx)), 'snapshot')
}

/** The log for the operator; pino's loggers have this shape. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Times are in milliseconds; 0 means no limit. */
export interface DatabaseOptions {
  /** `postgresql://user:password@host:port/database`, with several hosts if need be; a socket's folder goes into `?host=`. */
  readonly url: string
  readonly maxConnections?: number
  /** Longest a statement may run. */
  readonly statementTimeout?: number
  /** Longest a statement may wait for a lock. */
  readonly lockTimeout?: number
  /** Longest a transaction may idle between two statements. */
  readonly idleTransactionTimeout?: number
  /** Longest to wait for a connection, and then for its setup, in milliseconds. */
  readonly connectTimeout?: number
  readonly log?: Log
  /** Called each time that a statement or a transaction has waited for a connection, however short. */
  readonly onWait?: (ms: number) => void
}

const ATTEMPTS = 4

/**
 * Twice the time until a statement is given up and a new connection fit into ten seconds, within which the service must
 * recover from dead connections: a statement can be sent on a second one just before the first one is given up.
 */
const STATEMENT_TIMEOUT_MS = 4_000

/** The service waits for an answer for this much longer than the server lets a statement run. */
const ANSWER_MARGIN_MS = 500

/** Opens a pool of connections. It connects when the first statement is sent. */
export function openDatabase(options: DatabaseOptions): Database {
  const { statementTimeout = STATEMENT_TIMEOUT_MS, onWait } = options
  const answerTimeout = statementTimeout > 0 ? statementTimeout + ANSWER_MARGIN_MS : 0
  const connections = createPoolConnections()
  const hosts = createHosts(options.url)
  const pool = createPool({ ...options, statementTimeout }, connections, hosts)
  const refuse = refusalOf(pool)

  async function acquire(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await hosts.take(pool).catch(refuse)
      if (!connections.isDoubtful(client)) return client
      connections.discard(client)
      client.release(true)
    }
  }

  async function withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    const client = await acquire().finally(() => onWait?.(performance.now() - startedAt))
    try {
      return await work(new Connection(client, connections, answerTimeout))
    } finally {
      client.release(connections.isLost(client))
    }
  }

  function attempt<T>(work: (tx: Transaction) => Promise<T>, mode: TransactionMode): Promise<T> {
    return withConnection(async connection => {
      try {
        for (const text of beginStatements(mode, connection.isCluster)) await connection.send({ text })
        const answer = await work(connection)
        await connection.commit()
        return answer
      } catch (error) {
        await connection.rollback()
        throw error
      }
    })
  }

  const query = <R extends object>(statement: Statement) =>
    withConnection(connection => connection.autocommit.query<R>(statement))

  return {
    query,

    async transaction(work, mode = 'write') {
      for (let n = 1; ; n++) {
        try {
          return await attempt(work, mode)
        } catch (error) {
          if (n === ATTEMPTS || !isTransactionRollback(error)) throw error
          await pause(Math.random() * 20 * n)
        }
      }
    },

    ping: () => readClock({ query }),

    get pool() {
      const { totalCount, idleCount: idle, waitingCount: waiting } = pool
      return { used: totalCount - idle, idle, waiting, max: pool.options.max }
    },

    close: () => pool.end(),
  }
}

/** Throws what stands for an error of `pool.connect`. */
function refusalOf(pool: pg.Pool): (error: unknown) => never {
  const isFull = fullnessOf(pool)
  return error => {
    if (isFull(error)) throw new PoolFull(error)
    throw sqlStateOf(error) === undefined ? new ConnectionLost('no database connection', error) : error
  }
}

async function readClock(db: Queryable): Promise<{ now: EpochMs; isReadOnly: boolean }> {
  const [row] = await db.query<{ now: EpochMs; isReadOnly: boolean }>({
    text: sql`select clock_timestamp() as now, current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
  })
  if (row === undefined) throw new Error('the database returned no row')
  return row
}

function createPool(
  options: DatabaseOptions & { readonly statementTimeout: number },
  connections: PoolConnections,
  hosts: Hosts,
): pg.Pool {
  const { connectTimeout = CONNECT_TIMEOUT_MS, log } = options
  const settings = {
    statement_timeout: String(options.statementTimeout),
    lock_timeout: String(options.lockTimeout ?? LOCK_TIMEOUT_MS),
    idle_in_transaction_session_timeout: String(options.idleTransactionTimeout ?? 5_000),
  }
  const HostClient = clientsOf(hosts)
  const pool = new pg.Pool({
    Client: HostClient,
    fallback_application_name: 'sms-quota',
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: connectTimeout,
    idleTimeoutMillis: 30_000,
    ...KEEP_ALIVE,
    types: { getTypeParser },
    async onConnect(client) {
      // A connection can break at any time, its setup included. Without a listener for the error, Node would end the
      // process; and a connection that broke before the pool hands it out must be known as lost.
      client.on('error', () => connections.lose(client))
      const { ended, isReadOnly } = await withDeadline(client, connectTimeout, () =>
        connections.setUp(client, settings),
      )
      if (client instanceof HostClient) client.assertWritable(isReadOnly)
      if (ended > 0) log?.info({ sessions: ended }, 'database: ended the sessions of lost connections')
    },
  })

  pool.on('error', error => log?.warn({ reason: reasonOf(error) }, 'database: idle connection lost'))
  return pool
}

/** A connection of the pool, for one transaction or one statement. */
class Connection implements Transaction {
  private readonly client: pg.PoolClient
  private readonly connections: PoolConnections
  /** Longest to wait for an answer, in milliseconds; 0 means no limit. */
  private readonly timeoutMs: number

  constructor(client: pg.PoolClient, connections: PoolConnections, timeoutMs: number) {
    this.client = client
    this.connections = connections
    this.timeoutMs = timeoutMs
  }

  get isCluster(): boolean {
    return this.connections.isOfCluster(this.client)
  }

  async query<R extends object>(statement: Statement): Promise<R[]> {
    return rowsOf(await this.send<R>(statement))
  }

  /** For statements that are transactions of their own. */
  get autocommit(): Queryable {
    return {
      query: async <R extends object>(statement: Statement) => rowsOf(await this.sendLast<R>(statement)),
    }
  }

  async send<R extends object>(statement: Statement): Promise<pg.QueryResult<R>> {
    const { client, connections, timeoutMs } = this
    const ask = () => client.query<R, SqlValue[]>({ ...statement, values: [...(statement.values ?? [])] })
    try {
      const result = await (timeoutMs > 0 ? withDeadline(client, timeoutMs, ask) : ask())
      connections.answered(client)
      return result
    } catch (error) {
      if (sqlStateOf(error) !== undefined) {
        // The server reports the shutdown before it closes the connection: the pool must not hand it out in between.
        if (endsConnection(error)) connections.lose(client)
        else connections.answered(client)
        throw error
      }
      if (!connections.isLost(client)) throw error
      throw new ConnectionLost('the database connection was lost', error)
    }
  }

  /** Success is the tag COMMIT. */
  async commit(): Promise<void> {
    const { command } = await this.sendLast({ text: sql`commit` }).catch(error => {
      throw leavesCommitOpen(error) ? new ConnectionLost('the outcome of the commit is unknown', error) : error
    })
    if (command !== 'COMMIT') throw new Error(`the transaction failed before its commit: the answer was ${command}`)
  }

  /** If it fails, the pool closes the connection, and the server rolls back by itself. */
  async rollback(): Promise<void> {
    const { client, connections } = this
    if (!connections.isLost(client)) await this.send({ text: sql`rollback` }).catch(() => connections.lose(client))
  }

  /** Sends what ends a transaction. A warning means that a standby has not confirmed the commit. */
  private async sendLast<R extends object>(statement: Statement): Promise<pg.QueryResult<R>> {
    let warning: string | undefined
    const onNotice = (notice: { severity?: string | undefined; message?: string | undefined }) => {
      if (notice.severity === 'WARNING') warning = notice.message
    }
    this.client.on('notice', onNotice)
    const result = await this.send<R>(statement).finally(() => this.client.off('notice', onNotice))
    if (warning !== undefined) throw new ConnectionLost('the commit was not confirmed', warning)
    return result
  }
}

/** A text of several statements, as in a migration, has several results. */
const rowsOf = <R extends object>(result: pg.QueryResult<R>) => (Array.isArray(result) ? [] : result.rows)

// -- errors ----------------------------------------------------------------------------------------------------------

/**
 * No connection was available, or it broke before the answer, or the answer to a commit was an error that leaves its outcome
 * open: the statement may or may not have taken effect.
 */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'

  constructor(what: string, cause: unknown) {
    super(`${what}: ${reasonOf(cause)}`, { cause })
  }
}

/** All connections of the pool are in use, and were so for as long as a statement waits for one. Nothing was sent. */
export class PoolFull extends ConnectionLost {
  override name = 'PoolFull'

  constructor(cause: unknown) {
    super('all database connections are in use', cause)
  }
}

/**
 * True if the error says nothing about the request, only that the database cannot serve it now: it is unreachable,
 * starting, stopping, full, refuses the service, took too long, or its machine fails it (class 58).
 */
export const isUnavailable = (error: unknown): boolean => error instanceof ConnectionLost || reportsOutage(error)
