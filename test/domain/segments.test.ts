import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findCostly, plainerOf, writePlainly } from '../../src/domain/messages/characters.ts'
import { DEFAULT_SEGMENT_RULES } from '../../src/domain/messages/segment-rules.ts'
import { countSegments, segmentText } from '../../src/domain/messages/segments.ts'

describe('segmentText', () => {
  const a = (times: number) => 'a'.repeat(times)
  const я = (times: number) => 'я'.repeat(times)
  // Text, encoding, capacity of a segment, and how full each segment is.
  test.each<[string, string, string, number, number[]]>([
    ['an empty text', '', 'GSM-7', 160, [0]],
    ['a full SMS', a(160), 'GSM-7', 160, [160]],
    ['one more', a(161), 'GSM-7', 153, [153, 8]],
    ['doubles count as two', '€'.repeat(80), 'GSM-7', 160, [160]],
    ['a pair of septets is not split', `${a(152)}€${a(10)}`, 'GSM-7', 153, [152, 12]],
    ['a full SMS of UCS-2', я(70), 'UCS-2', 70, [70]],
    ['one more of them', я(71), 'UCS-2', 67, [67, 4]],
    ['doubles of GSM-7 are none in UCS-2', `я${'€'.repeat(69)}`, 'UCS-2', 70, [70]],
    ['an emoji is not split', `${я(66)}😀${я(5)}`, 'UCS-2', 67, [66, 7]],
    ['nor is a family', `${я(60)}👩‍👩‍👧‍👦${я(5)}`, 'UCS-2', 67, [60, 16]],
  ])('%s', (_what, text, encoding, capacity, filled) => {
    const cut = segmentText(text, DEFAULT_SEGMENT_RULES)
    expect([cut.encoding, cut.capacity, cut.segments.map(segment => segment.filled)]).toEqual([
      encoding,
      capacity,
      filled,
    ])
  })

  test('the segments join to the text, are as many as charged, and none exceeds its capacity', () => {
    const pieces = fc.constantFrom('a', 'word ', '€', '[', 'я', '’', '😀', '👍🏽', 'e\u0301', 'שלום', '\u202e', '\r\n')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 400 }), parts => {
        const text = parts.join('')
        const { encoding, capacity, segments } = segmentText(text, DEFAULT_SEGMENT_RULES)
        expect({ encoding, segments: segments.length }).toEqual(countSegments(text, DEFAULT_SEGMENT_RULES))
        expect(segments.map(segment => segment.text).join('')).toBe(text)
        for (const { filled } of segments) expect(filled).toBeLessThanOrEqual(capacity)
      }),
    )
  })
})

test('findCostly returns the graphemes that cost more, with their offsets', () => {
  expect(findCostly('plain text, @ä\r\n', DEFAULT_SEGMENT_RULES)).toEqual([])
  expect(findCostly('[5 €] it’s 👩‍👩‍👧‍👦 e\u0301', DEFAULT_SEGMENT_RULES)).toEqual([
    { at: 0, character: '[', why: 'double' },
    { at: 3, character: '€', why: 'double' },
    { at: 4, character: ']', why: 'double' },
    { at: 8, character: '’', why: 'foreign' },
    { at: 11, character: '👩‍👩‍👧‍👦', why: 'foreign' },
    { at: 23, character: 'e\u0301', why: 'foreign' },
  ])
})

test.each([
  ['’', "'"],
  ['“', '"'],
  ['…', '...'],
  ['–', '-'],
  ['—', '-'],
  ['\u00a0', ' '],
  ['½', '1/2'],
  ['e\u0301', 'é'],
  ['ç', 'c'],
  ['ş', 's'],
  ['\u200b', ''],
  ['ł', null],
  ['я', null],
  ['א', null],
  ['\u202e', null],
  ['\ud83d', null],
  ['😀', null],
])('plainerOf(%j) is %j', (character, plainer) => {
  expect(plainerOf(character)).toBe(plainer)
})

test('writePlainly replaces the characters that have a replacement', () => {
  const plainly = (text: string) => writePlainly(text, findCostly(text, DEFAULT_SEGMENT_RULES))
  expect(plainly('“It’s 5 € …” – [ok]')).toBe('"It\'s 5 € ..." - [ok]')
  expect(plainly('’’ я 👩‍👩‍👧‍👦 ’')).toBe("'' я 👩‍👩‍👧‍👦 '")
  expect(plainly('')).toBe('')
})
