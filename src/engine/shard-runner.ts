import { ConnectionLost } from '../db/database.ts'
import type { Command } from '../domain/command.ts'
import type { ShardContext } from './attempt.ts'
import { effectsOf } from './batch.ts'
import { type Answer, runUntilDecided } from './locked-mode.ts'
import { createMemory } from './memory.ts'
import { tryOptimistic } from './optimistic-mode.ts'

/** Carries out the batches of one shard, one at a time, and chooses the mode of each. */
export interface ShardRunner {
  /**
   * One answer per command, in their order. `reportBlocked` is called when the batch waits for a lock or tries again.
   * Rejects with `Unavailable` if no command of the batch can be decided, and with the error of a command that the
   * database refuses.
   */
  run(commands: readonly Command[], reportBlocked: () => void): Promise<Answer[]>
  forget(): void
}

/**
 * How many batches run locked after one that failed in optimistic mode. A conflict with another process is followed by
 * more of them; denials and repetitions, which memory cannot decide, come in shorter series.
 */
const LOCKED_AFTER = { undecided: 8, failed: 50 }

export function createShardRunner(options: Omit<ShardContext, 'memory'>): ShardRunner {
  const memory = createMemory()
  const context: ShardContext = { ...options, memory }
  let lockedBatchesLeft = 0

  return {
    async run(commands, reportBlocked) {
      if (lockedBatchesLeft > 0) {
        lockedBatchesLeft -= 1
        return runUntilDecided(context, commands, reportBlocked)
      }
      const result = await tryOptimistic(context, commands)
      if (Array.isArray(result)) return result
      const isLost = result instanceof ConnectionLost
      lockedBatchesLeft = LOCKED_AFTER[isLost ? 'failed' : result]
      return runUntilDecided(
        context,
        commands,
        reportBlocked,
        isLost ? new Set(effectsOf(commands, result)) : undefined,
      )
    },
    forget: memory.forgetAll,
  }
}
