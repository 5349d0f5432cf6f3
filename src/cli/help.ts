import type { Options } from './arguments.ts'
import type { Command } from './command.ts'

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

export const usageOf = (command: Command): string =>
  `Usage: sms-quota ${command.name} ${command.operand === undefined ? '' : `${command.operand} `}[options]`

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

export function overview(commands: readonly Command[], options: Options): string {
  return `Decides which users of an SMS platform may still send, and takes the units before a message leaves.

${USAGE}

Commands:
${table(commands.map(({ name, summary }) => [name, summary]))}
Options:
${optionTable(options)}
Examples:
  sms-quota serve
  sms-quota token --user 1 --role admin
  sms-quota token --help

Exit codes: 0 done, 1 failed (stderr says why), 2 wrong usage.
`
}
