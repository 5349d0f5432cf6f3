/** Completion of commands, options and their values in shells, made from the table of commands. */
import type { Option } from './arguments.ts'
import type { Command } from './command.ts'

export function completionOf(shell: string, commands: readonly Command[]): string {
  if (shell === 'fish') return fish(commands)
  const intro = `# Completion of sms-quota for ${shell}: the output of "sms-quota completion ${shell}".\n`
  // zsh runs the function of bash.
  return shell === 'zsh'
    ? `${intro}autoload -Uz bashcompinit && bashcompinit\n${bash(commands)}`
    : intro + bash(commands)
}

/** The words that can follow a word or the beginning, with the summary of each: `quota` is followed by `list`, … */
function treeOf(commands: readonly Command[]): Map<string, Map<string, string>> {
  const tree = new Map<string, Map<string, string>>([['', new Map()]])
  for (const { name, summary } of commands) {
    const [first = '', second] = name.split(' ')
    tree.get('')?.set(first, second === undefined ? summary : `Commands of ${first}.`)
    if (second === undefined) continue
    const group = tree.get(first) ?? new Map()
    tree.set(first, group.set(second, summary))
  }
  return tree
}

const takesFile = ({ value }: Option): boolean => value === 'FILE'
const operandWords = ({ operands = [] }: Command) => operands.flatMap(({ values = [] }) => values)
const operandIsFile = ({ operands = [] }: Command) => operands.some(({ name }) => /FILE/.test(name))

/* ── bash ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

function bash(commands: readonly Command[]): string {
  const tree = treeOf(commands)
  const known = [...new Set([...tree.keys(), ...commands.map(({ name }) => name)])].filter(name => name !== '')
  const words = [
    ...[...tree].map(([name, next]) => arm([name], `words="${[...next.keys()].join(' ')}"`)),
    ...commands.map(command => {
      const options = Object.keys(command.options).map(name => `--${name}`)
      const files = operandIsFile(command) ? '; files=yes' : ''
      return arm([command.name], `words="${[...operandWords(command), ...options].join(' ')}"${files}`)
    }),
  ]
  return `_sms_quota() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= words= files= i
  # bash takes --option=value apart.
  if [[ $current == "=" ]]; then
    current=
  elif [[ $previous == "=" ]]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${command:+$command }\${COMP_WORDS[i]}" in
      ${known.map(quoted).join('|')})
        command="\${command:+$command }\${COMP_WORDS[i]}" ;;
      *) break ;;
    esac
  done
  case "$command $previous" in
${valueArms(commands).join('\n')}
    *)
      case "$command" in
${words.map(line => `    ${line}`).join('\n')}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ $files == yes ]]; then
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}
complete -F _sms_quota sms-quota
`
}

const quoted = (text: string): string => `"${text}"`
const arm = (patterns: readonly string[], body: string): string => `    ${patterns.map(quoted).join('|')}) ${body} ;;`

/** What completes the value of an option. */
function valueArms(commands: readonly Command[]): string[] {
  const byBody = new Map<string, string[]>()
  for (const command of commands) {
    for (const [name, option] of Object.entries(command.options)) {
      if (option.value === undefined) continue
      const body = takesFile(option) ? 'files=yes' : `words="${(option.values ?? []).join(' ')}"`
      byBody.set(body, [...(byBody.get(body) ?? []), `${command.name} --${name}`])
    }
  }
  return [...byBody].map(([body, patterns]) => arm(patterns, body))
}

/* ── fish ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

function fish(commands: readonly Command[]): string {
  const words = [...treeOf(commands)].flatMap(([name, next]) =>
    [...next].map(
      ([word, summary]) => `complete -c sms-quota -n '__sms_quota_at ${name}' -a ${word} -d ${single(summary)}`,
    ),
  )
  const options = commands.flatMap(command => {
    const when = `-n '__sms_quota_in ${command.name}'`
    const operands = operandWords(command).length > 0 ? [`-a ${single(operandWords(command).join(' '))}`] : []
    const files = operandIsFile(command) ? ['-F'] : []
    return [
      ...[...operands, ...files].map(words => `complete -c sms-quota ${when} ${words}`),
      ...Object.entries(command.options).map(
        ([name, option]) => `complete -c sms-quota ${when} ${fishOption(name, option)}`,
      ),
    ]
  })
  return `# Completion of sms-quota for fish: the output of "sms-quota completion fish".
function __sms_quota_at
    set -l words (commandline -opc)
    test "$words[2..]" = "$argv"
end
function __sms_quota_in
    set -l words (commandline -opc)
    string match -q -- "$argv *" "$words[2..] "
end
complete -c sms-quota -f
${words.join('\n')}
${options.join('\n')}
`
}

function fishOption(name: string, option: Option): string {
  const parts = [`-l ${name}`]
  if (option.short !== undefined) parts.push(`-s ${option.short}`)
  if (option.value !== undefined) parts.push(takesFile(option) ? '-r -F' : '-x')
  if (option.values !== undefined) parts.push(`-a ${single(option.values.join(' '))}`)
  return [...parts, `-d ${single(option.means)}`].join(' ')
}

const single = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&').replaceAll('\n', ' ')}'`
