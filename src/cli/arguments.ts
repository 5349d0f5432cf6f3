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
}

/** Parses options. @throws UsageError for one that is unknown, lacks a value or is given twice. */
export function readArguments(args: readonly string[], options: Options): Arguments {
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
  for (const token of tokens) {
    if (token.kind === 'positional') throw new UsageError(`"${token.value}" is not expected here`)
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
  return {
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
