import { parseArgs } from 'node:util'
import { completed, nearest } from './nearest.ts'

export interface Option {
  /** The name of the value in help; undefined: the option is a switch. */
  value?: string
  short?: string
  multiple?: boolean
  /** The values that it takes, if they can be listed. Completion offers them. */
  values?: readonly string[]
  /** Whether its values may begin with "-", as negative numbers do. */
  dashed?: boolean
  means: string
}

/** A word that follows a command. */
export interface Operand {
  /** As help shows it, such as FILE. */
  name: string
  isOptional?: boolean
  /** Whether several may be given; then it is the last one. */
  isRepeated?: boolean
  /** The words that it can be, if they can be listed. */
  values?: readonly string[]
}

export type Options = Readonly<Record<string, Option>>

/** The command line is wrong. The message says how to correct it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** The options given, by their long names. */
export interface Arguments {
  has(name: string): boolean
  one(name: string): string | undefined
  all(name: string): readonly string[]
  /** The operand at a position, from 0; empty for an optional one that was not given. */
  operand(position: number): string
  /** All operands. */
  readonly operands: readonly string[]
}

/**
 * Parses options and operands. @throws UsageError for an option that is unknown, lacks a value or is given twice, and for an
 * operand that is missing, one too many, or not among its values.
 */
export function readArguments(args: readonly string[], options: Options, operands: readonly Operand[] = []): Arguments {
  const { tokens } = parseArgs({
    args: [...args],
    // Not strict, because the messages of Node.js do not say how to correct the mistake.
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { value, short }]) => [
        name,
        { type: value === undefined ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) } as const,
      ]),
    ),
  })
  const given = new Map<string, string[]>()
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') {
      const last = operands.at(-1)
      const operand = operands[words.length] ?? (last?.isRepeated === true ? last : undefined)
      if (operand === undefined) throw new UsageError(`"${token.value}" is not expected here`)
      words.push(checkWord(token.value, operand))
      continue
    }
    if (token.kind === 'option-terminator') continue
    const { name, rawName, value, inlineValue } = token
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (option === undefined)
      throw new UsageError(`there is no option ${rawName}${didYouMean(rawName, longNames(options))}`)
    if (option.value === undefined && value !== undefined) throw new UsageError(`${rawName} takes no value`)
    if (option.value !== undefined && (value === undefined || (!inlineValue && isOptionLike(value, option)))) {
      throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}`)
    }
    const values = given.get(name) ?? []
    if (values.length > 0 && option.multiple !== true) throw new UsageError(`${rawName} can be given only once`)
    given.set(name, [...values, value ?? ''])
  }
  const missing = operands[words.length]
  if (missing !== undefined && missing.isOptional !== true && !given.has('help'))
    throw new UsageError(`${missing.name} is missing`)
  return {
    operand: position => words[position] ?? '',
    operands: words,
    has: name => given.has(name),
    one: name => given.get(name)?.[0],
    all: name => given.get(name) ?? [],
  }
}

/** Whether a word behind an option is the next option, not the value. */
const isOptionLike = (word: string, { dashed }: Option): boolean => word.startsWith(dashed === true ? '--' : '-')

function checkWord(word: string, { name, values }: Operand): string {
  if (values === undefined || values.includes(word)) return word
  throw new UsageError(`${name} is one of ${values.join(', ')}, not "${word}"${didYouMean(word, values)}`)
}

const longNames = (options: Options): string[] => Object.keys(options).map(name => `--${name}`)

/** The end of a message about an unknown word: "; did you mean …?", or nothing if no word is similar or begins like it. */
export function didYouMean(typed: string, words: readonly string[]): string {
  const meant = nearest(typed, words) ?? completed(typed, words)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}
