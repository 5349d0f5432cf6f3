/** One attempt at a batch, and what its failure means. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionLost } from '../db/connection/database.ts'
import { SQLSTATE, sqlStateOf } from '../db/connection/errors.ts'
import type { PipelinedConnection } from '../db/connection/pipelined-connection.ts'
import { findLockedRows, heldUsers } from '../db/ledger/find-locked-rows.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { Command, Outcome } from '../domain/units/command.ts'
import type { Enforcement } from '../domain/units/drawing.ts'
import type { KeyOf } from '../domain/units/value-counter.ts'
import { type BatchInput, type BatchReport, effectsOf } from './batch.ts'
import type { Connections } from './connections.ts'
import type { DenialSampler } from './denial-sampler.ts'
import type { Memory } from './memory.ts'
import type { Newcomers } from './newcomers.ts'
import type { Principals } from './principals.ts'
import { namedBy, usersOf } from './user-states.ts'

/** The parts of a lane that all attempts at batches use. */
export interface EngineContext {
  readonly connections: Connections
  readonly memory: Memory
  /** The effects that may have been lost with a connection, until they are settled. */
  readonly lost: LostEffects
  readonly principals: Principals
  readonly keyOf: KeyOf
  readonly now: () => EpochMs
  /** A batch waits this long for a database that went away. */
  readonly giveUpMs: number
  readonly enforcement: Enforcement
  readonly keepsUsage: boolean
  /** Chooses the denials that are logged; null: none are. */
  readonly denialSampler: DenialSampler | null
  /** Users who get quotas with their first reservation; null: none do. */
  readonly newcomers: Newcomers | null
  readonly onBatchReport: (report: BatchReport) => void
  /** Each attempt that failed. */
  readonly onFailure: (error: unknown) => void
}

/** The first `seq` of reservations is below this, so it has room to grow: PostgreSQL's `integer` ends at 2^31. */
const FIRST_SEQS = 2 ** 30

/** Does `work` on a connection of its own. Rejects as `work` does, and leaves no transaction open. */
export function attempt<T>(
  { connections, principals, keyOf, now, enforcement, keepsUsage, denialSampler, newcomers, onFailure }: EngineContext,
  commands: readonly Command[],
  work: (connection: PipelinedConnection, batch: BatchInput) => Promise<T>,
): Promise<T> {
  return connections.use(async connection => {
    try {
      const firstSeq = Math.floor(Math.random() * FIRST_SEQS)
      const decidedWith = { principals, keyOf, firstSeq, enforcement, keepsUsage, denialSampler, newcomers }
      return await work(connection, { commands, now: now(), ...decidedWith })
    } catch (error) {
      onFailure(error)
      // A connection left in a failed transaction would break the next batch.
      await connection.rollback()
      throw error
    }
  })
}

/**
 * The users of the commands whose rows another transaction holds locked, and has for some milliseconds: a group for each
 * such transaction.
 */
export async function heldUsersOf(
  context: EngineContext,
  commands: readonly Command[],
  forMs: number,
): Promise<ReadonlySet<number>[]> {
  const look = () =>
    attempt(context, commands, (connection, batch) =>
      findLockedRows(connection, batch, usersOf(commands), namedBy(commands)),
    )
  const earlier = await look()
  if (earlier.size === 0) return []
  await pause(forMs)
  return heldUsers(earlier, await look())
}

const CONFLICTS: ReadonlySet<string> = new Set([
  // A guard has failed.
  SQLSTATE.divisionByZero,
  // Another process has added a reservation.
  SQLSTATE.uniqueViolation,
  SQLSTATE.serializationFailure,
  SQLSTATE.deadlockDetected,
])

/** Another transaction came between. The next attempt sees what it did. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(sqlStateOf(error) ?? '')
}

/** A reservation that was taken to be new exists. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlStateOf(error) === SQLSTATE.uniqueViolation
}

/** A check of the counters failed before a guard did: the batch was decided on stale rows. */
export function isCheckViolation(error: unknown): boolean {
  return sqlStateOf(error) === SQLSTATE.checkViolation
}

/**
 * The commands of attempts of unknown outcome, and what those came to if they are committed. A command keeps its entry
 * however its batch goes on: divided, isolated, after any other error.
 */
export type LostEffects = WeakMap<Command, readonly Outcome[]>

/** Notes the commands of an attempt whose connection was lost. */
export function noteLost(lost: LostEffects, commands: readonly Command[], error: ConnectionLost): void {
  const effects = effectsOf(commands, error)
  for (const command of commands) {
    const outcome = effects.get(command)
    lost.set(command, [...(lost.get(command) ?? []), ...(outcome === undefined ? [] : [outcome])])
  }
}

/** Whether an attempt of unknown outcome may have had an effect of one of the commands. */
export function hasLost(lost: LostEffects, commands: readonly Command[]): boolean {
  return commands.some(command => lost.has(command))
}
