import { SegmentedMessage } from 'sms-segments-calculator'
import type { SegmentRules } from './segment-rules.ts'
import { septetsIn, shiftLettersOf } from './segments.ts'

/** A character (a grapheme, what a reader sees as one) that costs more than a plain letter. */
export interface CostlyCharacter {
  /** Offset in the text, in UTF-16 units. */
  at: number
  character: string
  /** `foreign`: GSM-7 lacks it, so the whole text becomes UCS-2. `double`: it takes two septets of GSM-7. */
  why: 'foreign' | 'double'
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The characters of a text that cost more than a plain letter, in order. */
export function findCostly(text: string, rules: SegmentRules): CostlyCharacter[] {
  const letters = shiftLettersOf(text, rules)
  const found: CostlyCharacter[] = []
  for (const { segment: character, index: at } of graphemes.segment(text)) {
    const septets = septetsIn(character, letters)
    if (septets === null) found.push({ at, character, why: 'foreign' })
    else if (septets > character.length) found.push({ at, character, why: 'double' })
  }
  return found
}

/**
 * A replacement that GSM-7 has for a foreign character: the same letter composed (é from e and an accent), a plainer sign
 * (’ becomes '), or the letter without its accent. Null if there is no obvious one; empty for an invisible character.
 */
export function plainerOf(character: string): string | null {
  const { graphemes: plainer } = new SegmentedMessage(character, 'auto', true)
  const candidates = [
    character.normalize('NFC'),
    // The library replaces some single spaces by two or more.
    character.replace(/[\p{Z}\t]/gu, ' '),
    plainer.join(''),
    character.normalize('NFD').replace(/\p{M}/gu, ''),
  ]
  return candidates.find(candidate => candidate !== character && septetsIn(candidate) !== null) ?? null
}

/** The text with its foreign characters replaced where `plainerOf` has a replacement. @param costly from `findCostly` */
export function writePlainly(text: string, costly: readonly CostlyCharacter[]): string {
  const known = new Map<string, string>()
  let plain = ''
  let at = 0
  for (const { at: from, character, why } of costly) {
    if (why === 'double') continue
    const plainer = known.get(character) ?? plainerOf(character) ?? character
    known.set(character, plainer)
    plain += text.slice(at, from) + plainer
    at = from + character.length
  }
  return plain + text.slice(at)
}
