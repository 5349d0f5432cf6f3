/** What makes a message cost more. */
import { expect, test } from 'vitest'
import { categoryOf, codePointsOf, isVisible, kindsOf, runsOf } from '../../console/src/model/costly-characters.ts'
import { findCostly } from '../../src/domain/messages/characters.ts'
import { DEFAULT_SEGMENT_RULES } from '../../src/domain/messages/segment-rules.ts'
import { segmentText } from '../../src/domain/messages/segments.ts'

test('costly characters are listed once each, in the order of the text, with what replaces them', () => {
  const text = 'It’s on its way… – it’s 5 € [all in]'
  expect(kindsOf(findCostly(text, DEFAULT_SEGMENT_RULES), 'foreign')).toEqual([
    { character: '’', count: 2, replacement: "'" },
    { character: '…', count: 1, replacement: '...' },
    { character: '–', count: 1, replacement: '-' },
  ])
  expect(
    kindsOf(findCostly(text, DEFAULT_SEGMENT_RULES), 'double').map(({ character, replacement }) => [
      character,
      replacement,
    ]),
  ).toEqual([
    ['€', null],
    ['[', null],
    [']', null],
  ])
})

test.each<[string, string, [text: string, why: string | null][][]]>([
  [
    'marks alone',
    'a€b',
    [
      [
        ['a', null],
        ['€', 'double'],
        ['b', null],
      ],
    ],
  ],
  [
    'neighbors as one',
    'я€яж',
    [
      [
        ['я', 'foreign'],
        ['€', 'double'],
        ['яж', 'foreign'],
      ],
    ],
  ],
  [
    'a mark at the start of a segment',
    `${'a'.repeat(152)}€bb${'c'.repeat(10)}`,
    [
      [['a'.repeat(152), null]],
      [
        ['€', 'double'],
        [`bb${'c'.repeat(10)}`, null],
      ],
    ],
  ],
  ['a mark over several segments', 'я'.repeat(71), [[['я'.repeat(67), 'foreign']], [['я'.repeat(4), 'foreign']]]],
  ['nothing in an empty text', '', [[]]],
])('segments show %s', (_title, text, runs) => {
  const shown = runsOf(segmentText(text, DEFAULT_SEGMENT_RULES).segments, findCostly(text, DEFAULT_SEGMENT_RULES))
  expect(shown.map(segment => segment.runs.map(run => [run.text, run.why]))).toEqual(runs)
})

test.each([
  ['’', 'U+2019', true, 'punctuation'],
  ['я', 'U+044F', true, 'cyrillic'],
  ['😀', 'U+1F600', true, 'emoji'],
  ['\u202e', 'U+202E', false, 'invisible'],
  ['\u00a0', 'U+00A0', false, 'space'],
  ['\u0000', 'U+0000', false, 'control'],
  ['é', 'U+00E9', true, 'latin'],
  ['שׁ', 'U+05E9 U+05C1', true, 'hebrew'],
  ['½', 'U+00BD', true, 'digit'],
  ['\u{10ffff}', 'U+10FFFF', false, 'other'],
  [`a${'\u0301'.repeat(700)}`, `U+0061${' U+0301'.repeat(7)} …`, true, 'latin'],
])('%j is %s, visible: %s, a %s', (character, codePoints, visible, category) => {
  expect([codePointsOf(character), isVisible(character), categoryOf(character)]).toEqual([
    codePoints,
    visible,
    category,
  ])
})
