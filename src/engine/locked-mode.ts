import { setTimeout as pause } from 'node:timers/promises'
import { ConnectionLost, isUnavailable } from '../db/database.ts'
import type { Command, Outcome } from '../domain/command.ts'
import { attempt, type EngineContext, isConflict, isLockTimeout, lockedUsersOf } from './attempt.ts'
import { effectsOf, runLocked } from './batch.ts'
import { reportOf } from './batch-report.ts'
import { Unavailable } from './failures.ts'
import { usersOf } from './user-states.ts'

/** The outcome of a command, or why it cannot be decided now. */
export type Answer = Outcome | Error

/** How often a batch is started again after a conflict. In each conflict another batch commits. */
const MAX_CONFLICTS = 30
/** How long a batch waits for a database that went away before its commands are rejected. */
const TIMEOUT_MS = 4_000

/**
 * Runs commands in locked mode until each has its answer: after conflicts, while the database is away, and without the
 * users whose rows stay locked.
 *
 * `effects`: after an attempt of unknown outcome, the commands that it has effects of if it is committed; undefined if
 * there was none. `hasWaited`: a lock timed out before, and no user of the batch was found locked.
 */
export async function runUntilDecided(
  context: EngineContext,
  commands: readonly Command[],
  effects: Set<Command> | undefined = undefined,
  hasWaited = false,
): Promise<Answer[]> {
  const { memory, onBatchReport } = context
  let unknown = effects
  const giveUpAt = performance.now() + TIMEOUT_MS
  for (let retries = 0; ; retries++) {
    try {
      const committed = await attempt(context, commands, (connection, batch) =>
        runLocked(connection, batch, memory, { waits: true, fences: unknown !== undefined }),
      )
      onBatchReport(reportOf('locked', commands, committed, retries))
      return unknown === undefined ? committed.outcomes : asFirstAnswers(commands, committed.outcomes, unknown)
    } catch (error) {
      memory.forgetUsers(usersOf(commands))
      if (isLockTimeout(error)) return retryWithoutLockedUsers(context, commands, unknown, hasWaited)
      // The commit may have been on its way. Ids and targets make it safe to run the commands again.
      if (error instanceof ConnectionLost) {
        memory.forgetAll()
        unknown = new Set([...(unknown ?? []), ...effectsOf(commands, error)])
      } else if (!isConflict(error) && !isUnavailable(error)) throw error
      const isOver = isConflict(error) ? retries >= MAX_CONFLICTS : performance.now() > giveUpAt
      if (isOver) throw new Unavailable(error)
      await pause(Math.random() * Math.min(200, 5 * 2 ** Math.min(retries, 6)))
    }
  }
}

/**
 * Outcomes as callers see them: what repeats the effect of an attempt of unknown outcome is no repetition to its caller,
 * who has had no answer to that attempt. A sender may skip a message whose reservation is a repetition.
 */
function asFirstAnswers(
  commands: readonly Command[],
  outcomes: readonly Outcome[],
  effects: ReadonlySet<Command>,
): Outcome[] {
  return outcomes.map((outcome, index) => {
    const command = commands[index]
    const isOwn = command !== undefined && effects.has(command)
    return isOwn && 'replayed' in outcome ? { ...outcome, replayed: false } : outcome
  })
}

/** Answers the commands of users whose rows are locked as unavailable, and runs those of the others. */
async function retryWithoutLockedUsers(
  context: EngineContext,
  commands: readonly Command[],
  effects: Set<Command> | undefined,
  hasWaited: boolean,
): Promise<Answer[]> {
  const locked = await lockedUsersOf(context, commands).catch(error => {
    throw isUnavailable(error) ? new Unavailable(error) : error
  })
  const possible = commands.filter(command => !locked.has(command.user_id))
  const unavailable = new Unavailable()
  // If no user is locked, the lock is gone by now, unless it is on something other than these users' rows.
  const isGone = locked.size === 0
  if (possible.length === 0 || (isGone && hasWaited)) return commands.map(() => unavailable)
  const answers = (await runUntilDecided(context, possible, effects, hasWaited || isGone)).values()
  return commands.map(command => (locked.has(command.user_id) ? unavailable : (answers.next().value ?? unavailable)))
}
