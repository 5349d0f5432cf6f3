import type { Arguments, Operand, Options } from './arguments.ts'
import type { Terminal } from './terminal.ts'

/** A command of `sms-quota`, with all that its help and its completion show. */
export interface Command {
  /** One word, or two as in `quota list`. */
  name: string
  /** One line that begins with a verb. */
  summary: string
  /** Further text of the help. */
  more?: () => string
  /** The words that follow the command, in their order. */
  operands?: readonly Operand[]
  options: Options
  examples: readonly string[]
  /** @returns the exit code. */
  run(args: Arguments, terminal: Terminal): Promise<number>
}
