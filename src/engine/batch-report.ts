import type { Command, Outcome } from '../domain/command.ts'
import type { CommittedBatch } from './batch.ts'

/** How a batch was carried out, for metrics. Times are in milliseconds. */
export interface BatchReport {
  mode: 'optimistic' | 'locked'
  commands: number
  /** How many times it was started again: after conflicts, lost connections, locks. */
  retries: number
  stages: CommittedBatch['stages']
  outcomes: { op: Command['op']; outcome: Outcome['outcome']; count: number }[]
}

export function reportOf(
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
