import pg from 'pg'
import { serialize } from 'pg-protocol'
import { CONNECT_TIMEOUT_MS, ConnectionLost, configureSession, type Log } from './database.ts'

/** A call of a prepared statement, with its parameters as text. */
export interface StatementCall {
  name: string
  values: readonly (string | null)[]
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
   * `pg.DatabaseError` or `ConnectionLost`: the server does not execute the calls behind it.
   */
  run(calls: readonly StatementCall[]): Promise<StatementResult[]>
  /** Ends a failed transaction. If that fails too, it closes the connection, and the server rolls back. */
  rollback(): Promise<void>
  readonly isLost: boolean
  close(): Promise<void>
}

export interface PipelinedConnectionOptions {
  url: string
  /** The statements to prepare, by name. */
  statements: Readonly<Record<string, string>>
  /** Settings of the session. */
  settings: Readonly<Record<string, string>>
  /** Longest to wait for the connection, and then for its setup, in milliseconds. */
  connectTimeoutMs?: number
  log?: Log
  /** Called when the connection breaks, in use or idle; not when `close` ends it. */
  onLost?: () => void
}

/** Longest to wait for the results of a batch: longer than `statement_timeout` lets any of its statements run. */
const BATCH_TIMEOUT_MS = 15_000

/** Connects and prepares every statement, so that a batch only binds and executes. */
export async function connectPipelined(options: PipelinedConnectionOptions): Promise<PipelinedConnection> {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
  const client = new pg.Client({
    connectionString: options.url,
    fallback_application_name: 'sms-quota engine',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  })
  const connection = new ClientConnection(client, options)
  try {
    await client.connect()
  } catch (error) {
    throw notConnected(error)
  }
  try {
    await configureSession(client, options.settings, connectTimeoutMs)
    await connection.prepare({ begin: 'begin', commit: 'commit', rollback: 'rollback', ...options.statements })
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
  private readonly onLost: (() => void) | undefined
  private lost = false
  /** The server's last warning since the current batch was sent. */
  private warning: string | undefined

  constructor(client: pg.Client, { log, onLost }: Pick<PipelinedConnectionOptions, 'log' | 'onLost'>) {
    this.client = client
    this.onLost = onLost
    client.on('error', error => {
      this.lose()
      log?.warn({ reason: error.message }, 'engine: connection lost')
    })
    client.on('end', () => this.lose())
    client.on('notice', notice => {
      if (notice.severity === 'WARNING') this.warning = notice.message ?? 'a warning'
    })
  }

  get isLost(): boolean {
    return this.lost
  }

  async prepare(statements: Readonly<Record<string, string>>): Promise<void> {
    await this.send(new PipelinedPreparation(statements))
  }

  async run(calls: readonly StatementCall[]): Promise<StatementResult[]> {
    const results = await this.send(new PipelinedBatch(calls))
    // A commit that stops waiting for a synchronous standby warns: it holds here, and may be missing on the standby.
    if (this.warning !== undefined && calls.at(-1)?.name === 'commit') {
      throw new ConnectionLost('the commit was not confirmed', this.warning)
    }
    return results
  }

  async rollback(): Promise<void> {
    try {
      if (!this.lost) await this.send(new PipelinedBatch([ROLLBACK]))
    } catch {
      this.lost = true
    }
    if (this.lost) await this.close()
  }

  async close(): Promise<void> {
    this.lost = true
    await this.client.end().catch(() => {})
  }

  private lose(): void {
    if (!this.lost) this.onLost?.()
    this.lost = true
  }

  private async send(batch: PipelinedBatch): Promise<StatementResult[]> {
    if (this.lost) throw new ConnectionLost('the database connection was lost', 'before the batch was sent')
    this.warning = undefined
    // The server itself ends a slow statement. This timeout is for a server that disappeared without closing the socket.
    const timeout = setTimeout(() => batch.abandon(), BATCH_TIMEOUT_MS)
    try {
      return await new Promise<StatementResult[]>((resolve, reject) => {
        batch.settle = { resolve, reject }
        this.client.query(batch)
      })
    } catch (error) {
      // Classes 08 and 57P: the server closes the connection. Errors other than the server's are the socket's.
      if (error instanceof pg.DatabaseError && !/^(08|57P)/.test(error.code ?? '')) throw error
      this.lose()
      throw new ConnectionLost('the database connection was lost', error)
    } finally {
      clearTimeout(timeout)
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
  private wire: Wire | undefined

  constructor(calls: readonly StatementCall[]) {
    this.calls = calls
  }

  submit(wire: Wire): void {
    this.wire = wire
    // One write: with a write per message, a batch of ten messages took a third longer to send.
    wire.stream.write(Buffer.concat([...this.messages(), serialize.sync()]))
  }

  /** Ends the connection. `pg` then calls `handleError`. */
  abandon(): void {
    this.wire?.stream.destroy()
  }

  protected messages(): Buffer[] {
    return this.calls.flatMap(({ name, values }) => [
      serialize.bind({ statement: name, values: [...values] }),
      serialize.execute(),
    ])
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
  private readonly statements: Readonly<Record<string, string>>

  constructor(statements: Readonly<Record<string, string>>) {
    super([])
    this.statements = statements
  }

  protected override messages(): Buffer[] {
    return Object.entries(this.statements).map(([name, text]) => serialize.parse({ name, text, types: [] }))
  }
}
