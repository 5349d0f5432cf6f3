import type { Log } from '../db/database.ts'
import { LEDGER_STATEMENTS } from '../db/ledger/statements.ts'
import { connectPipelined, type PipelinedConnection } from '../db/pipelined-connection.ts'
import { LostSessions } from '../db/session.ts'

/** The engine's connections: as many as there are batches in flight, opened when first needed, replaced when lost. */
export interface Connections {
  /** Gives a connection to one batch, which has it to itself until `work` settles. */
  use<T>(work: (connection: PipelinedConnection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/**
 * Every statement finds rows by their keys. A planner that does not know how large a table has grown may read a whole
 * shard of it instead (seen: 1.5 s instead of 1 ms, for a ledger that was never analyzed), so all other plans are
 * disabled. Pages cost next to nothing in these settings; at the usual costs PostgreSQL would plan every small batch
 * again, which takes a third of its time, because a plan for its few rows seems to be worth that.
 */
export const ENGINE_SETTINGS = {
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_material: 'off',
  jit: 'off',
  seq_page_cost: '0.1',
  random_page_cost: '0.1',
  statement_timeout: '3000',
  idle_in_transaction_session_timeout: '5000',
}

export interface ConnectionsOptions {
  url: string
  /** How long a statement waits for a lock, in milliseconds, unless its transaction says otherwise. */
  lockTimeoutMs: number
  log: Log
  /**
   * A connection was lost, even an idle one: the server may have been replaced by one that lacks its last writes.
   */
  onLost: () => void
}

export function createConnections({ url, lockTimeoutMs, log, onLost }: ConnectionsOptions): Connections {
  const idle: PipelinedConnection[] = []
  const lostSessions = new LostSessions()
  let isClosed = false

  function onConnectionLost(): void {
    // What killed one connection may have killed others, and each would fail another batch after a long time only.
    for (const connection of idle.splice(0)) connection.discard()
    onLost()
  }

  return {
    async use(work) {
      let connection = idle.pop()
      while (connection?.isLost) connection = idle.pop()
      connection ??= await connectPipelined({
        url,
        statements: LEDGER_STATEMENTS,
        settings: { ...ENGINE_SETTINGS, lock_timeout: String(lockTimeoutMs) },
        lostSessions,
        log,
        onLost: onConnectionLost,
      })
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
