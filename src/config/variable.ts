/** What a row of the table of variables is. */
import { homedir } from 'node:os'
import { parseKeyPath, parseText, type Refusal, refuse } from './parse.ts'

/** The facts about the machine that defaults depend on. */
export interface Machine {
  platform: NodeJS.Platform
  isRoot: boolean
  home: string
}

export const thisMachine = (): Machine => ({
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  home: homedir(),
})

export type Texts = Readonly<Record<string, string | undefined>>

export interface Variable<T> {
  /** What the variable is, for operators. */
  means: string
  /** The values that it accepts, to follow the word "accepted: ". */
  accepts: string
  /** The default text; left out: there is none, and `unset` says what applies instead. */
  fallback?: string | ((env: Texts, machine: Machine) => string)
  unset?: string
  /** How a value that can contain a secret is shown. The text of such a variable is not repeated in an issue. */
  mask?: (text: string) => string
  /** Whether it contains a secret: then NAME_FILE can name a file that contains the value. */
  secret?: true
  parse(text: string): T | Refusal
}

export const anyText = 'text without control characters'
/** The path of a key. Operators sometimes paste the key itself, so the text is not repeated. */
export const keyPath = { mask: (text: string) => text, parse: parseKeyPath }
export const oneWord = 'text without spaces'

/* ── Kinds of rows: what they accept, and how it is parsed ──────────────────────────────────────────────────────── */

export const text = { accepts: anyText, parse: parseText }

export const flag = {
  accepts: 'true or false',
  fallback: 'false',
  parse: (text: string) => (text === 'true' || text === 'false' ? text === 'true' : refuse('is neither')),
}

export const wholeNumber = (min: number, max: number) => ({
  accepts: `a whole number from ${min} to ${max}`,
  parse(text: string): number | Refusal {
    if (!/^(0|[1-9]\d*)$/.test(text)) return refuse('is not a whole number')
    const value = Number(text)
    return value >= min && value <= max ? value : refuse('is out of bounds')
  },
})

/** @param refusal what is said of another text */
export const oneOf = <const Choice extends string>(choices: readonly Choice[], refusal = 'is neither') => ({
  accepts: `one of ${choices.join(', ')}`,
  parse: (text: string) => choices.find(choice => choice === text) ?? refuse(refusal),
})
