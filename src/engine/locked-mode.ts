import { setTimeout as pause } from 'node:timers/promises'
import { ConnectionLost, isUnavailable } from '../db/database.ts'
import { findFreeUsers } from '../db/ledger/find-free-users.ts'
import type { Command, Outcome } from '../domain/command.ts'
import { attempt, isConflict, isLockTimeout, type ShardContext } from './attempt.ts'
import { runLocked } from './batch.ts'
import { reportOf } from './batch-report.ts'
import { Unavailable } from './failures.ts'
import { usersOf } from './user-states.ts'

/** The outcome of a command, or why it cannot be decided now. */
export type Answer = Outcome | Unavailable

/** How often a batch is started again after a conflict. In each conflict another batch commits. */
const MAX_CONFLICTS = 30
/** How long a batch waits for a database that went away before its commands are rejected. */
const TIMEOUT_MS = 4_000

/**
 * Runs a batch in locked mode until each command has its answer: after conflicts, while the database is away, and
 * without the users whose rows stay locked.
 *
 * `isUnknown`: an earlier attempt may have been committed. `hasWaited`: a lock timed out before, and no user of the
 * batch was found locked.
 */
export async function runUntilDecided(
  context: ShardContext,
  commands: readonly Command[],
  isUnknown: boolean,
  reportBlocked: () => void,
  hasWaited = false,
): Promise<Answer[]> {
  const { memory, onLost, onBatchReport } = context
  let afterUnknown = isUnknown
  const giveUpAt = performance.now() + TIMEOUT_MS
  for (let retries = 0; ; retries++) {
    try {
      const committed = await attempt(context, commands, (connection, batch) =>
        runLocked(connection, batch, memory, afterUnknown),
      )
      onBatchReport(reportOf('locked', commands, committed, retries))
      return committed.outcomes
    } catch (error) {
      memory.forgetUsers(usersOf(commands))
      reportBlocked()
      if (isLockTimeout(error)) {
        return retryWithoutLockedUsers(context, commands, afterUnknown, reportBlocked, hasWaited)
      }
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
  context: ShardContext,
  commands: readonly Command[],
  afterUnknown: boolean,
  reportBlocked: () => void,
  hasWaited: boolean,
): Promise<Answer[]> {
  const free = await attempt(context, commands, (connection, batch) =>
    findFreeUsers(connection, batch, usersOf(commands)),
  ).catch(error => {
    throw isUnavailable(error) ? new Unavailable(error) : error
  })
  const possible = commands.filter(command => free.has(command.user_id))
  const locked = new Unavailable()
  // If no user is locked, the lock is gone by now, unless it is on something other than these users' rows.
  const isGone = possible.length === commands.length
  if (possible.length === 0 || (isGone && hasWaited)) return commands.map(() => locked)
  const answers = await runUntilDecided(context, possible, afterUnknown, reportBlocked, hasWaited || isGone)
  const inOrder = answers.values()
  return commands.map(command => (free.has(command.user_id) ? (inOrder.next().value ?? locked) : locked))
}
