import fc from 'fast-check'
import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, test } from 'vitest'
import { measureMessage } from '../../src/domain/messages/message.ts'
import { DEFAULT_SEGMENT_RULES } from '../../src/domain/messages/segment-rules.ts'
import { runs } from '../support/runs.ts'

const segmentsOf = (text: string) => {
  const { units, segments, encoding } = measureMessage('+4915112345678', text, DEFAULT_SEGMENT_RULES)
  expect(units).toBe(segments)
  return [encoding, segments]
}

const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const EXTENSION = '\f^{}\\[~]|€'
const FAMILY = '👩‍👩‍👧‍👦'
const FLAG = '🇩🇪'

describe('GSM-7', () => {
  test('every basic character is one septet', () => {
    expect(BASIC).toHaveLength(127)
    expect(segmentsOf(BASIC)).toEqual(['GSM-7', 1])
    for (const char of BASIC) {
      expect(segmentsOf(char.repeat(160)), char).toEqual(['GSM-7', 1])
      expect(segmentsOf(char.repeat(161)), char).toEqual(['GSM-7', 2])
    }
  })

  test('every character of the extension is two', () => {
    for (const char of EXTENSION) {
      expect(segmentsOf(char.repeat(80)), char).toEqual(['GSM-7', 1])
      expect(segmentsOf(char.repeat(81)), char).toEqual(['GSM-7', 2])
    }
  })

  test.each([
    ['an empty text is one message', '', 1],
    ['160 septets', 'a'.repeat(160), 1],
    ['161 septets are two parts of 153', 'a'.repeat(161), 2],
    ['306 septets', 'a'.repeat(306), 2],
    ['307 septets', 'a'.repeat(307), 3],
    ['1,530 septets', 'a'.repeat(1530), 10],
    ['1,531 septets', 'a'.repeat(1531), 11],
    ['159 and a euro', `${'a'.repeat(159)}€`, 2],
    ['158 and a euro', `${'a'.repeat(158)}€`, 1],
    ['a euro across the boundary of parts is not split', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 3],
    ['a euro at the end of a part', `${'a'.repeat(151)}€${'a'.repeat(153)}`, 2],
    ['a line break of two characters counts as two', `${'a'.repeat(159)}\r\n`, 2],
  ])('%s', (_what, text, segments) => {
    expect(segmentsOf(text)).toEqual(['GSM-7', segments])
  })
})

describe('UCS-2', () => {
  test.each([
    ['one letter that GSM-7 lacks', 'ç', 1],
    ['a typographic apostrophe among 69 letters', `${'a'.repeat(69)}’`, 1],
    ['a typographic apostrophe among 70 letters', `${'a'.repeat(70)}’`, 2],
    ['70 units', 'я'.repeat(70), 1],
    ['71 units are two parts of 67', 'я'.repeat(71), 2],
    ['134 units', 'я'.repeat(134), 2],
    ['135 units', 'я'.repeat(135), 3],
    ['a character of the extension is one unit here', `${'€'.repeat(69)}я`, 1],
    ['an emoji is two', '😀'.repeat(35), 1],
    ['36 emoji', '😀'.repeat(36), 2],
    ['an emoji across the boundary is not split: 33 per part', '😀'.repeat(66), 2],
    ['67 emoji', '😀'.repeat(67), 3],
    ['an emoji of its own part', `${'a'.repeat(66)}😀${'a'.repeat(66)}`, 3],
    ['an emoji that just fits', `${'a'.repeat(65)}😀${'a'.repeat(67)}`, 2],
    ['a family of 11 units stays together', `${'a'.repeat(60)}${FAMILY}${'a'.repeat(60)}`, 3],
    ['a flag stays together', `${'a'.repeat(64)}${FLAG}${'a'.repeat(66)}`, 3],
    ['an accent stays with its letter', `${'a'.repeat(66)}e\u0301${'a'.repeat(66)}`, 3],
    ['stacked accents, more than a part holds, are split and counted', `a${'\u0301'.repeat(669)}`, 10],
    ['stacked accents that are surrogate pairs are split between pairs', `😀${'\u{1d165}'.repeat(333)}`, 11],
    ['half of a pair', '\ud83d', 1],
    ['NUL', '\0', 1],
  ])('%s', (_what, text, segments) => {
    expect(segmentsOf(text)).toEqual(['UCS-2', segments])
  })
})

test('the count equals the library’s', () => {
  // Characters that can join what precedes or follows them, and plain text that shifts them against the parts.
  const pieces = [
    'a',
    'wort ',
    'я',
    '中',
    '한',
    '€',
    '[',
    '’',
    '\r\n',
    '😀',
    '👍🏽',
    '☝️🏽',
    '♀️',
    FAMILY,
    FLAG,
    '🇩',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    '🫱🏽‍🫲🏿',
    'e\u0301',
    'क्ष',
    'नि',
    'สำ',
    '\u1100',
    '\u1161',
    '\u11ab',
    '\ud7b0',
    '\u200c',
    '\u200d',
    '\u0600',
    '\u0d4e',
    '\u{110bd}',
    'ﾞ',
    '\ud83d',
    '\udc00',
  ]
  const text = fc
    .subarray(pieces, { minLength: 1, maxLength: 5 })
    .chain(some => fc.array(fc.constantFrom(...some, 'a'), { maxLength: 150 }))
    .map(parts => parts.join(''))
  fc.assert(
    fc.property(text, sample => {
      const library = new SegmentedMessage(sample)
      // The library puts graphemes longer than a part into one part.
      fc.pre(library.graphemes.every(({ length }) => length <= 67))
      expect(segmentsOf(sample)).toEqual([library.encodingName, library.segmentsCount])
    }),
    { numRuns: runs(1_000) },
  )
})
