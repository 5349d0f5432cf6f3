import type { Options } from './arguments.ts'
import type { Command } from './command.ts'

export const HELP_OPTION: Options = { help: { short: 'h', means: 'show this help' } }

/** Two aligned columns. The second cell may have several lines. */
export function table(rows: readonly (readonly string[])[], indent = '  '): string {
  const width = Math.max(...rows.map(([left = '']) => left.length))
  return rows
    .map(([left = '', right = '']) => {
      const lines = right.replaceAll('\n', `\n${indent}${' '.repeat(width + 2)}`)
      return `${indent}${left.padEnd(width)}  ${lines}\n`
    })
    .join('')
}

function optionTable(options: Options): string {
  const rows = Object.entries(options).map(([name, { short, value, means }]) => [
    `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    means,
  ])
  return table(rows)
}

export function usageOf({ name, operands = [] }: Command): string {
  const words = operands.map(({ name, isOptional, isRepeated }) => {
    const shown = isRepeated === true ? `${name}…` : name
    return isOptional === true ? `[${shown}]` : shown
  })
  return ['Usage: sms-quota', name, ...words, '[options]'].join(' ')
}

export function helpOf(command: Command): string {
  const examples = command.examples.map(example => `  ${example}\n`).join('')
  const more = command.more === undefined ? '' : `\n${command.more().trimEnd()}\n`
  return `${command.summary}

${usageOf(command)}

Options:
${optionTable(command.options)}
Examples:
${examples}${more}`
}

export const USAGE = 'Usage: sms-quota <command> [options]'

/** Of all commands. */
export const EXIT_CODES = `Exit codes: 0 done, 1 failed (stderr says why), 2 wrong usage. Over the API also: 3 denied, 4 the service is unavailable or
cannot be reached, 5 the token is missing, is not accepted, or does not allow the call.
`

const commandTable = (commands: readonly Command[]): string => table(commands.map(c => [c.name, c.summary]))

export function overview(local: readonly Command[], remote: readonly Command[], options: Options): string {
  return `Decides which users of an SMS platform may still send, and takes the units before a message leaves.

${USAGE}

Commands on the machine of the service:
${commandTable(local)}
Commands over the API of a service (--url, --token, or --profile):
${commandTable(remote)}
Options:
${optionTable(options)}
Examples:
  sms-quota serve
  sms-quota token --user 1 --role admin
  sms-quota token --help
  sms-quota quota list --user-id 7

${EXIT_CODES}`
}

/** The help of commands that have their first word in common. */
export function helpOfGroup(word: string, commands: readonly Command[]): string {
  return `Usage: sms-quota ${word} <command> [options]

Commands:
${commandTable(commands)}`
}
