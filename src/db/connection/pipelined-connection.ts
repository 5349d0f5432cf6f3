import pg from 'pg'
import { serialize } from 'pg-protocol'
import { ConnectionLost, type Log } from './database.ts'
import { leavesCommitOpen, SQLSTATE } from './errors.ts'
import {
  CONNECT_TIMEOUT_MS,
  configureSession,
  createLostSessions,
  disconnect,
  KEEP_ALIVE,
  type LostSessions,
  type Session,
  withDeadline,
} from './session.ts'
import { type Sql, sql } from './sql.ts'

/** A call of a prepared statement, with its parameters as text, or in binary form. */
export interface StatementCall {
  name: string
  values: readonly (string | Buffer | null)[]
}

/** Calls that every connection has prepared. */
export const BEGIN: StatementCall = { name: 'begin', values: [] }
export const COMMIT: StatementCall = { name: 'commit', values: [] }
export const ROLLBACK: StatementCall = { name: 'rollback', values: [] }

/** The values of a row as PostgreSQL wrote them, in the order of the select list. */
export type Cells = readonly (string | null)[]

/** Rows as PostgreSQL wrote them, by position, and the command tag, such as `UPDATE 3`. */
export interface StatementResult {
  tag: string
  rows: Cells[]
}

/**
 * A connection for batches. It belongs to one batch until the last result, and sends a whole batch at once: begin, the
 * statements, commit, and a single Sync behind them. With a Sync behind each statement, a cancelled BEGIN would leave
 * the rest to run without a transaction, and counters would no longer equal the ledger.
 */
export interface PipelinedConnection {
  /**
   * Sends the calls at once and answers their results in the same order. Rejects with the first error, a
   * `pg.DatabaseError` or `ConnectionLost`: the server does not execute the calls behind it. An error that answers a commit
   * and leaves its outcome open is a `ConnectionLost`, too.
   */
  run(calls: readonly StatementCall[]): Promise<StatementResult[]>
  /** Ends a failed transaction. If that fails too, it closes the connection, and the server rolls back. */
  rollback(): Promise<void>
  readonly isLost: boolean
  /** Gives up on a connection that may be dead: closes it without waiting for the server. */
  discard(): void
  close(): Promise<void>
}

export interface PipelinedConnectionOptions {
  url: string
  /** The statements to prepare, by name. */
  statements: Readonly<Record<string, Sql>>
  /** Settings of the session. */
  settings: Readonly<Record<string, string>>
  /** Statements that run at the beginning of each transaction. Their results are not answered. */
  onBegin?: readonly Sql[]
  /** Refuses a server that only reads. */
  mustWrite?: boolean
  /** Longest to wait for the connection, and then for its setup, in milliseconds. */
  connectTimeoutMs?: number
  /** Longest to wait for the results of a batch, in milliseconds. */
  batchTimeoutMs?: number
  /** Sessions of earlier connections, which this one ends before it is used; its own, if it is lost. */
  lostSessions?: LostSessions
  log?: Log
  /** Called when the connection breaks, in use or idle; not when `close` or `discard` ends it. */
  onLost?: () => void
}

/**
 * Twice that time and a new connection fit into ten seconds, within which the service must recover from dead
 * connections: a batch can be sent on a second one just before the first one is given up.
 */
const BATCH_TIMEOUT_MS = 3_500

/** Longest to wait for the server when a connection is closed. */
const CLOSE_TIMEOUT_MS = 1_000

/** Connects and prepares every statement, so that a batch only binds and executes. */
export async function connectPipelined(options: PipelinedConnectionOptions): Promise<PipelinedConnection> {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, statements, settings } = options
  const client = new pg.Client({
    connectionString: options.url,
    fallback_application_name: 'sms-quota engine',
    connectionTimeoutMillis: connectTimeoutMs,
    ...KEEP_ALIVE,
  })
  const connection = new ClientConnection(client, options)
  try {
    await client.connect()
  } catch (error) {
    throw notConnected(error)
  }
  try {
    await withDeadline(client, connectTimeoutMs, () =>
      connection.setUp(settings, { begin: sql`begin`, commit: sql`commit`, rollback: sql`rollback`, ...statements }),
    )
  } catch (error) {
    await connection.close()
    // An error that the server reports is a defect of ours; any other means that the connection was lost.
    throw error instanceof pg.DatabaseError ? error : notConnected(error)
  }
  return connection
}

const notConnected = (error: unknown) => new ConnectionLost('no database connection', error)

/** The connection of one client of `pg`. */
class ClientConnection implements PipelinedConnection {
  private readonly client: pg.Client
  private readonly batchTimeoutMs: number
  private readonly mustWrite: boolean
  private readonly lostSessions: LostSessions
  private readonly log: Log | undefined
  private readonly onLost: (() => void) | undefined
  private readonly onBegin: Readonly<Record<string, Sql>>
  private readonly beginCalls: readonly StatementCall[]
  private session: Session | undefined
  private lost = false
  private isClosing = false
  /** The server's last warning since the current batch was sent. */
  private warning: string | undefined

  constructor(client: pg.Client, options: PipelinedConnectionOptions) {
    this.client = client
    this.mustWrite = options.mustWrite ?? false
    this.batchTimeoutMs = options.batchTimeoutMs ?? BATCH_TIMEOUT_MS
    this.lostSessions = options.lostSessions ?? createLostSessions()
    this.log = options.log
    this.onLost = options.onLost
    this.onBegin = Object.fromEntries((options.onBegin ?? []).map((text, index) => [`on-begin-${index}`, text]))
    this.beginCalls = [BEGIN, ...Object.keys(this.onBegin).map(name => ({ name, values: [] }))]
    client.on('error', error => {
      if (!this.isClosing) this.log?.warn({ reason: error.message }, 'engine: connection lost')
      this.lose()
    })
    client.on('end', () => this.lose())
    client.on('notice', notice => {
      if (notice.severity === 'WARNING') this.warning = notice.message ?? 'a warning'
    })
  }

  get isLost(): boolean {
    return this.lost
  }

  async setUp(settings: Readonly<Record<string, string>>, statements: Readonly<Record<string, Sql>>): Promise<void> {
    const session = await configureSession(this.client, settings)
    this.session = session
    if (this.mustWrite && session.isReadOnly) throw new Error('this server only reads')
    const ended = await this.lostSessions.end(this.client)
    if (ended > 0) this.log?.info({ sessions: ended }, 'engine: ended the sessions of lost connections')
    await this.send(new PipelinedPreparation({ ...statements, ...this.onBegin }))
  }

  async run(calls: readonly StatementCall[]): Promise<StatementResult[]> {
    const results = await this.sendCalls(calls)
    // A commit that stops waiting for a synchronous standby warns: it holds here, and may be missing on the standby.
    if (this.warning !== undefined && calls.at(-1)?.name === 'commit') {
      throw new ConnectionLost('the commit was not confirmed', this.warning)
    }
    return results
  }

  private async sendCalls(calls: readonly StatementCall[]): Promise<StatementResult[]> {
    if (this.beginCalls.length === 1 || calls[0]?.name !== BEGIN.name) return this.send(new PipelinedBatch(calls))
    const [begun, ...results] = await this.send(new PipelinedBatch([...this.beginCalls, ...calls.slice(1)]))
    return begun === undefined ? [] : [begun, ...results.slice(this.beginCalls.length - 1)]
  }

  async rollback(): Promise<void> {
    try {
      if (!this.lost) await this.send(new PipelinedBatch([ROLLBACK]))
    } catch {
      this.lose()
    }
    if (this.lost) await this.close()
  }

  discard(): void {
    this.isClosing = true
    this.abandon()
    disconnect(this.client, 'another connection to the same server was lost')
  }

  async close(): Promise<void> {
    this.isClosing = true
    this.lost = true
    await withDeadline(this.client, CLOSE_TIMEOUT_MS, () => this.client.end()).catch(() => {})
  }

  /**
   * Whether the connection is of no use after an error. Classes 08 and 57P: the server closes it. 42P01: the tables are elsewhere
   * now, as a statement of `onBegin` has found, or because they were removed from this server.
   */
  private endsWith({ code = '' }: pg.DatabaseError): boolean {
    return /^(08|57P)/.test(code) || (this.beginCalls.length > 1 && code === SQLSTATE.undefinedTable)
  }

  private lose(): void {
    if (this.lost) return
    this.abandon()
    this.onLost?.()
  }

  private abandon(): void {
    this.lost = true
    if (this.session !== undefined) this.lostSessions.add(this.session)
  }

  private async send(batch: PipelinedBatch): Promise<StatementResult[]> {
    if (this.lost) throw new ConnectionLost('the database connection was lost', 'before the batch was sent')
    this.warning = undefined
    try {
      return await withDeadline(
        this.client,
        this.batchTimeoutMs,
        () =>
          new Promise<StatementResult[]>((resolve, reject) => {
            batch.settle = { resolve, reject }
            this.client.query(batch)
          }),
      )
    } catch (error) {
      // Errors other than the server's are the socket's.
      if (error instanceof pg.DatabaseError && !this.endsWith(error)) {
        const isOpen = batch.failedAtCommit && leavesCommitOpen(error)
        throw isOpen ? new ConnectionLost('the outcome of the commit is unknown', error) : error
      }
      this.lose()
      throw new ConnectionLost('the database connection was lost', error)
    }
  }
}

/** The part of `pg`'s connection that a batch needs. */
type Wire = Pick<pg.Connection, 'stream'>

/** Several calls and one Sync. The methods are those that `pg` calls on a query. */
class PipelinedBatch implements pg.Submittable {
  settle: { resolve: (results: StatementResult[]) => void; reject: (error: Error) => void } | undefined
  readonly calls: readonly StatementCall[]
  readonly results: StatementResult[] = []
  private rows: Cells[] = []

  constructor(calls: readonly StatementCall[]) {
    this.calls = calls
  }

  submit(wire: Wire): void {
    // One write: with a write per message, a batch of ten messages took a third longer to send.
    wire.stream.write(Buffer.concat([...this.messages(), serialize.sync()]))
  }

  protected messages(): Buffer[] {
    return this.calls.flatMap(({ name, values }) => [
      serialize.bind({ statement: name, values: [...values] }),
      serialize.execute(),
    ])
  }

  /** Whether all calls before a commit at the end have succeeded, once there was an error. */
  get failedAtCommit(): boolean {
    return this.calls.at(-1)?.name === COMMIT.name && this.results.length === this.calls.length - 1
  }

  handleRowDescription(): void {}

  handleDataRow(message: { fields: (string | null)[] }): void {
    this.rows.push(message.fields)
  }

  handleCommandComplete(message: { text: string }): void {
    this.results.push({ tag: message.text, rows: this.rows })
    this.rows = []
  }

  handleError(error: Error): void {
    this.settle?.reject(error)
  }

  handleReadyForQuery(): void {
    this.settle?.resolve(this.results)
  }
}

/** Prepares statements under their names. */
class PipelinedPreparation extends PipelinedBatch {
  private readonly statements: Readonly<Record<string, Sql>>

  constructor(statements: Readonly<Record<string, Sql>>) {
    super([])
    this.statements = statements
  }

  protected override messages(): Buffer[] {
    return Object.entries(this.statements).map(([name, text]) => serialize.parse({ name, text, types: [] }))
  }
}
