/** Texts with format characters: soft hyphens, zero-width spaces and joiners, direction marks, tags. */
import fc from 'fast-check'
import { SegmentedMessage } from 'sms-segments-calculator'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { DEFAULT_SEGMENT_RULES } from '../../src/domain/messages/segment-rules.ts'
import { countSegments, segmentText } from '../../src/domain/messages/segments.ts'
import { runs } from '../support/runs.ts'

/** Counts what is given to the library, which needs a thousand times as long for a character. */
const library = vi.hoisted(() => ({ units: 0 }))

vi.mock('sms-segments-calculator', async importOriginal => {
  const original = await importOriginal<typeof import('sms-segments-calculator')>()
  class Counted extends original.SegmentedMessage {
    constructor(text: string, ...options: [('GSM-7' | 'UCS-2' | 'auto')?, boolean?]) {
      super(text, ...options)
      library.units += text.length
    }
  }
  return { ...original, SegmentedMessage: Counted }
})

/** Of the 96 tags, the first, the last and one between. */
const FORMAT_CHARACTERS = Array.from({ length: 0x11_00_00 }, (_, code) => code)
  .filter(code => code < 0xd8_00 || code > 0xdf_ff)
  .map(code => String.fromCodePoint(code))
  .filter(character => /^\p{Cf}$/u.test(character) && !/^[\u{e0021}-\u{e0066}\u{e0068}-\u{e007e}]$/u.test(character))

/** Where the library counts parts, by the characters of each. */
function partsOf(text: string): string[] {
  const { segments } = new SegmentedMessage(text, 'UCS-2')
  return segments.map(segment => [...segment].map(({ raw = '' }: { raw?: string }) => raw).join(''))
}

/** Characters of each kind that joins what precedes or follows it, and of those that do not. */
// biome-ignore format: one kind per line.
const OTHERS = [
  'я', '中', '\r\n',
  'e\u0301', '\u0301', '\u0903', 'ி', 'ำ',
  '😀', '👍🏽', '🏽', '☝', '👩', '🌈', '❤', '👩‍👩‍👧‍👦',
  '🇩', '🇩🇪',
  '한', '\u1112', '\u1161', '\u11ab', '가',
  // They join by the library's rules, though their category does not show it.
  '\u{11d46}', '\u0d4e', '\u1cf2', '\u1cf3',
]

/** One of each kind, for those whose kind is tried with all. */
const FEW_OTHERS = ['я', '\r\n', 'e\u0301', '👩', '🇩', '\u1161', '\u0d4e']

const KINDS = [
  ['soft hyphens', '\u00ad'],
  ['zero-width spaces', '\u200b'],
  ['left-to-right marks', '\u200e'],
  ['right-to-left marks', '\u200f'],
  ['Arabic letter marks', '\u061c'],
  ['embeddings', '\u202a'],
  ['word joiners', '\u2060'],
  ['isolates', '\u2068'],
  ['byte order marks', '\ufeff'],
  ['interlinear annotations', '\ufff9'],
  ['zero-width non-joiners', '\u200c'],
  ['zero-width joiners', '\u200d'],
  ['tags', '\u{e0067}'],
  ['Arabic number signs', '\u0600'],
  ['format characters of later versions of Unicode', '\u{13430}'],
] as const

test('there are format characters of every kind', () => {
  expect(FORMAT_CHARACTERS.length).toBeGreaterThan(70)
  expect(FORMAT_CHARACTERS).toEqual(expect.arrayContaining(['\u00ad', '\u200b', '\u200d', '\u0600', '\u{e0067}']))
})

test('the parts are the library’s, wherever characters meet', () => {
  for (const character of FORMAT_CHARACTERS) {
    for (const other of KINDS.some(([, kind]) => kind === character) ? OTHERS : FEW_OTHERS) {
      const pair = other + character
      // The first part may end before the character, after it, before its next one, and after that.
      for (const { length } of [other, pair, pair + other, pair + pair]) {
        const before = 67 - length
        const text = `${'я'.repeat(before)}${pair}${pair}яяяя`
        const parts = segmentText(text, DEFAULT_SEGMENT_RULES).segments.map(segment => segment.text)
        expect(parts, JSON.stringify(text.slice(before))).toEqual(partsOf(text))
      }
    }
  }
})

test('the count of any mixture is the library’s', () => {
  const mixture = fc
    .tuple(
      fc.subarray(FORMAT_CHARACTERS, { minLength: 1, maxLength: 3 }),
      fc.subarray(OTHERS, { minLength: 1, maxLength: 3 }),
    )
    .chain(some => fc.array(fc.constantFrom(...some.flat()), { minLength: 70, maxLength: 200 }))
    .map(pieces => `я${pieces.join('')}`)
  fc.assert(
    fc.property(mixture, text => {
      const { graphemes, segmentsCount } = new SegmentedMessage(text, 'UCS-2')
      // The library puts graphemes longer than a part into one part.
      fc.pre(graphemes.every(({ length }) => length <= 67))
      expect(countSegments(text, DEFAULT_SEGMENT_RULES)).toEqual({ encoding: 'UCS-2', segments: segmentsCount })
    }),
    { numRuns: runs(500) },
  )
})

describe('the library is hardly needed for', () => {
  beforeEach(() => {
    library.units = 0
  })

  test.each(KINDS)('%s', (_what, character) => {
    const text = `я${character}`.repeat(800)
    countSegments(text, DEFAULT_SEGMENT_RULES)
    library.units = 0
    const { segments } = countSegments(text, DEFAULT_SEGMENT_RULES)
    // A letter with what is joined to it, and the next character, at the end of each part.
    expect(library.units).toBeLessThanOrEqual(segments * 5)
  })
})
