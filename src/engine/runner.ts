import { ConnectionLost, isUnavailable } from '../db/connection/database.ts'
import { isLockNotAvailable } from '../db/connection/errors.ts'
import type { Command } from '../domain/units/command.ts'
import {
  attempt,
  type EngineContext,
  hasLost,
  heldUsersOf,
  isCheckViolation,
  isConflict,
  isUniqueViolation,
  noteLost,
} from './attempt.ts'
import { reportOf, runLocked, runOptimistic } from './batch.ts'
import { EngineFailure } from './completion.ts'
import { type Answer, runUntilDecided } from './locked-mode.ts'
import { NewcomersFound } from './newcomers.ts'
import type { Quarantine } from './quarantine.ts'
import type { RunningBatch } from './scheduler.ts'
import { rereadStates, type UserStates, usersOf } from './user-states.ts'

/**
 * Carries out batches. A batch of many users does not wait for one of them: it tries in optimistic mode, and a user with
 * a difficulty is isolated, while the others go again at once.
 *
 * | what fails an attempt                          | what follows                                                    |
 * |------------------------------------------------|-----------------------------------------------------------------|
 * | what it was decided on has changed             | it is read again, and the batch tries again; users whose state  |
 * |                                                | changes a second time are isolated, as contended                    |
 * | the same, for many users at once               | the next batches run in locked mode: another process has the    |
 * |                                                | same users                                                      |
 * | a row is locked                                | the users whose rows are locked are isolated; there they may wait   |
 * | users may get the default plan                 | they are isolated, get it, and their commands are decided on it |
 * | the connection is lost, the database is away   | the batch runs in locked mode until it is decided or 4 s are up |
 * | anything else: one of the commands is the cause | half of the users are isolated, and so on, down to one user, whose |
 * |                                                | commands run one by one                                         |
 */
export interface Runner {
  /** One answer per command that the batch has in the end. Rejects with an `EngineFailure`. */
  run(batch: RunningBatch<Command>): Promise<Answer[]>
}

/** After how many more failures a batch waits for its turn in locked mode. */
const MAX_FAILURES = 4
/** Another process has the same users if at least this many, and this part, of a batch's users have changed. */
const SHARED_USERS = { count: 4, part: 1 / 16 }
/** A user runs isolated if one transaction holds its rows for this long, in milliseconds. */
const HELD_MS = 20
/** This many batches then run in locked mode. */
const LOCKED_BATCHES = 50
/** After a reservation's id was taken to be new and was not, ids are read ahead for this many batches. */
const READ_AHEAD_BATCHES = 64

export function createRunner(context: EngineContext, quarantine: Quarantine): Runner {
  return new BatchRunner(context, quarantine)
}

class BatchRunner implements Runner {
  private readonly context: EngineContext
  private readonly quarantine: Quarantine
  private lockedBatchesLeft = 0
  private readAheadBatchesLeft = 0

  constructor(context: EngineContext, quarantine: Quarantine) {
    this.context = context
    this.quarantine = quarantine
  }

  async run(batch: RunningBatch<Command>): Promise<Answer[]> {
    for (;;) {
      try {
        return await this.runWhole(batch)
      } catch (error) {
        if (error instanceof EngineFailure) throw error
        const users = usersOf(batch.commands)
        this.context.memory.forgetUsers(users)
        if (users.length === 1) return this.runOneByOne(batch.commands)
        batch.isolate(new Set(users.slice(users.length / 2)))
      }
    }
  }

  /** Runs the commands of one user, of which one fails, so that the others are answered. */
  private async runOneByOne(commands: readonly Command[]): Promise<Answer[]> {
    this.quarantine.add(usersOf(commands), 'failing')
    const answers: Answer[] = []
    for (const command of commands) {
      const [answer] = await runUntilDecided(this.context, [command]).catch(error => [error])
      answers.push(answer)
    }
    return answers
  }

  private async runWhole(batch: RunningBatch<Command>): Promise<Answer[]> {
    const { memory, lost } = this.context
    // What is left of a batch that lost its connection and then failed otherwise: its outcome is settled first.
    if (hasLost(lost, batch.commands)) return runUntilDecided(this.context, batch.commands)
    for (let failures = 0; batch.commands.length > 0; failures++) {
      const { commands } = batch
      let decidedOn: UserStates | undefined
      try {
        const isLocked = batch.isIsolated || this.lockedBatchesLeft > 0
        const outcomes = await this.attemptOnce(commands, failures, isLocked, states => {
          decidedOn = states
        })
        if (batch.isIsolated) this.quarantine.release(usersOf(commands))
        return outcomes
      } catch (error) {
        if (error instanceof NewcomersFound) {
          if (batch.isIsolated) return runUntilDecided(this.context, commands, error)
          batch.isolate(error.users)
          continue
        }
        memory.forgetUsers(usersOf(commands))
        if (error instanceof ConnectionLost) {
          memory.forgetAll()
          noteLost(lost, commands, error)
          return runUntilDecided(this.context, commands)
        }
        if (isUniqueViolation(error)) this.readAheadBatchesLeft = READ_AHEAD_BATCHES
        const isTransient = isConflict(error) || isCheckViolation(error) || isLockNotAvailable(error)
        if (!isTransient && !isUnavailable(error)) throw error
        const shouldRetry =
          isTransient && failures < MAX_FAILURES && (await this.isolateCause(error, batch, decidedOn, failures))
        if (!shouldRetry) return runUntilDecided(this.context, batch.commands)
      }
    }
    return []
  }

  private async attemptOnce(
    commands: readonly Command[],
    retries: number,
    isLocked: boolean,
    onRead: (states: UserStates) => void,
  ): Promise<Answer[]> {
    const { memory, onBatchReport } = this.context
    const readsNewIds = this.readAheadBatchesLeft > 0
    if (this.lockedBatchesLeft > 0) this.lockedBatchesLeft -= 1
    if (readsNewIds) this.readAheadBatchesLeft -= 1
    const committed = await attempt(this.context, commands, (connection, batch) =>
      isLocked
        ? runLocked(connection, batch, memory, { waits: false, fences: false })
        : runOptimistic(connection, batch, memory, { readsNewIds, onRead }),
    )
    onBatchReport(reportOf(isLocked ? 'locked' : 'optimistic', commands, committed, retries))
    return committed.outcomes
  }

  /** Whether the rest of a batch may go again: the database has said which users are concerned. */
  private async isolateCause(
    error: unknown,
    batch: RunningBatch<Command>,
    decidedOn: UserStates | undefined,
    failures: number,
  ): Promise<boolean> {
    try {
      if (isLockNotAvailable(error)) return await this.isolateHeldUsers(batch)
      if (decidedOn !== undefined) await this.resolveConflict(batch, decidedOn, failures)
      return true
    } catch (failure) {
      if (!isUnavailable(failure)) throw failure
      return false
    }
  }

  /**
   * Users whose rows one transaction holds are isolated together, and with no other users: while a batch waits for a lock, other
   * processes wait for those that it has. False if the batch is such a group already.
   */
  private async isolateHeldUsers(batch: RunningBatch<Command>): Promise<boolean> {
    const groups = await heldUsersOf(this.context, batch.commands, HELD_MS)
    const isGroup = groups[0]?.size === usersOf(batch.commands).length
    for (const users of groups) {
      this.quarantine.add(users, 'locked')
      if (!isGroup || !batch.isIsolated) batch.isolate(users)
    }
    return !isGroup || !batch.isIsolated
  }

  /** Finds the users whose state has changed since the batch was decided on it. */
  private async resolveConflict(batch: RunningBatch<Command>, decidedOn: UserStates, failures: number): Promise<void> {
    const changed = await attempt(this.context, batch.commands, (connection, batch) =>
      rereadStates(connection, batch, this.context.memory, decidedOn),
    )
    if (changed.size >= SHARED_USERS.count && changed.size >= decidedOn.size * SHARED_USERS.part) {
      this.lockedBatchesLeft = LOCKED_BATCHES
    } else if (failures > 0) {
      this.quarantine.add(changed, 'contended')
      batch.isolate(changed)
    }
  }
}
