import { ConfigError } from '../config/config.ts'
import { TIME_ZONES, VERSION } from '../version.ts'
import { didYouMean, type Options, readArguments, UsageError } from './arguments.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands.ts'
import { helpOf, helpOfGroup, overview, USAGE, usageOf } from './help.ts'
import { ProfileError } from './remote/profiles.ts'
import { safeLines } from './safe.ts'
import { isClosedPipe, type Terminal } from './terminal.ts'

const OPTIONS: Options = {
  help: { short: 'h', means: 'show this help; after a command, the help of that command' },
  version: { short: 'V', means: 'show the versions of sms-quota, Node.js and its time zone data' },
}

/**
 * Runs the command that the words name.
 *
 * @returns the exit code; `EXIT_CODES` in help.ts says what each means. For all but 0, stderr gives the reason.
 */
export async function dispatch(words: readonly string[], output: Terminal): Promise<number> {
  const terminal = withSafeMessages(output)
  let command: Command | undefined
  try {
    const found = await findCommand(words)
    if (typeof found === 'string') {
      await terminal.print(found)
      return 0
    }
    command = found.command
    const args = readArguments(found.rest, command.options, command.operands)
    if (!args.has('help')) return await command.run(args, terminal)
    await terminal.print(helpOf(command))
    return 0
  } catch (error) {
    // Who reads the results has seen enough.
    if (isClosedPipe(error)) return 0
    if (error instanceof UsageError) {
      const [usage, help] = command === undefined ? [USAGE, ''] : [usageOf(command), ` ${command.name}`]
      terminal.complain(`sms-quota: ${error.message}\n${usage}\nRun "sms-quota${help} --help" for more.`)
      return 2
    }
    if (error instanceof ProfileError) {
      terminal.complain(`sms-quota: ${error.message}`)
      return 1
    }
    if (error instanceof ConfigError) {
      const issues = error.issues.map(({ variable, message }) => `  ${variable}: ${message}\n`).join('')
      terminal.complain(
        `sms-quota: the configuration has mistakes:\n${issues}Run "sms-quota config --help" for all variables.`,
      )
      return 1
    }
    terminal.complain(`sms-quota: ${inWords(error)}`)
    return 1
  }
}

/** What the system refuses, such as to write on a full disk, needs no stack: the message names it. */
function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'syscall' in error ? error.message : (error.stack ?? error.message)
}

/** Messages and questions have texts of others in many places: names, answers of a service, lines of a file. */
const withSafeMessages = (terminal: Terminal): Terminal => ({
  ...terminal,
  complain: line => terminal.complain(safeLines(line)),
  ask: terminal.ask && (question => terminal.ask?.(safeLines(question)) ?? Promise.resolve('')),
})

/** The command and the words behind it, or the text of a help. @throws UsageError */
async function findCommand(words: readonly string[]): Promise<{ command: Command; rest: readonly string[] } | string> {
  const [first, second] = words
  const local = COMMANDS.find(({ name }) => name === first)
  if (local !== undefined) return { command: local, rest: words.slice(1) }
  if (first === undefined) throw new UsageError('a command is missing')
  const isOption = first.startsWith('-')
  if (isOption && !readArguments(words, OPTIONS).has('help'))
    return `${VERSION} (Node.js ${process.versions.node}, time zones ${TIME_ZONES})\n`
  // The commands over the API load the client and the schemas of the API. The other commands start without them.
  const { REMOTE_COMMANDS } = await import('./remote/commands.ts')
  if (isOption) return overview(COMMANDS, REMOTE_COMMANDS, OPTIONS)
  for (const length of [2, 1]) {
    const command = REMOTE_COMMANDS.find(({ name }) => name === words.slice(0, length).join(' '))
    if (command !== undefined) return { command, rest: words.slice(length) }
  }
  const group = REMOTE_COMMANDS.filter(({ name }) => name.startsWith(`${first} `))
  if (group.length > 0) return lostInGroup(first, second, group)
  const names = [...COMMANDS, ...REMOTE_COMMANDS].map(({ name }) => name)
  const inGroup = names.find(name => name.endsWith(` ${first}`))
  if (inGroup !== undefined) throw new UsageError(`there is no command "${first}"; did you mean ${inGroup}?`)
  const firsts = [...new Set(names.map(name => name.replace(/ .*/, '')))]
  throw new UsageError(`there is no command "${first}"${didYouMean(first, firsts)}`)
}

/** Only the first word of a command of two was right. @throws UsageError */
function lostInGroup(first: string, second: string | undefined, group: readonly Command[]): string {
  if (second === '--help' || second === '-h') return helpOfGroup(first, group)
  const seconds = group.map(({ name }) => name.slice(first.length + 1))
  if (second === undefined || second.startsWith('-')) {
    throw new UsageError(`a word is missing after ${first}: ${seconds.join(', ')}`)
  }
  throw new UsageError(
    `there is no command "${first} ${second}" among ${seconds.join(', ')}${didYouMean(second, seconds)}`,
  )
}
