import { setTimeout as pause } from 'node:timers/promises'
import { ConnectionLost, isUnavailable, sqlStateOf } from '../db/database.ts'
import { findFreeUsers } from '../db/ledger/find-free-users.ts'
import type { PipelinedConnection } from '../db/pipelined-connection.ts'
import type { Command, Outcome } from '../domain/command.ts'
import type { Enforcement } from '../domain/decide.ts'
import type { Shard } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import { type Batch, type CommittedBatch, runLocked, runOptimistic } from './batch.ts'
import type { Connections } from './connections.ts'
import { Unavailable } from './failures.ts'
import { createMemory } from './memory.ts'
import { usersOf } from './user-states.ts'

/** The outcome of a command, or why it cannot be decided now. */
export type Answer = Outcome | Unavailable

export interface ShardRunnerOptions {
  shard: Shard
  connections: Connections
  now: () => EpochMs
  enforcement: Enforcement
  keepsUsage: boolean
  /** A connection was lost: the memory of any shard may be stale. */
  onLost: () => void
  onBatchReport: (report: BatchReport) => void
}

/** How a batch was carried out, for metrics. Times are in milliseconds. */
export interface BatchReport {
  mode: 'optimistic' | 'locked'
  commands: number
  /** How many times it was started again: after conflicts, lost connections, locks. */
  retries: number
  stages: CommittedBatch['stages']
  outcomes: { op: Command['op']; outcome: Outcome['outcome']; count: number }[]
}

/** Carries out the batches of one shard, one at a time. */
export interface ShardRunner {
  /**
   * One answer per command, in their order. `reportBlocked` is called when the batch waits for a lock or tries again.
   * Rejects with `Unavailable` if no command of the batch can be decided, and with the error of a command that the
   * database refuses.
   */
  run(commands: readonly Command[], reportBlocked: () => void): Promise<Answer[]>
  forget(): void
}

/** How many batches run locked after one that conflicted with another process: more conflicts will follow. */
const LOCKED_AFTER_CONFLICT = 50
/** How many run locked after one that could not be decided from memory: denials and repetitions come in series. */
const LOCKED_AFTER_DOUBT = 8
/** How often a batch is started again after a conflict. In each conflict another batch commits. */
const MAX_CONFLICTS = 30
/** How long a batch waits for a database that went away before its commands are rejected. */
const TIMEOUT_MS = 4_000

export function createShardRunner(options: ShardRunnerOptions): ShardRunner {
  const { shard, connections, now, enforcement, keepsUsage, onLost, onBatchReport } = options
  const memory = createMemory()
  let lockedBatchesLeft = 0

  const attempt = <T>(
    commands: readonly Command[],
    work: (connection: PipelinedConnection, batch: Batch) => Promise<T>,
  ) =>
    connections.use(async connection => {
      try {
        return await work(connection, { shard, commands, now: now(), enforcement, keepsUsage })
      } catch (error) {
        // A connection left in a failed transaction would break the next batch.
        await connection.rollback()
        throw error
      }
    })

  /** `answers` is null if the batch has to run locked. `isUnknown`: it may have been committed all the same. */
  async function tryOptimistic(
    commands: readonly Command[],
  ): Promise<{ answers: Answer[] | null; isUnknown: boolean }> {
    try {
      const carried = await attempt(commands, (connection, batch) => runOptimistic(connection, batch, memory))
      if (carried === null) lockedBatchesLeft = LOCKED_AFTER_DOUBT
      else onBatchReport(reportOf('optimistic', commands, carried, 0))
      return { answers: carried?.outcomes ?? null, isUnknown: false }
    } catch (error) {
      memory.forgetUsers(usersOf(commands))
      if (error instanceof ConnectionLost) onLost()
      else if (!isConflict(error) && !isContradiction(error) && !isUnavailable(error)) throw error
      lockedBatchesLeft = LOCKED_AFTER_CONFLICT
      return { answers: null, isUnknown: error instanceof ConnectionLost }
    }
  }

  /** `hasWaited`: a lock timed out before, and no user of the batch was found locked. */
  async function runUntilDecided(
    commands: readonly Command[],
    isUnknown: boolean,
    reportBlocked: () => void,
    hasWaited = false,
  ): Promise<Answer[]> {
    let afterUnknown = isUnknown
    const giveUpAt = performance.now() + TIMEOUT_MS
    for (let retries = 0; ; retries++) {
      try {
        const carried = await attempt(commands, (connection, batch) =>
          runLocked(connection, batch, memory, afterUnknown),
        )
        onBatchReport(reportOf('locked', commands, carried, retries))
        return carried.outcomes
      } catch (error) {
        memory.forgetUsers(usersOf(commands))
        reportBlocked()
        if (isLockTimeout(error)) return retryWithoutLockedUsers(commands, afterUnknown, reportBlocked, hasWaited)
        if (error instanceof ConnectionLost) {
          // The commit may have been on its way. Ids and targets make it safe to run the commands again.
          afterUnknown = true
          onLost()
        } else if (!isConflict(error) && !isUnavailable(error)) {
          throw error
        }
        const isOver = isConflict(error) ? retries >= MAX_CONFLICTS : performance.now() > giveUpAt
        if (isOver) throw new Unavailable(error)
        await pause(Math.random() * Math.min(200, 5 * 2 ** Math.min(retries, 6)))
      }
    }
  }

  /** Answers the commands of users whose rows are locked as unavailable, and runs those of the others. */
  async function retryWithoutLockedUsers(
    commands: readonly Command[],
    afterUnknown: boolean,
    reportBlocked: () => void,
    hasWaited: boolean,
  ): Promise<Answer[]> {
    const free = await attempt(commands, (connection, batch) =>
      findFreeUsers(connection, batch, usersOf(commands)),
    ).catch(error => {
      throw isUnavailable(error) ? new Unavailable(error) : error
    })
    const possible = commands.filter(command => free.has(command.user_id))
    const locked = new Unavailable()
    // If no user is locked, the lock is gone by now, unless it is on something other than these users' rows.
    const isGone = possible.length === commands.length
    if (possible.length === 0 || (isGone && hasWaited)) return commands.map(() => locked)
    const answers = await runUntilDecided(possible, afterUnknown, reportBlocked, hasWaited || isGone)
    const inOrder = answers.values()
    return commands.map(command => (free.has(command.user_id) ? (inOrder.next().value ?? locked) : locked))
  }

  return {
    async run(commands, reportBlocked) {
      if (lockedBatchesLeft > 0) {
        lockedBatchesLeft -= 1
        return runUntilDecided(commands, false, reportBlocked)
      }
      const { answers, isUnknown } = await tryOptimistic(commands)
      return answers ?? runUntilDecided(commands, isUnknown, reportBlocked)
    },
    forget: memory.forgetAll,
  }
}

function reportOf(
  mode: BatchReport['mode'],
  commands: readonly Command[],
  { outcomes, stages }: CommittedBatch,
  retries: number,
): BatchReport {
  const counts = new Map<string, BatchReport['outcomes'][number]>()
  for (const [index, { op }] of commands.entries()) {
    const outcome = outcomes[index]?.outcome ?? 'not_found'
    const known = counts.get(op + outcome)
    if (known === undefined) counts.set(op + outcome, { op, outcome, count: 1 })
    else known.count += 1
  }
  return { mode, commands: commands.length, retries, stages, outcomes: [...counts.values()] }
}

/** A failed guard, a reservation of another process, a deadlock, a serialization failure: the next attempt sees why. */
function isConflict(error: unknown): boolean {
  return ['22012', '23505', '40001', '40P01'].includes(sqlStateOf(error) ?? '')
}

/** The memory of a reservation was stale, and a check of the counters failed before the reservation's guard did. */
function isContradiction(error: unknown): boolean {
  return sqlStateOf(error) === '23514'
}

function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '55P03'
}
