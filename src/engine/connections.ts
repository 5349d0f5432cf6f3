import type { Log } from '../db/connection/database.ts'
import type { PipelinedConnection, StatementCall } from '../db/connection/pipelined-connection.ts'
import { createLostSessions } from '../db/connection/session.ts'
import { sql } from '../db/connection/sql.ts'
import { LEDGER_STATEMENTS } from '../db/ledger/statements.ts'
import type { Connect } from './servers.ts'

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

/** As a statement of its own: PostgreSQL makes the plans of all others again when they are used next. */
const FORGET_PLANS: StatementCall = { name: 'forget-plans', values: [] }
const STATEMENTS = { ...LEDGER_STATEMENTS, [FORGET_PLANS.name]: sql`discard plans` }

/** The longest time for which a connection keeps its plans, in milliseconds. To make them again takes a few. */
const MAX_PLAN_AGE_MS = 60_000

/** A connection, and when it was opened and its plans were forgotten. */
interface Planned {
  readonly connection: PipelinedConnection
  readonly openedAt: number
  plannedAt: number
}

/**
 * Whether a connection should make its plans again. One that PostgreSQL made for an empty table may read the whole table
 * for each key, and is kept until the table is analyzed. So plans live for as long as the connection had lived when they
 * were made: meanwhile a table that it fills can grow to twice the size.
 */
function hasOldPlans({ openedAt, plannedAt }: Planned, now: number): boolean {
  return now - plannedAt > Math.min(MAX_PLAN_AGE_MS, 1_000 + plannedAt - openedAt)
}

export interface ConnectionsOptions {
  connect: Connect
  /** A clock in milliseconds that never steps back. */
  monotonicMs: () => number
  /** The longest wait of a statement for a lock, in milliseconds, unless its transaction says otherwise. */
  lockTimeoutMs: number
  log: Log
  /**
   * A connection was lost, even an idle one: the server may have been replaced by one that lacks its last writes.
   */
  onLost: () => void
}

export function createConnections(options: ConnectionsOptions): Connections {
  const { connect, monotonicMs, lockTimeoutMs, log, onLost } = options
  const idle: Planned[] = []
  const lostSessions = createLostSessions()
  let isClosed = false

  function onConnectionLost(): void {
    // What killed one connection may have killed others, and each would fail another batch after a long time only.
    for (const { connection } of idle.splice(0)) connection.discard()
    onLost()
  }

  async function open(): Promise<Planned> {
    const settings = { ...ENGINE_SETTINGS, lock_timeout: String(lockTimeoutMs) }
    const connection = await connect({ statements: STATEMENTS, settings, lostSessions, log, onLost: onConnectionLost })
    const now = monotonicMs()
    return { connection, openedAt: now, plannedAt: now }
  }

  return {
    async use(work) {
      let planned = idle.pop()
      while (planned?.connection.isLost) planned = idle.pop()
      planned ??= await open()
      const { connection } = planned
      try {
        if (hasOldPlans(planned, monotonicMs())) {
          planned.plannedAt = monotonicMs()
          await connection.run([FORGET_PLANS])
        }
        return await work(connection)
      } finally {
        if (isClosed || connection.isLost) await connection.close()
        else idle.push(planned)
      }
    },
    async close() {
      isClosed = true
      await Promise.all(idle.splice(0).map(({ connection }) => connection.close()))
    },
  }
}
