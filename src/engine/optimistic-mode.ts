import { ConnectionLost, isUnavailable } from '../db/database.ts'
import type { Command, Outcome } from '../domain/command.ts'
import { attempt, isConflict, isContradiction, type ShardContext } from './attempt.ts'
import { runOptimistic } from './batch.ts'
import { reportOf } from './batch-report.ts'
import { usersOf } from './user-states.ts'

/**
 * Why a batch has to run locked: memory does not suffice to decide it, it failed and is not committed, or its
 * connection was lost and it may be committed all the same.
 */
export type OptimisticFailure = 'undecided' | 'failed' | ConnectionLost

/** Tries a batch once in optimistic mode. Rejects with the error of a command that the database refuses. */
export async function tryOptimistic(
  context: ShardContext,
  commands: readonly Command[],
): Promise<Outcome[] | OptimisticFailure> {
  const { memory, onLost, onBatchReport } = context
  try {
    const committed = await attempt(context, commands, (connection, batch) => runOptimistic(connection, batch, memory))
    if (committed === null) return 'undecided'
    onBatchReport(reportOf('optimistic', commands, committed, 0))
    return committed.outcomes
  } catch (error) {
    memory.forgetUsers(usersOf(commands))
    if (error instanceof ConnectionLost) {
      onLost()
      return error
    }
    if (isConflict(error) || isContradiction(error) || isUnavailable(error)) return 'failed'
    throw error
  }
}
