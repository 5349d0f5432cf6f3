import { namedValues } from '../../../src/domain/basics/named-values.ts'
import { PERIODS, type Period } from '../../../src/domain/time/period.ts'

/** Makes a text for each period from a language's words for it. */
export function byPeriod<Words, Text>(
  words: Readonly<Record<Period, Words>>,
  textOf: (words: Words) => Text,
): Record<Period, Text> {
  return namedValues<Record<Period, Text>>(PERIODS, period => textOf(words[period]))
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
