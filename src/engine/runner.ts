import { ConnectionLost, isUnavailable } from '../db/database.ts'
import type { Command } from '../domain/command.ts'
import {
  attempt,
  type EngineContext,
  isConflict,
  isContradiction,
  isDuplicate,
  isLockTimeout,
  lockedUsersOf,
} from './attempt.ts'
import { effectsOf, runLocked, runOptimistic } from './batch.ts'
import { reportOf } from './batch-report.ts'
import type { DifficultUsers } from './difficult-users.ts'
import { EngineFailure } from './failures.ts'
import { type Answer, runUntilDecided } from './locked-mode.ts'
import type { RunningBatch } from './scheduler.ts'
import { rereadStates, type UserStates, usersOf } from './user-states.ts'

/**
 * Carries out batches. A batch of many users does not wait for one of them: it tries in optimistic mode, and a user with
 * a difficulty is set apart, while the others go again at once.
 *
 * | what fails an attempt                          | what follows                                                    |
 * |------------------------------------------------|-----------------------------------------------------------------|
 * | what it was decided on has changed             | it is read again, and the batch tries again; the users for whom |
 * |                                                | it changes a second time go apart, as contended                 |
 * | the same, for many users at once               | the next batches run in locked mode: another process has the    |
 * |                                                | same users                                                      |
 * | a row is locked                                | the users whose rows are locked go apart                        |
 * | the connection is lost, the database is away   | the batch runs in locked mode until it is decided or 4 s are up |
 * | anything else: one of the commands is the cause | half of the users go apart, and so on, down to one user, whose |
 * |                                                | commands run one by one                                         |
 */
export interface Runner {
  /** One answer per command that the batch has in the end. Rejects with an `EngineFailure`. */
  run(batch: RunningBatch<Command>): Promise<Answer[]>
}

/** After how many conflicts, or lock timeouts without a locked user, a batch waits for its turn in locked mode. */
const MAX_CONFLICTS = 4
/** Another process has the same users if at least this many, and this part, of a batch's users have changed. */
const SHARED_USERS = { count: 4, part: 1 / 16 }
/** How many batches then run in locked mode. */
const LOCKED_BATCHES = 50
/** For how many batches ids of reservations are read ahead after one that was taken to be new was not. */
const READ_AHEAD_BATCHES = 64

export function createRunner(context: EngineContext, difficultUsers: DifficultUsers): Runner {
  const { memory, onBatchReport } = context
  let lockedBatchesLeft = 0
  let readAheadBatchesLeft = 0

  async function run(batch: RunningBatch<Command>): Promise<Answer[]> {
    for (;;) {
      try {
        return batch.isApart ? await runApart(batch) : await runTogether(batch)
      } catch (error) {
        if (error instanceof EngineFailure) throw error
        memory.forgetUsers(usersOf(batch.commands))
        const users = usersOf(batch.commands)
        if (users.length === 1) return runOneByOne(batch.commands)
        batch.setApart(new Set(users.slice(users.length / 2)))
      }
    }
  }

  async function runApart({ commands }: RunningBatch<Command>): Promise<Answer[]> {
    const answers = await runUntilDecided(context, commands)
    difficultUsers.relieve(usersOf(commands.filter((_, index) => !(answers[index] instanceof Error))))
    return answers
  }

  /** For the commands of one user of which one fails. The others are answered. */
  async function runOneByOne(commands: readonly Command[]): Promise<Answer[]> {
    difficultUsers.add(usersOf(commands), 'failing')
    const answers: Answer[] = []
    for (const command of commands) {
      const [answer] = await runUntilDecided(context, [command]).catch(error => [error])
      answers.push(answer)
    }
    return answers
  }

  async function runTogether(batch: RunningBatch<Command>): Promise<Answer[]> {
    for (let conflicts = 0; batch.commands.length > 0; conflicts++) {
      const { commands } = batch
      let decidedOn: UserStates | undefined
      try {
        return await attemptOnce(commands, conflicts, states => {
          decidedOn = states
        })
      } catch (error) {
        memory.forgetUsers(usersOf(commands))
        if (error instanceof ConnectionLost) {
          memory.forgetAll()
          return runUntilDecided(context, commands, new Set(effectsOf(commands, error)))
        }
        if (isDuplicate(error)) readAheadBatchesLeft = READ_AHEAD_BATCHES
        const isPassing = isConflict(error) || isContradiction(error) || isLockTimeout(error)
        if (!isPassing && !isUnavailable(error)) throw error
        const goesAgain = isPassing && conflicts < MAX_CONFLICTS && (await removeCause(error, batch, decidedOn, conflicts))
        if (!goesAgain) return runUntilDecided(context, batch.commands)
      }
    }
    return []
  }

  /** Whether the rest of a batch may go again: the database has said which users are concerned. */
  async function removeCause(
    error: unknown,
    batch: RunningBatch<Command>,
    decidedOn: UserStates | undefined,
    conflicts: number,
  ): Promise<boolean> {
    try {
      if (isLockTimeout(error)) await setLockedUsersApart(batch)
      else await resolveConflict(batch, decidedOn, conflicts)
      return true
    } catch (failure) {
      if (!isUnavailable(failure)) throw failure
      return false
    }
  }

  async function attemptOnce(
    commands: readonly Command[],
    retries: number,
    onRead: (states: UserStates) => void,
  ): Promise<Answer[]> {
    const isLocked = lockedBatchesLeft > 0
    const readsNewIds = readAheadBatchesLeft > 0
    if (isLocked) lockedBatchesLeft -= 1
    if (readsNewIds) readAheadBatchesLeft -= 1
    const committed = await attempt(context, commands, (connection, batch) =>
      isLocked
        ? runLocked(connection, batch, memory, { waits: false, fences: false })
        : runOptimistic(connection, batch, memory, { readsNewIds, onRead }),
    )
    onBatchReport(reportOf(isLocked ? 'locked' : 'optimistic', commands, committed, retries))
    return committed.outcomes
  }

  async function setLockedUsersApart(batch: RunningBatch<Command>): Promise<void> {
    const locked = await lockedUsersOf(context, batch.commands)
    difficultUsers.add(locked, 'locked')
    batch.setApart(locked)
  }

  /** Finds the users for whom the batch was decided on what has changed. If it was in locked mode, it just goes again. */
  async function resolveConflict(
    batch: RunningBatch<Command>,
    decidedOn: UserStates | undefined,
    conflicts: number,
  ): Promise<void> {
    if (decidedOn === undefined) return
    const changed = await attempt(context, batch.commands, (connection, { now, commands }) =>
      rereadStates(connection, { now, commands }, memory, decidedOn),
    )
    if (changed.size >= SHARED_USERS.count && changed.size >= decidedOn.size * SHARED_USERS.part) {
      lockedBatchesLeft = LOCKED_BATCHES
    } else if (conflicts > 0) {
      difficultUsers.add(changed, 'contended')
      batch.setApart(changed)
    }
  }

  return { run }
}
