import { parseArgs } from 'node:util'
import { nearest } from './nearest.ts'

interface Option {
  /** The name of the value in help; undefined: the option is a switch. */
  value?: string
  short?: string
  multiple?: boolean
  means: string
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
  /** What stands alone on the command line; empty for a command that takes no such word. */
  operand: string
}

/**
 * Parses options and, if it has a name, the one operand. @throws UsageError for an option that is unknown, lacks a value
 * or is given twice, and for an operand that is missing or one too many.
 */
export function readArguments(args: readonly string[], options: Options, operandName?: string): Arguments {
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
  let operand = ''
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (operandName === undefined || operand !== '') throw new UsageError(`"${token.value}" is not expected here`)
      operand = token.value
      continue
    }
    if (token.kind === 'option-terminator') continue
    const { name, rawName, value, inlineValue } = token
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (option === undefined)
      throw new UsageError(`there is no option ${rawName}${didYouMean(rawName, longNames(options))}`)
    if (option.value === undefined && value !== undefined) throw new UsageError(`${rawName} takes no value`)
    if (option.value !== undefined && (value === undefined || (!inlineValue && value.startsWith('-')))) {
      throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}`)
    }
    const values = given.get(name) ?? []
    if (values.length > 0 && option.multiple !== true) throw new UsageError(`${rawName} can be given only once`)
    given.set(name, [...values, value ?? ''])
  }
  if (operandName !== undefined && operand === '' && !given.has('help'))
    throw new UsageError(`${operandName} is missing`)
  return {
    operand,
    has: name => given.has(name),
    one: name => given.get(name)?.[0],
    all: name => given.get(name) ?? [],
  }
}

const longNames = (options: Options): string[] => Object.keys(options).map(name => `--${name}`)

/** The end of a message about an unknown word: "; did you mean …?", or nothing if no word is similar. */
export function didYouMean(typed: string, words: readonly string[]): string {
  const meant = nearest(typed, words)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}
