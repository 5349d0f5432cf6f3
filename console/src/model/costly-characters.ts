import { type CostlyCharacter, plainerOf } from '../../../src/domain/messages/characters.ts'
import type { Segmentation } from '../../../src/domain/messages/segments.ts'

/** What makes a text cost more: its characters by kind, and where they are. */

/** A character that increases the cost, and how often it occurs. */
export interface CharacterKind {
  character: string
  count: number
  /** A GSM-7 replacement; null if there is none. */
  replacement: string | null
}

/** Distinct characters in the order of the text. */
export function kindsOf(costly: readonly CostlyCharacter[], why: CostlyCharacter['why']): CharacterKind[] {
  const kinds = new Map<string, CharacterKind>()
  for (const { character } of costly.filter(one => one.why === why)) {
    const kind = kinds.get(character)
    if (kind !== undefined) kind.count++
    else kinds.set(character, { character, count: 1, replacement: why === 'foreign' ? plainerOf(character) : null })
  }
  return [...kinds.values()]
}

/** What a character is, for those without a name of their own. */
export type Category =
  | 'emoji'
  | 'control'
  | 'invisible'
  | 'space'
  | 'latin'
  | 'cyrillic'
  | 'greek'
  | 'arabic'
  | 'hebrew'
  | 'chinese'
  | 'japanese'
  | 'korean'
  | 'thai'
  | 'devanagari'
  | 'letter'
  | 'digit'
  | 'accent'
  | 'punctuation'
  | 'sign'
  | 'other'

/** Categories of other characters; the first match applies. */
const CATEGORIES: readonly [RegExp, Category][] = [
  [/\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u, 'emoji'],
  [/^\p{Cc}/u, 'control'],
  [/^\p{Cf}/u, 'invisible'],
  [/^\p{Z}/u, 'space'],
  [/^\p{Script=Latin}/u, 'latin'],
  [/^\p{Script=Cyrillic}/u, 'cyrillic'],
  [/^\p{Script=Greek}/u, 'greek'],
  [/^\p{Script=Arabic}/u, 'arabic'],
  [/^\p{Script=Hebrew}/u, 'hebrew'],
  [/^\p{Script=Han}/u, 'chinese'],
  [/^\p{Script=Hiragana}|^\p{Script=Katakana}/u, 'japanese'],
  [/^\p{Script=Hangul}/u, 'korean'],
  [/^\p{Script=Thai}/u, 'thai'],
  [/^\p{Script=Devanagari}/u, 'devanagari'],
  [/^\p{L}/u, 'letter'],
  [/^\p{N}/u, 'digit'],
  [/^\p{M}/u, 'accent'],
  [/^\p{P}/u, 'punctuation'],
  [/^\p{S}/u, 'sign'],
]

export function categoryOf(character: string): Category {
  return CATEGORIES.find(([pattern]) => pattern.test(character))?.[1] ?? 'other'
}

/** A letter can have any number of combining accents. */
const MAX_CODE_POINTS = 8

/** "U+2019"; several code points for combined characters. */
export function codePointsOf(character: string): string {
  const parts = Array.from(character, part => part.codePointAt(0) ?? 0)
  const shown = parts.slice(0, MAX_CODE_POINTS).map(part => `U+${part.toString(16).toUpperCase().padStart(4, '0')}`)
  return [...shown, ...(parts.length > MAX_CODE_POINTS ? ['…'] : [])].join(' ')
}

/** Whether a character has a visible glyph. */
export function isVisible(character: string): boolean {
  return !/^[\p{C}\p{Z}]+$/u.test(character)
}

/** A part of a text whose characters have the same cost; `why` is null for normal ones. `at` counts UTF-16 units. */
interface Run {
  at: number
  text: string
  why: CostlyCharacter['why'] | null
}

/** Splits the text of each segment into runs. */
export function runsOf(segments: Segmentation['segments'], costly: readonly CostlyCharacter[]) {
  const ranges = costlyRanges(costly)
  let start = 0
  return segments.map(({ text, filled }) => {
    const from = start
    const end = from + text.length
    start = end
    const runs: Run[] = []
    let at = from
    const add = (to: number, why: Run['why']) => {
      if (to > at) runs.push({ at, text: text.slice(at - from, to - from), why })
      at = Math.max(at, to)
    }
    for (const range of ranges.filter(({ from: first, to }) => to > from && first < end)) {
      add(range.from, null)
      // A range longer than a segment continues in the next one.
      add(range.to, range.why)
    }
    add(end, null)
    return { at: from, filled, runs }
  })
}

/** Merges adjacent characters of the same kind, so that a text in another script is one mark and not one per letter. */
function costlyRanges(costly: readonly CostlyCharacter[]) {
  const ranges: { from: number; to: number; why: CostlyCharacter['why'] }[] = []
  for (const { at, character, why } of costly) {
    const last = ranges.at(-1)
    if (last?.to === at && last.why === why) last.to += character.length
    else ranges.push({ from: at, to: at + character.length, why })
  }
  return ranges
}
