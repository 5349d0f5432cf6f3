/** The command line `sms-quota`. Results go to stdout, messages to stderr. */
import { ConfigError } from '../config/config.ts'
import { VERSION } from '../version.ts'
import { didYouMean, type Options, readArguments, UsageError } from './arguments.ts'
import { COMMANDS } from './commands.ts'
import { helpOf, overview, USAGE, usageOf } from './help.ts'

const OPTIONS: Options = {
  help: { short: 'h', means: 'show this help; after a command, the help of that command' },
  version: { short: 'V', means: 'show the version' },
}

process.exitCode = await main(process.argv.slice(2))

/** @returns 0 done, 1 failed, 2 wrong usage; stderr gives the reason. */
async function main([first, ...rest]: string[]): Promise<number> {
  const command = COMMANDS.find(({ name }) => name === first)
  try {
    if (command !== undefined) {
      const args = readArguments(rest, command.options, command.operand)
      return args.has('help') ? print(helpOf(command)) : await command.run(args)
    }
    if (first === undefined) throw new UsageError('a command is missing')
    if (!first.startsWith('-')) {
      const names = COMMANDS.map(({ name }) => name)
      throw new UsageError(`there is no command "${first}" among ${names.join(', ')}${didYouMean(first, names)}`)
    }
    const args = readArguments([first, ...rest], OPTIONS)
    return print(args.has('help') ? overview(COMMANDS, OPTIONS) : `${VERSION}\n`)
  } catch (error) {
    if (error instanceof UsageError) {
      const [usage, help] = command === undefined ? [USAGE, ''] : [usageOf(command), ` ${command.name}`]
      complain(`sms-quota: ${error.message}\n${usage}\nRun "sms-quota${help} --help" for more.`)
      return 2
    }
    if (error instanceof ConfigError) {
      const issues = error.issues.map(({ variable, message }) => `  ${variable}: ${message}\n`).join('')
      complain(`sms-quota: the configuration has mistakes:\n${issues}Run "sms-quota config --help" for all variables.`)
      return 1
    }
    complain(`sms-quota: ${error instanceof Error ? error.stack : String(error)}`)
    return 1
  }
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`)
}
