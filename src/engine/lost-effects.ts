import type { ConnectionLost } from '../db/connection/database.ts'
import type { Command, Outcome } from '../domain/command.ts'
import { effectsOf } from './batch.ts'

/**
 * The commands of attempts of unknown outcome, and what those came to if they are committed. A command keeps its entry
 * however its batch goes on: divided, isolated, after any other error.
 */
export type LostEffects = WeakMap<Command, readonly Outcome[]>

/** Notes the commands of an attempt whose connection was lost. */
export function noteLost(lost: LostEffects, commands: readonly Command[], error: ConnectionLost): void {
  const effects = effectsOf(commands, error)
  for (const command of commands) {
    const outcome = effects.get(command)
    lost.set(command, [...(lost.get(command) ?? []), ...(outcome === undefined ? [] : [outcome])])
  }
}

/** Whether an attempt of unknown outcome may have had an effect of one of the commands. */
export function hasLost(lost: LostEffects, commands: readonly Command[]): boolean {
  return commands.some(command => lost.has(command))
}
