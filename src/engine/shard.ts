import { setTimeout as pause } from 'node:timers/promises'
import { ConnectionLost, isUnavailable, sqlStateOf } from '../db/database.ts'
import { findFreeUsers } from '../db/ledger/find-free-users.ts'
import type { PipelinedConnection } from '../db/pipelined-connection.ts'
import type { Command, Outcome } from '../domain/command.ts'
import type { Enforcement } from '../domain/decide.ts'
import type { EpochMs } from '../domain/time.ts'
import { Problem } from '../errors.ts'
import { type Batch, type CommittedBatch, runLocked, runOptimistic } from './batch.ts'
import type { Connections } from './connections.ts'
import { createMemory } from './memory.ts'
import { usersOf } from './user-states.ts'

/** The outcome of a command, or why nothing can be said of it now. */
export type Answer = Outcome | Problem

export interface ShardOptions {
  shard: number
  connections: Connections
  now: () => EpochMs
  enforcement: Enforcement
  keepsUsage: boolean
  /** A connection was lost: whatever any shard remembers may be old. */
  onLost: () => void
  onBatch: (report: BatchModeReport) => void
}

/** How a batch was carried out, for metrics. Times are in milliseconds. */
export interface BatchModeReport {
  way: 'optimistic' | 'locked'
  commands: number
  /** Times it was begun again: after conflicts, lost connections, locks. */
  retries: number
  stages: CommittedBatch['stages']
  outcomes: { op: Command['op']; outcome: Outcome['outcome']; count: number }[]
}

/** Carries out the batches of one shard, one at a time. */
export interface Shard {
  run(commands: readonly Command[], slow: () => void): Promise<Answer[]>
  forget(): void
}

/** So many batches go the locked way after one that met another process, for others will. */
const CAUTION_AFTER_CONFLICT = 50
/** The same after one that had to be decided again, for denials and repetitions come in crowds. */
const CAUTION_AFTER_DOUBT = 8
/** Conflicts that a batch lives through; each has another as its winner. */
const MAX_CONFLICTS = 30
/** How long a batch waits for a database that went away before its callers are told. */
const TIMEOUT_MS = 4_000

export function createShard(options: ShardOptions): Shard {
  const { shard, connections, now, enforcement, keepsUsage, onLost, onBatch } = options
  const memory = createMemory()
  let caution = 0

  const attempt = <T>(
    commands: readonly Command[],
    work: (connection: PipelinedConnection, batch: Batch) => Promise<T>,
  ) =>
    connections.use(async connection => {
      try {
        return await work(connection, { shard, commands, now: now(), enforcement, keepsUsage })
      } catch (error) {
        // A connection left in a failed transaction would spoil the next batch.
        await connection.rollback()
        throw error
      }
    })

  /** Null if the batch has to go the locked way; `isUnknown` then tells whether it may have happened all the same. */
  async function tryOptimistic(
    commands: readonly Command[],
  ): Promise<{ answers: Answer[] | null; isUnknown: boolean }> {
    try {
      const carried = await attempt(commands, (connection, batch) => runOptimistic(connection, batch, memory))
      if (carried === null) caution = CAUTION_AFTER_DOUBT
      else onBatch(reportOf('optimistic', commands, carried, 0))
      return { answers: carried?.outcomes ?? null, isUnknown: false }
    } catch (error) {
      memory.forgetUsers(usersOf(commands))
      if (error instanceof ConnectionLost) onLost()
      else if (!isConflict(error) && !isContradiction(error) && !isUnavailable(error)) throw error
      caution = CAUTION_AFTER_CONFLICT
      return { answers: null, isUnknown: error instanceof ConnectionLost }
    }
  }

  /** `hasWaited`: whether a lock was waited for in vain already, and nobody was found to hold it. */
  async function insistLocked(
    commands: readonly Command[],
    isUnknown: boolean,
    slow: () => void,
    hasWaited = false,
  ): Promise<Answer[]> {
    let afterUnknown = isUnknown
    const giveUpAt = performance.now() + TIMEOUT_MS
    for (let retries = 0; ; retries++) {
      try {
        const carried = await attempt(commands, (connection, batch) =>
          runLocked(connection, batch, memory, afterUnknown),
        )
        onBatch(reportOf('locked', commands, carried, retries))
        return carried.outcomes
      } catch (error) {
        memory.forgetUsers(usersOf(commands))
        slow()
        if (isLockTimeout(error)) return answerAround(commands, afterUnknown, slow, hasWaited)
        if (error instanceof ConnectionLost) {
          // The commit may have been under way. Ids and targets make it safe to ask again, and that tells.
          afterUnknown = true
          onLost()
        } else if (!isConflict(error) && !isUnavailable(error)) {
          throw error
        }
        const isOver = isConflict(error) ? retries >= MAX_CONFLICTS : performance.now() > giveUpAt
        if (isOver) throw unavailable(error)
        await pause(Math.random() * Math.min(200, 5 * 2 ** Math.min(retries, 6)))
      }
    }
  }

  /** Somebody holds a user's rows for long. That user's callers are told so; the others' commands are carried out. */
  async function answerAround(
    commands: readonly Command[],
    afterUnknown: boolean,
    slow: () => void,
    hasWaited: boolean,
  ): Promise<Answer[]> {
    const free = await attempt(commands, (connection, batch) =>
      findFreeUsers(connection, batch, usersOf(commands)),
    ).catch(error => {
      throw isUnavailable(error) ? unavailable(error) : error
    })
    const possible = commands.filter(command => free.has(command.user_id))
    const held = unavailable(undefined)
    // With nobody to be told so, the lock is gone by now: unless it is on something else than these users.
    const isGone = possible.length === commands.length
    if (possible.length === 0 || (isGone && hasWaited)) return commands.map(() => held)
    const answers = await insistLocked(possible, afterUnknown, slow, hasWaited || isGone)
    const inOrder = answers.values()
    return commands.map(command => (free.has(command.user_id) ? (inOrder.next().value ?? held) : held))
  }

  return {
    async run(commands, slow) {
      if (caution > 0) {
        caution -= 1
        return insistLocked(commands, false, slow)
      }
      const { answers, isUnknown } = await tryOptimistic(commands)
      return answers ?? insistLocked(commands, isUnknown, slow)
    },
    forget: memory.forgetAll,
  }
}

function reportOf(
  way: BatchModeReport['way'],
  commands: readonly Command[],
  { outcomes, stages }: CommittedBatch,
  retries: number,
): BatchModeReport {
  const counts = new Map<string, BatchModeReport['outcomes'][number]>()
  for (const [index, { op }] of commands.entries()) {
    const outcome = outcomes[index]?.outcome ?? 'not_found'
    const known = counts.get(op + outcome)
    if (known === undefined) counts.set(op + outcome, { op, outcome, count: 1 })
    else known.count += 1
  }
  return { way, commands: commands.length, retries, stages, outcomes: [...counts.values()] }
}

/** A guard that failed, a reservation made by another, a deadlock, a serialization failure: the next attempt sees why. */
function isConflict(error: unknown): boolean {
  return ['22012', '23505', '40001', '40P01'].includes(sqlStateOf(error) ?? '')
}

/** What is remembered of a reservation was old, and the counters noticed before its guard did. */
function isContradiction(error: unknown): boolean {
  return sqlStateOf(error) === '23514'
}

function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '55P03'
}

function unavailable(cause: unknown): Problem {
  return new Problem('unavailable', 'The store cannot decide this now. Nothing is known to be done; repeat the call.', {
    headers: { 'retry-after': '1' },
    cause,
  })
}
