/** One attempt at a batch of a shard, and what its failure means. */
import { sqlStateOf } from '../db/database.ts'
import type { PipelinedConnection } from '../db/pipelined-connection.ts'
import type { Command } from '../domain/command.ts'
import type { Enforcement } from '../domain/decide.ts'
import type { Shard } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Batch } from './batch.ts'
import type { BatchReport } from './batch-report.ts'
import type { Connections } from './connections.ts'
import type { Memory } from './memory.ts'

/** What all attempts at the batches of one shard use. */
export interface ShardContext {
  readonly shard: Shard
  readonly connections: Connections
  readonly memory: Memory
  readonly now: () => EpochMs
  readonly enforcement: Enforcement
  readonly keepsUsage: boolean
  /** A connection was lost: the memory of any shard may be stale. */
  readonly onLost: () => void
  readonly onBatchReport: (report: BatchReport) => void
}

/** Does `work` on a connection of its own. Rejects as `work` does, and leaves no transaction open. */
export function attempt<T>(
  { connections, shard, now, enforcement, keepsUsage }: ShardContext,
  commands: readonly Command[],
  work: (connection: PipelinedConnection, batch: Batch) => Promise<T>,
): Promise<T> {
  return connections.use(async connection => {
    try {
      return await work(connection, { shard, commands, now: now(), enforcement, keepsUsage })
    } catch (error) {
      // A connection left in a failed transaction would break the next batch.
      await connection.rollback()
      throw error
    }
  })
}

/** A failed guard, a reservation of another process, a deadlock, a serialization failure: the next attempt sees why. */
export function isConflict(error: unknown): boolean {
  return ['22012', '23505', '40001', '40P01'].includes(sqlStateOf(error) ?? '')
}

/** The memory of a reservation was stale, and a check of the counters failed before the reservation's guard did. */
export function isContradiction(error: unknown): boolean {
  return sqlStateOf(error) === '23514'
}

export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '55P03'
}
