import type { Arguments, Options } from './arguments.ts'

/** A command of `sms-quota`, with all that its help shows. */
export interface Command {
  name: string
  /** One line that begins with a verb. */
  summary: string
  /** Further text of the help. */
  more?: () => string
  /** The name of the word that has to follow the command, if one has to. */
  operand?: string
  options: Options
  examples: readonly string[]
  /** @returns the exit code. */
  run(args: Arguments): Promise<number>
}
