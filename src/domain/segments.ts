import { SegmentedMessage } from 'sms-segments-calculator'

export type Encoding = 'GSM-7' | 'UCS-2'

/** How a text travels: one SMS, or several that the receiver puts together again. */
export interface Segmentation {
  encoding: Encoding
  /** What each segment holds, in septets (GSM-7) or 16-bit units (UCS-2). */
  capacity: number
  /** The text, cut where it is cut on its way; one at least. `filled` is in the same measure as the capacity. */
  segments: { text: string; filled: number }[]
}

/** How many SMS a text takes. An empty text is one. */
export function countSegments(text: string): { encoding: Encoding; segments: number } {
  const gsm = countGsm7(text)
  return gsm === null ? { encoding: 'UCS-2', segments: countUcs2(text) } : { encoding: 'GSM-7', segments: gsm }
}

/** What each of the SMS that a text takes holds of it. */
export function segmentText(text: string): Segmentation {
  const { encoding, segments } = countSegments(text)
  const isGsm7 = encoding === 'GSM-7'
  const sizes = isGsm7 ? SEPTETS : UNITS_16
  const parts = segments === 1 ? [text] : cut(text, isGsm7 ? endOfGsm7Part : endOfUcs2Part)
  return {
    encoding,
    capacity: segments === 1 ? sizes.alone : sizes.ofPart,
    segments: parts.map(part => ({ text: part, filled: (isGsm7 ? septetsIn(part) : null) ?? part.length })),
  }
}

function cut(text: string, endOf: (text: string, from: number) => number): string[] {
  const parts: string[] = []
  for (let from = 0; from < text.length; ) {
    const end = endOf(text, from)
    parts.push(text.slice(from, end))
    from = end
  }
  return parts
}

/*
 * The library knows which characters GSM-7 has, which of them take two septets, and what belongs together. But it
 * builds an object for each character: 0.5 ms for an ordinary text, seconds for the longest. So it is asked about
 * characters and about the joints between segments, and counting is done here, in microseconds.
 * test/domain/message.test.ts holds the sums equal to the library's own, segments.test.ts the cuts to the sums.
 */

/** 140 octets: whole if the text fits into one SMS, else less 6 octets in each part for its place among the others. */
const SEPTETS = { alone: 160, ofPart: 153 }
const UNITS_16 = { alone: 70, ofPart: 67 }

/** Segments in GSM-7; null if the text has a character that it lacks. A pair of septets is not torn. */
function countGsm7(text: string): number | null {
  let total = 0
  let parts = 1
  let filled = 0
  for (let at = 0; at < text.length; at++) {
    const septets = septetsOf(text.charCodeAt(at))
    if (septets === NOT_GSM_7) return null
    total += septets
    filled += septets
    if (filled > SEPTETS.ofPart) {
      parts++
      filled = septets
    }
  }
  return total <= SEPTETS.alone ? 1 : parts
}

/** Where the part that begins at `from` ends: before the first pair of septets that would not fit whole. */
function endOfGsm7Part(text: string, from: number): number {
  let filled = 0
  let end = from
  while (end < text.length) {
    filled += septetsOf(text.charCodeAt(end))
    if (filled > SEPTETS.ofPart) return end
    end++
  }
  return end
}

/** What a text takes in GSM-7; null if it has a character that GSM-7 lacks. */
export function septetsIn(text: string): number | null {
  let total = 0
  for (let at = 0; at < text.length; at++) {
    const septets = septetsOf(text.charCodeAt(at))
    if (septets === NOT_GSM_7) return null
    total += septets
  }
  return total
}

const NOT_ASKED = 0
const NOT_GSM_7 = 3

/** What the library said of each UTF-16 unit, asked once. */
const answers = new Uint8Array(0x1_00_00).fill(NOT_ASKED)

/** What a UTF-16 unit takes in GSM-7: 1 or 2; NOT_GSM_7 if it lacks it. */
function septetsOf(unit: number): number {
  const known = answers[unit]
  if (known !== undefined && known !== NOT_ASKED) return known
  const { encodingName, numberOfCharacters } = new SegmentedMessage(String.fromCharCode(unit))
  const septets = encodingName === 'GSM-7' ? numberOfCharacters : NOT_GSM_7
  answers[unit] = septets
  return septets
}

function countUcs2(text: string): number {
  if (text.length <= UNITS_16.alone) return 1
  let parts = 0
  for (let from = 0; from < text.length; parts++) from = endOfUcs2Part(text, from)
  return parts
}

/** Where the part that begins at `from` ends: as late as it can without tearing what people see as one character. */
function endOfUcs2Part(text: string, from: number): number {
  const limit = from + UNITS_16.ofPart
  if (limit >= text.length) return text.length
  if (surelyBreaks(text, limit)) return limit
  // The commonest joint in doubt, told without asking: it is inside an emoji.
  if (isInsidePair(text, limit) && surelyBreaks(text, limit - 1)) return limit - 1

  let start = limit - 1
  while (start > from && !surelyBreaks(text, start)) start--
  // What follows the limit's own character has no say in whether there is a joint before it.
  let end = start
  for (const { length } of new SegmentedMessage(text.slice(start, limit + 2)).graphemes) {
    if (end + length > limit) break
    end += length
  }
  // A character of more than a whole part (accents upon accents) has to be torn, but not a pair of surrogates.
  if (end > from) return end
  return isInsidePair(text, limit) ? limit - 1 : limit
}

/** Whether there is a joint before `at` for certain; where this says no, the library decides. */
function surelyBreaks(text: string, at: number): boolean {
  if (isInsidePair(text, at)) return false
  const before = isInsidePair(text, at - 1) ? at - 2 : at - 1
  return !MAY_JOIN_ONTO_LAST.test(text.slice(at, at + 2)) && !MAY_JOIN_ONTO_NEXT.test(text.slice(before, at))
}

/** Accents, vowel signs, flags' letters, skin tones, format characters, the vowels and ends of Korean syllables. */
const MAY_JOIN_ONTO_LAST =
  /^[\p{M}\p{Regional_Indicator}\p{Emoji_Modifier}\p{Cf}\u0e33\u0eb3\u1160-\u11ff\ud7b0-\ud7ff\uff9e\uff9f]/u

/** Format characters such as the joiner of emoji, signs written over what follows, the beginnings of Korean syllables. */
const MAY_JOIN_ONTO_NEXT = /^[\p{Cf}\u0d4e\u1100-\u115f\ua960-\ua97c\u{111c2}\u{111c3}\u{11a3a}\u{11a86}-\u{11a89}]/u

function isInsidePair(text: string, at: number): boolean {
  return at > 0 && isSurrogate(text.charCodeAt(at), 0xdc00) && isSurrogate(text.charCodeAt(at - 1), 0xd800)
}

/** Whether the unit is one of the 1,024 that begin (0xd800) or end (0xdc00) a pair. */
function isSurrogate(unit: number, first: number): boolean {
  return (unit & 0xfc00) === first
}
