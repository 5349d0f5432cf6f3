import pg from 'pg'
import { serialize } from 'pg-protocol'
import { ConnectionLost, configureSession, type Log } from './database.ts'

/** A statement prepared under a name, with its parameters as text. */
export interface Step {
  name: string
  values: readonly (string | null)[]
}

/** Rows as PostgreSQL wrote them, by position; the tag tells what the statement did. */
export interface StatementResult {
  tag: string
  rows: (string | null)[][]
}

/**
 * A connection for batches. It belongs to one batch until its last answer, and it sends a whole batch as one series:
 * begin, the statements, commit, and a single Sync behind them. Were there a Sync behind each, a BEGIN that is cancelled
 * would leave the rest to run without a transaction, and counters would leave the ledger.
 */
export interface PipelinedConnection {
  /** Sends the steps at once and answers their results. After an error nothing behind it was carried out. */
  run(steps: readonly Step[]): Promise<StatementResult[]>
  /** Ends a transaction that failed. A connection that cannot is closed, and the server rolls back by itself. */
  rollback(): Promise<void>
  readonly isLost: boolean
  close(): Promise<void>
}

export interface PipelinedConnectionOptions {
  url: string
  /** What is prepared when the connection is made, by name. */
  statements: Readonly<Record<string, string>>
  /** What else the session is set to. */
  settings: Readonly<Record<string, string>>
  log?: Log
  /** The connection broke, in use or idle. Not called when it was closed on purpose. */
  onLost?: () => void
}

/** Longest to wait for the answers of a series: longer than the server lets any of its statements run. */
const TIMEOUT_MS = 15_000

/** Connects and prepares every statement, so that a batch only binds and executes. */
export async function connectPipelined({
  url,
  statements,
  settings,
  log,
  onLost,
}: PipelinedConnectionOptions): Promise<PipelinedConnection> {
  const client = new pg.Client({
    connectionString: url,
    fallback_application_name: 'sms-quota engine',
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
  })
  let lost = false
  let warning: string | undefined
  const lose = () => {
    if (!lost) onLost?.()
    lost = true
  }
  client.on('error', error => {
    lose()
    log?.warn({ reason: error.message }, 'an engine connection was lost')
  })
  client.on('end', lose)
  client.on('notice', notice => {
    if (notice.severity === 'WARNING') warning = notice.message ?? 'a warning'
  })
  const notConnected = (error: unknown) => new ConnectionLost('no database connection', error)
  try {
    await client.connect()
  } catch (error) {
    throw notConnected(error)
  }

  async function send(series: Series): Promise<StatementResult[]> {
    if (lost) throw new ConnectionLost('the database connection was lost', 'before the batch was sent')
    warning = undefined
    // The server itself ends a slow statement. This is for a server that went away without a word.
    const patience = setTimeout(() => series.abandon(), TIMEOUT_MS)
    try {
      return await new Promise<StatementResult[]>((resolve, reject) => {
        series.settle = { resolve, reject }
        client.query(series)
      })
    } catch (error) {
      // The server says why it hangs up; whatever else is thrown is the socket's.
      if (error instanceof pg.DatabaseError && !/^(08|57P)/.test(error.code ?? '')) throw error
      lose()
      throw new ConnectionLost('the database connection was lost', error)
    } finally {
      clearTimeout(patience)
    }
  }

  const connection: PipelinedConnection = {
    async run(steps) {
      const results = await send(new Series(steps))
      // With a synchronous standby, a commit that was cut short is committed here and nobody knows where else.
      if (warning !== undefined && steps.at(-1)?.name === 'commit') {
        throw new ConnectionLost('the commit was not confirmed', warning)
      }
      return results
    },
    async rollback() {
      try {
        if (!lost) await send(new Series([{ name: 'rollback', values: [] }]))
      } catch {
        lost = true
      }
      if (lost) await connection.close()
    },
    get isLost() {
      return lost
    },
    async close() {
      lost = true
      await client.end().catch(() => {})
    },
  }
  try {
    await configureSession(client, settings)
    await send(new Preparation({ begin: 'begin', commit: 'commit', rollback: 'rollback', ...statements }))
  } catch (error) {
    await connection.close()
    // What the server refuses is a fault; else it went away while it was being spoken to.
    throw error instanceof pg.DatabaseError ? error : notConnected(error)
  }
  return connection
}

/** What of `pg`'s connection a series needs. */
type Wire = Pick<pg.Connection, 'stream'>

/** Several statements, one Sync. The methods are those that `pg` calls on a query. */
class Series implements pg.Submittable {
  settle: { resolve: (results: StatementResult[]) => void; reject: (error: Error) => void } | undefined
  readonly steps: readonly Step[]
  readonly results: StatementResult[] = []
  private rows: (string | null)[][] = []
  private wire: Wire | undefined

  constructor(steps: readonly Step[]) {
    this.steps = steps
  }

  submit(wire: Wire): void {
    this.wire = wire
    // In one piece: a call of the system for a batch's ten messages took a third longer than for one.
    wire.stream.write(Buffer.concat([...this.messages(), serialize.sync()]))
  }

  /** Ends the connection; `pg` then tells the series that it is lost. */
  abandon(): void {
    this.wire?.stream.destroy()
  }

  protected messages(): Buffer[] {
    return this.steps.flatMap(({ name, values }) => [
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
class Preparation extends Series {
  private readonly statements: Readonly<Record<string, string>>

  constructor(statements: Readonly<Record<string, string>>) {
    super([])
    this.statements = statements
  }

  protected override messages(): Buffer[] {
    return Object.entries(this.statements).map(([name, text]) => serialize.parse({ name, text, types: [] }))
  }
}
