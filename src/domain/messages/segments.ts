import { SegmentedMessage } from 'sms-segments-calculator'
import { MAX_SEGMENTS } from '../basics/bounds.ts'
import { type Capacity, lettersOf, type SegmentRules, septetCapacity, unitCapacity } from './segment-rules.ts'

export type Encoding = 'GSM-7' | 'UCS-2'

/** The SMS that a text is sent as: one, or several that the receiver joins. */
export interface Segmentation {
  encoding: Encoding
  /** Capacity of each segment, in septets (GSM-7) or 16-bit units (UCS-2). */
  capacity: number
  /** The text as it is split; at least one segment. `filled` is in the same unit as `capacity`. */
  segments: { text: string; filled: number }[]
}

/** How many SMS a text takes. An empty text is one. */
export function countSegments(text: string, rules: SegmentRules): { encoding: Encoding; segments: number } {
  const gsm = countGsm7(text, NO_LETTERS, septetCapacity(rules, false))
  if (gsm !== null) return { encoding: 'GSM-7', segments: gsm }
  for (const letters of lettersOf(rules)) {
    const shifted = countGsm7(text, letters, septetCapacity(rules, true))
    if (shifted !== null) return { encoding: 'GSM-7', segments: shifted }
  }
  return { encoding: 'UCS-2', segments: countUcs2(text, rules) }
}

/** Splits a text into its SMS. */
export function segmentText(text: string, rules: SegmentRules): Segmentation {
  const { encoding, segments } = countSegments(text, rules)
  const letters = shiftLettersOf(text, rules)
  const isGsm7 = encoding === 'GSM-7'
  const { alone, ofPart } = isGsm7 ? septetCapacity(rules, letters !== NO_LETTERS) : unitCapacity(rules)
  const endOf = isGsm7
    ? (from: number) => endOfGsm7Part(text, from, letters, ofPart)
    : (from: number) => endOfUcs2Part(text, from, rules.split, ofPart)
  const parts = segments === 1 ? [text] : split(text, endOf)
  return {
    encoding,
    capacity: segments === 1 ? alone : ofPart,
    segments: parts.map(part => ({ text: part, filled: (isGsm7 ? septetsIn(part, letters) : null) ?? part.length })),
  }
}

/** The letters of the shift table that a text is sent with; none if it needs no table, or is sent as UCS-2. */
export function shiftLettersOf(text: string, rules: SegmentRules): ReadonlySet<number> {
  if (septetsIn(text) !== null) return NO_LETTERS
  return lettersOf(rules).find(letters => septetsIn(text, letters) !== null) ?? NO_LETTERS
}

const NO_LETTERS: ReadonlySet<number> = new Set()

function split(text: string, endOf: (from: number) => number): string[] {
  const parts: string[] = []
  for (let from = 0; from < text.length; ) {
    const end = endOf(from)
    parts.push(text.slice(from, end))
    from = end
  }
  return parts
}

/*
 * The library knows which characters GSM-7 has, which of them take two septets, and which code points form a grapheme.
 * But it builds an object for each character: 0.5 ms for an ordinary text, seconds for the longest. So it is called for
 * single characters and for the boundaries of segments only, and the counting is done here, in microseconds.
 * test/domain/message.test.ts compares the counts with the library's, segments.test.ts the splits with the counts.
 */

/** What `MAX_SEGMENTS` allows. */
function longestOf(rules: SegmentRules) {
  return {
    septets: MAX_SEGMENTS * septetCapacity(rules, false).ofPart,
    units16: MAX_SEGMENTS * unitCapacity(rules).ofPart,
  }
}

export function longestInWords(rules: SegmentRules): string {
  const { septets, units16 } = longestOf(rules)
  return `${MAX_SEGMENTS} SMS, which hold ${septets} septets (GSM-7) or ${units16} 16-bit units (UCS-2)`
}

/**
 * Whether a text surely takes no more than `MAX_SEGMENTS`. Two parts of UCS-2 that follow each other have more units than one holds,
 * because the grapheme that begins the second did not fit into the first.
 */
export function surelyFitsOneMessage(text: string, rules: SegmentRules): boolean {
  return text.length <= longestOf(rules).units16 / 2
}

/** Whether a text may be as short as a message, by its length: cheap, and counting the parts of a text of UCS-2 is not. */
export function mayFitOneMessage(text: string, rules: SegmentRules): boolean {
  const { septets, units16 } = longestOf(rules)
  if (text.length <= units16) return true
  return text.length <= septets && [NO_LETTERS, ...lettersOf(rules)].some(letters => septetsIn(text, letters) !== null)
}

/** Segments in GSM-7; null if it lacks a character of the text. A pair of septets is not split. */
function countGsm7(text: string, letters: ReadonlySet<number>, { alone, ofPart }: Capacity): number | null {
  let total = 0
  let parts = 1
  let filled = 0
  for (let at = 0; at < text.length; at++) {
    const septets = septetsOf(text.charCodeAt(at), letters)
    if (septets === NOT_GSM_7) return null
    total += septets
    filled += septets
    if (filled > ofPart) {
      parts++
      filled = septets
    }
  }
  return total <= alone ? 1 : parts
}

/** The end of the part that begins at `from`: before the first character whose septets do not all fit. */
function endOfGsm7Part(text: string, from: number, letters: ReadonlySet<number>, capacity: number): number {
  let filled = 0
  let end = from
  while (end < text.length) {
    filled += septetsOf(text.charCodeAt(end), letters)
    if (filled > capacity) return end
    end++
  }
  return end
}

/**
 * Septets of a text in GSM-7; null if it lacks one of the characters.
 *
 * @param letters those of a shift table, which GSM-7 has besides
 */
export function septetsIn(text: string, letters: ReadonlySet<number> = NO_LETTERS): number | null {
  let total = 0
  for (let at = 0; at < text.length; at++) {
    const septets = septetsOf(text.charCodeAt(at), letters)
    if (septets === NOT_GSM_7) return null
    total += septets
  }
  return total
}

/** Septets of a UTF-16 unit: 1 or 2; NOT_GSM_7 if neither GSM-7 nor the letters have it. */
function septetsOf(unit: number, letters: ReadonlySet<number>): number {
  const septets = septetsOfGsm7(unit)
  return septets === NOT_GSM_7 && letters.has(unit) ? 2 : septets
}

const NOT_CACHED = 0
const NOT_GSM_7 = 3

/** A cache of `septetsOfGsm7` for each UTF-16 unit. */
const septetCache = new Uint8Array(0x1_00_00).fill(NOT_CACHED)

/** The same without a shift table. */
function septetsOfGsm7(unit: number): number {
  const cached = septetCache[unit]
  if (cached !== undefined && cached !== NOT_CACHED) return cached
  const { encodingName, numberOfCharacters } = new SegmentedMessage(String.fromCharCode(unit))
  const septets = encodingName === 'GSM-7' ? numberOfCharacters : NOT_GSM_7
  septetCache[unit] = septets
  return septets
}

function countUcs2(text: string, rules: SegmentRules): number {
  const { alone, ofPart } = unitCapacity(rules)
  if (text.length <= alone) return 1
  if (rules.split === 'code-units') return Math.ceil(text.length / ofPart)
  let parts = 0
  for (let from = 0; from < text.length; parts++) from = endOfUcs2Part(text, from, rules.split, ofPart)
  return parts
}

/** The end of the part that begins at `from`: as late as possible, and without splitting a grapheme unless the rules do. */
function endOfUcs2Part(text: string, from: number, rule: SegmentRules['split'], capacity: number): number {
  const limit = from + capacity
  if (limit >= text.length) return text.length
  if (rule === 'code-units' || surelyBreaks(text, limit)) return limit
  // The most frequent uncertain case, decided without the library: the limit is inside an emoji.
  if (isInsidePair(text, limit) && surelyBreaks(text, limit - 1)) return limit - 1

  let start = limit - 1
  while (start > from && !surelyBreaks(text, start)) start--
  // Text after the character at the limit does not affect whether a grapheme ends before it.
  let end = start
  for (const { length } of new SegmentedMessage(text.slice(start, limit + 2), 'UCS-2').graphemes) {
    if (end + length > limit) break
    end += length
  }
  // A grapheme longer than a whole part (stacked accents) has to be split, but not a surrogate pair.
  if (end > from) return end
  return isInsidePair(text, limit) ? limit - 1 : limit
}

/** Whether a grapheme certainly ends before `at`; if false, the library decides. */
function surelyBreaks(text: string, at: number): boolean {
  if (isInsidePair(text, at)) return false
  const before = isInsidePair(text, at - 1) ? at - 2 : at - 1
  const end = at + 2
  return !MAY_JOIN_ONTO_LAST.test(text.slice(at, end)) && !MAY_JOIN_ONTO_NEXT.test(text.slice(before, end))
}

/*
 * By the library's rules, those of Unicode 10. Of the format characters (\p{Cf}), only joiners, tags and prepended signs
 * join. All others, such as soft hyphens, zero-width spaces and direction marks, stand alone, and what Unicode added
 * later counts as a letter. test/domain/segments-format.test.ts compares all of them with the library.
 */

/**
 * Accents, vowel signs (two of which are letters in later versions), flag letters, skin tones, the zero-width joiner and
 * non-joiner, emoji tags, the vowels and final consonants of Korean syllables.
 */
const MAY_JOIN_ONTO_LAST =
  /^[\p{M}\u0e33\u0eb3\u1cf2\u1cf3\uff9e\uff9f\p{Regional_Indicator}\p{Emoji_Modifier}\u200c-\u200d\u{e0020}-\u{e007f}\u1160-\u11ff\ud7b0-\ud7ff]/u

/** A zero-width joiner before an emoji; prepended signs and letters, the initial consonants of Korean syllables. */
const MAY_JOIN_ONTO_NEXT =
  /^(?:\u200d\p{Extended_Pictographic}|[\u0600-\u0605\u06dd\u070f\u08e2\u{110bd}\u0d4e\u{111c2}\u{111c3}\u{11a3a}\u{11a86}-\u{11a89}\u{11d46}\u1100-\u115f\ua960-\ua97c])/u

function isInsidePair(text: string, at: number): boolean {
  return at > 0 && isSurrogate(text.charCodeAt(at), 0xdc00) && isSurrogate(text.charCodeAt(at - 1), 0xd800)
}

/** Whether the unit is one of the 1,024 that begin (0xd800) or end (0xdc00) a pair. */
function isSurrogate(unit: number, first: number): boolean {
  return (unit & 0xfc00) === first
}
