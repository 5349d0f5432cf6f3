import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findCostly } from '../../src/domain/messages/characters.ts'
import { DEFAULT_SEGMENT_RULES, FEWEST_SEGMENTS, type SegmentRules } from '../../src/domain/messages/segment-rules.ts'
import {
  countSegments,
  longestInWords,
  mayFitOneMessage,
  segmentText,
  surelyFitsOneMessage,
} from '../../src/domain/messages/segments.ts'

const rules = (changed: Partial<SegmentRules> = {}): SegmentRules => ({ ...DEFAULT_SEGMENT_RULES, ...changed })
const filledOf = (text: string, changed?: Partial<SegmentRules>) => {
  const { encoding, capacity, segments } = segmentText(text, rules(changed))
  expect(countSegments(text, rules(changed))).toEqual({ encoding, segments: segments.length })
  return [encoding, capacity, segments.map(({ filled }) => filled)]
}
const times = (letter: string, count: number) => letter.repeat(count)

/** What readers see as one character, of several 16-bit units. */
const GRAPHEMES = {
  'an emoji': '😀',
  'an emoji with a skin tone': '👍🏽',
  'an emoji with a variation selector': '☝\ufe0f',
  'a family': '👩‍👩‍👧‍👦',
  'a profession': '👩🏽‍🚒',
  'a flag': '🇩🇪',
  'a flag of tags': '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  'a keycap': '1\ufe0f\u20e3',
  'an accent': 'e\u0301',
  'two accents': 'o\u0302\u0323',
  'a letter beyond the first plane': '𝒜',
  'a syllable of Devanagari': 'नि',
  'a syllable of Hangul in letters': '\u1100\u1161\u11ab',
}

describe.each([8, 16] as const)('a grapheme over the border of two parts, reference of %i bits', referenceBits => {
  const part = referenceBits === 8 ? 67 : 66

  test.each(Object.entries(GRAPHEMES))('%s', (_name, grapheme) => {
    // Two full parts, if the grapheme may be cut.
    const text = times('я', part - 1) + grapheme + times('я', part + 1 - grapheme.length)
    expect(filledOf(text, { referenceBits, split: 'code-units' })).toEqual(['UCS-2', part, [part, part]])
    expect(filledOf(text, { referenceBits, split: 'graphemes' })).toEqual(['UCS-2', part, [part - 1, part, 1]])
    // One unit earlier it fits.
    const before = times('я', part - grapheme.length) + grapheme + times('я', part)
    expect(filledOf(before, { referenceBits, split: 'graphemes' })).toEqual(['UCS-2', part, [part, part]])
  })

  test('one SMS has no reference', () => {
    for (const split of ['graphemes', 'code-units'] as const) {
      expect(filledOf('😀'.repeat(35), { referenceBits, split })).toEqual(['UCS-2', 70, [70]])
      expect(filledOf(times('a', 160), { referenceBits, split })).toEqual(['GSM-7', 160, [160]])
      expect(filledOf(times('a', 161), { referenceBits, split })[1]).toBe(referenceBits === 8 ? 153 : 152)
    }
  })

  test.each([...'\f^{}\\[~]|€'])('a pair of septets is never split: %j', character => {
    const septets = referenceBits === 8 ? 153 : 152
    const text = times('a', septets - 1) + character + times('a', septets - 1)
    for (const split of ['graphemes', 'code-units'] as const)
      expect(filledOf(text, { referenceBits, split })).toEqual(['GSM-7', septets, [septets - 1, septets, 1]])
  })

  test('255 parts and no more', () => {
    const [septets, units16] = referenceBits === 8 ? [39_015, 17_085] : [38_760, 16_830]
    for (const split of ['graphemes', 'code-units'] as const) {
      const own = rules({ referenceBits, split })
      expect(longestInWords(own)).toBe(
        `255 SMS, which hold ${septets} septets (GSM-7) or ${units16} 16-bit units (UCS-2)`,
      )
      for (const [letter, most] of [
        ['a', septets],
        ['я', units16],
      ] as const) {
        expect(countSegments(times(letter, most), own).segments).toBe(255)
        expect(mayFitOneMessage(times(letter, most), own)).toBe(true)
        expect(countSegments(times(letter, most + 1), own).segments).toBe(256)
        expect(mayFitOneMessage(times(letter, most + 1), own)).toBe(false)
      }
    }
  })
})

describe('national shift tables', () => {
  const turkish = { shiftTables: ['turkish'] } as const

  test('a text with their letters is GSM-7 in smaller parts, and the letters take two septets', () => {
    expect(filledOf('Şişli’de', turkish)[0]).toBe('UCS-2')
    expect(filledOf(times('a', 160), turkish)).toEqual(['GSM-7', 160, [160]])
    expect(filledOf(`ş${times('a', 153)}`, turkish)).toEqual(['GSM-7', 155, [155]])
    expect(filledOf(`ş${times('a', 154)}`, turkish)).toEqual(['GSM-7', 149, [149, 7]])
    expect(filledOf(`ş${times('a', 154)}`, { ...turkish, referenceBits: 16 })).toEqual(['GSM-7', 148, [148, 8]])
    expect(filledOf(times('ğ', 75), turkish)).toEqual(['GSM-7', 155, [150]])
    // No pair is split: 74 of them in each part.
    expect(filledOf(times('ğ', 149), turkish)).toEqual(['GSM-7', 149, [148, 148, 2]])
  })

  // The letters of 3GPP TS 23.038, A.2.1 to A.2.3, besides those of the default extension.
  test.each([
    ['turkish', 'ĞİŞçğış'],
    ['spanish', 'çÁÍÓÚáíóú'],
    ['portuguese', 'êçÔôÁáÊÀÍÓÚÃÕÂíóúãõâ'],
  ] as const)('%s has %s', (table, letters) => {
    for (const letter of letters) {
      expect(filledOf(letter, { shiftTables: [table] })).toEqual(['GSM-7', 155, [2]])
      expect(filledOf(letter)).toEqual(['UCS-2', 70, [1]])
    }
    // What GSM-7 has costs as much as before, and what neither has is UCS-2.
    expect(filledOf(`€é${letters[0]}`, { shiftTables: [table] })).toEqual(['GSM-7', 155, [5]])
    expect(filledOf(`ł${letters[0]}`, { shiftTables: [table] })).toEqual(['UCS-2', 70, [2]])
  })

  test('a text is sent with one table', () => {
    const shiftTables = ['turkish', 'portuguese'] as const
    expect(filledOf('ğ', { shiftTables })[0]).toBe('GSM-7')
    expect(filledOf('ã', { shiftTables })[0]).toBe('GSM-7')
    expect(filledOf('çĞ', { shiftTables })[0]).toBe('GSM-7')
    expect(filledOf('ãğ', { shiftTables })[0]).toBe('UCS-2')
  })

  test('the longest text: by its table', () => {
    const own = rules(turkish)
    const most = `ş${times('a', 255 * 149 - 2)}`
    expect([countSegments(most, own).segments, mayFitOneMessage(most, own)]).toEqual([255, true])
    expect(countSegments(`${most}a`, own).segments).toBe(256)
  })

  test('a letter of the table counts double, and is not what makes a text UCS-2', () => {
    expect(findCostly('Şey', rules(turkish))).toEqual([{ at: 0, character: 'Ş', why: 'double' }])
    expect(findCostly('Şey’', rules(turkish)).map(({ why }) => why)).toEqual(['foreign', 'foreign'])
  })
})

test('the parts join to the text, are as many as counted, none exceeds its capacity, and code units fill each', () => {
  const pieces = fc.constantFrom('a', 'word ', '€', '[', 'ş', 'ã', 'я', ...Object.values(GRAPHEMES), '\r\n', '\ud83d')
  const anyRules = fc.record({
    split: fc.constantFrom('graphemes' as const, 'code-units' as const),
    referenceBits: fc.constantFrom(8 as const, 16 as const),
    shiftTables: fc.subarray(['turkish', 'spanish', 'portuguese'] as const),
  })
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 400 }), anyRules, (parts, own) => {
      const text = parts.join('')
      const { encoding, capacity, segments } = segmentText(text, own)
      expect({ encoding, segments: segments.length }).toEqual(countSegments(text, own))
      expect(segments.map(segment => segment.text).join('')).toBe(text)
      for (const { filled } of segments) expect(filled).toBeLessThanOrEqual(capacity)
      const isCut = encoding === 'UCS-2' && own.split === 'code-units'
      if (isCut) for (const { filled } of segments.slice(0, -1)) expect(filled).toBe(capacity)
      if (surelyFitsOneMessage(text, own)) expect(segments.length).toBeLessThanOrEqual(255)
      expect(countSegments(text, FEWEST_SEGMENTS).segments).toBeLessThanOrEqual(segments.length)
    }),
  )
})

/**
 * What Kannel 1.4.5 (its smsbox and fake SMSC) and Jasmin 0.11.0 (its `SMPPOperationFactory`) sent of these texts. Both cut within
 * graphemes. Kannel keeps pairs of septets together, and Jasmin does not.
 */
test.each<[text: string, kannel: number, jasmin: number]>([
  ...Object.values(GRAPHEMES).map((grapheme): [string, number, number] => [
    times('я', 66) + grapheme + times('я', 68 - grapheme.length),
    2,
    2,
  ]),
  [times('я', 70), 1, 1],
  [times('я', 71), 2, 2],
  ['😀'.repeat(67), 2, 2],
  [times('a', 160), 1, 1],
  [times('a', 161), 2, 2],
  [times('a', 307), 3, 3],
  [times('€', 80), 1, 1],
  [times('€', 153), 3, 2],
  [`${times('a', 152)}€${times('a', 152)}`, 3, 2],
  [`${times('a', 152)}[${times('a', 152)}`, 3, 2],
])('as the gateways: %j', (text, kannel, jasmin) => {
  const { encoding, segments } = countSegments(text, rules({ split: 'code-units' }))
  expect(segments).toBe(kannel)
  if (encoding === 'UCS-2') expect(segments).toBe(jasmin)
})
