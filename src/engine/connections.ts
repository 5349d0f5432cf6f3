import type { Log } from '../db/database.ts'
import { LEDGER_STATEMENTS } from '../db/ledger/statements.ts'
import { connectPipelined, type PipelinedConnection } from '../db/pipelined-connection.ts'

/** The engine's connections: as many as batches can be in flight, made when first needed, replaced when lost. */
export interface Connections {
  /** Gives a connection to one batch, which has it alone until it is done. */
  use<T>(work: (connection: PipelinedConnection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/**
 * Every statement looks rows up by their keys. A planner that does not know how large a table has grown would rather
 * read a whole shard of it (seen: 1.5 s instead of 1 ms, for a ledger that was never analyzed), so all other plans are
 * ruled out. Pages are said to cost next to nothing, or every small batch would be planned anew (a third of its time):
 * a plan for its few rows seems to be worth that. Whoever waits for a lock longer than here is told to come again.
 */
const SETTINGS = {
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_material: 'off',
  jit: 'off',
  seq_page_cost: '0.1',
  random_page_cost: '0.1',
  statement_timeout: '5000',
  lock_timeout: '1000',
  idle_in_transaction_session_timeout: '5000',
}

export interface ConnectionsOptions {
  url: string
  log: Log
  /** A connection was lost, be it an idle one: the server may have been replaced by one that lacks what it wrote last. */
  onLost: () => void
}

export function createConnections({ url, log, onLost }: ConnectionsOptions): Connections {
  const idle: PipelinedConnection[] = []
  let isClosed = false

  return {
    async use(work) {
      let connection = idle.pop()
      while (connection?.isLost) connection = idle.pop()
      connection ??= await connectPipelined({ url, statements: LEDGER_STATEMENTS, settings: SETTINGS, log, onLost })
      try {
        return await work(connection)
      } finally {
        if (isClosed || connection.isLost) await connection.close()
        else idle.push(connection)
      }
    },
    async close() {
      isClosed = true
      await Promise.all(idle.splice(0).map(connection => connection.close()))
    },
  }
}
