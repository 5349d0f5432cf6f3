import { setTimeout as pause } from 'node:timers/promises'
import { ConnectionLost, isUnavailable } from '../db/connection/database.ts'
import { isLockNotAvailable } from '../db/connection/errors.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { Command, Granted, Outcome } from '../domain/units/command.ts'
import { attempt, type EngineContext, hasLost, heldUsersOf, isConflict, type LostEffects, noteLost } from './attempt.ts'
import { reportOf, runLocked } from './batch.ts'
import { Unavailable } from './completion.ts'
import { NewcomersFound, welcomeAll } from './newcomers.ts'
import { usersOf } from './user-states.ts'

/** The outcome of a command, or why it cannot be decided now. */
export type Answer = Outcome | Error

/** A batch is started again this many times after a conflict. In each conflict another batch commits. */
const MAX_CONFLICTS = 30
/** A user is unavailable if one transaction holds its rows for this long, after a wait for a lock. */
const HELD_MS = 200

/**
 * Runs commands in locked mode until each has its answer: after newcomers got their plan, after conflicts, while the database is away, and without the
 * users whose rows stay locked. If an attempt of unknown outcome had one of them, these settle it.
 */
export async function runUntilDecided(
  context: EngineContext,
  commands: readonly Command[],
  newcomers?: NewcomersFound,
): Promise<Answer[]> {
  let found = newcomers
  const { memory, lost, onBatchReport } = context
  const giveUpAt = performance.now() + context.giveUpMs
  for (let retries = 0; ; retries++) {
    try {
      if (found !== undefined) await welcomeAll(context.newcomers, commands, found)
      found = undefined
      const committed = await attempt(context, commands, (connection, batch) =>
        runLocked(connection, batch, memory, { waits: true, fences: hasLost(lost, commands) }),
      )
      onBatchReport(reportOf('locked', commands, committed, retries))
      return asFirstAnswers(commands, committed.outcomes, lost)
    } catch (error) {
      if (error instanceof NewcomersFound) {
        // What was found of them may be forgotten before it is used, if the database is slow.
        if (performance.now() > giveUpAt) throw new Unavailable(error)
        found = error
        continue
      }
      memory.forgetUsers(usersOf(commands))
      const held = isLockNotAvailable(error) ? await findHeldUsers(context, commands) : NO_USERS
      if (held.size > 0) return runWithout(held, context, commands, error)
      // The commit may have been on its way. Ids and targets make it safe to run the commands again.
      if (error instanceof ConnectionLost) {
        memory.forgetAll()
        noteLost(lost, commands, error)
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
function asFirstAnswers(commands: readonly Command[], outcomes: readonly Outcome[], lost: LostEffects): Outcome[] {
  return outcomes.map((outcome, index) => {
    const command = commands[index]
    const attempts = command && lost.get(command)
    const isOwn = attempts?.some(attempt => isSameEffect(attempt, outcome)) ?? false
    return isOwn && 'replayed' in outcome ? { ...outcome, replayed: false } : outcome
  })
}

/**
 * Whether what was found is what the attempt made. Another process may have made a reservation with the same id meanwhile: then its time
 * differs, unless both were made in the same millisecond. And one that was to be settled may have expired, or been settled by another.
 */
function isSameEffect(attempt: Outcome, found: Outcome): boolean {
  if (attempt.outcome === 'granted' && found.outcome === 'granted') return timeOf(attempt) === timeOf(found)
  if (attempt.outcome !== 'settled' || found.outcome !== 'settled') return true
  return (['committed', 'released', 'refunded', 'expired'] as const).every(
    field => attempt.reservation[field] === found.reservation[field],
  )
}

const timeOf = ({ reservation }: Granted): EpochMs => reservation.created_at

const NO_USERS: ReadonlySet<number> = new Set()

/** None if the database cannot say it now: the batch then goes again. */
async function findHeldUsers(context: EngineContext, commands: readonly Command[]): Promise<ReadonlySet<number>> {
  try {
    const groups = await heldUsersOf(context, commands, HELD_MS)
    return new Set(groups.flatMap(users => [...users]))
  } catch (error) {
    if (isUnavailable(error)) return NO_USERS
    throw error
  }
}

/** Answers the commands of users whose rows are held as unavailable, and runs those of the others. */
async function runWithout(
  held: ReadonlySet<number>,
  context: EngineContext,
  commands: readonly Command[],
  cause: unknown,
): Promise<Answer[]> {
  const unavailable = new Unavailable(cause)
  const possible = commands.filter(command => !held.has(command.user_id))
  const answers = possible.length === 0 ? [] : await runUntilDecided(context, possible)
  const inOrder = answers.values()
  return commands.map(command => (held.has(command.user_id) ? unavailable : (inOrder.next().value ?? unavailable)))
}
