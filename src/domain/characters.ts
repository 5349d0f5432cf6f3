import { SegmentedMessage } from 'sms-segments-calculator'
import { septetsIn } from './segments.ts'

/** A character that costs more than one like “a” would, in the sense of what people see as one (a grapheme). */
export interface CostlyCharacter {
  /** Where it begins, in UTF-16 units. */
  at: number
  character: string
  /** `foreign`: GSM-7 lacks it, so it makes the whole text UCS-2. `double`: it takes two septets of GSM-7. */
  why: 'foreign' | 'double'
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Everything in a text that makes it cost more than its length, in order. */
export function findCostly(text: string): CostlyCharacter[] {
  const found: CostlyCharacter[] = []
  for (const { segment: character, index: at } of graphemes.segment(text)) {
    const septets = septetsIn(character)
    if (septets === null) found.push({ at, character, why: 'foreign' })
    else if (septets > character.length) found.push({ at, character, why: 'double' })
  }
  return found
}

/**
 * What people would take for a foreign character and GSM-7 has: the same letter put together (é from e and an accent),
 * a plainer sign (’ becomes '), or the letter without its accent. Null if there is nothing obvious; it is empty if the
 * character shows nothing.
 */
export function plainerOf(character: string): string | null {
  const { graphemes: plainer } = new SegmentedMessage(character, 'auto', true)
  const candidates = [
    character.normalize('NFC'),
    // The library makes two spaces and more of some that are one.
    character.replace(/[\p{Z}\t]/gu, ' '),
    plainer.join(''),
    character.normalize('NFD').replace(/\p{M}/gu, ''),
  ]
  return candidates.find(candidate => candidate !== character && septetsIn(candidate) !== null) ?? null
}

/** The text with plainer characters in place of the foreign ones that have them. @param costly what was found in it */
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
