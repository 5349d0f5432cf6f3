import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isNameOfService, shownName } from '../../src/domain/users/principal-name.ts'

/** Each with no width or a direction: marks, overrides, isolates, joiners, fillers, tags, variation selectors, separators. */
const UNSEEN = [
  '\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060',
  '\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u3164\ufe0f\ufeff\uffa0\ufff9\ufffa\ufffb\u{e0001}\u{e0041}\u{e0100}',
].flatMap(text => [...text])

const visible = fc.string({
  unit: fc.constantFrom('a', 'Z', '7', 'é', 'ß', 'م', 'ש', '李', '😀', '.'),
  minLength: 1,
  maxLength: 90,
})
const unseen = fc.string({ unit: fc.constantFrom(...UNSEEN), maxLength: 5 })

test('a name keeps what is seen and loses the rest, wherever it is', () => {
  const mixed = visible.chain(text =>
    fc
      .array(unseen, { minLength: [...text].length + 1, maxLength: [...text].length + 1 })
      .map(gaps => ({ text, name: `${gaps[0]}${[...text].map((char, n) => `${char}${gaps[n + 1]}`).join('')}` })),
  )
  fc.assert(
    fc.property(mixed, ({ text, name }) => {
      expect(shownName(name)).toBe(text)
    }),
  )
})

test('of any text, nothing unseen is shown, and showing it again changes nothing', () => {
  const anything = fc.string({ unit: fc.oneof(fc.constantFrom(...UNSEEN, ' ', '\n', '\0', '\ud800'), fc.string()) })
  fc.assert(
    fc.property(anything, text => {
      const name = shownName(text)
      if (name === null) return
      expect(UNSEEN.filter(char => name.includes(char))).toEqual([])
      expect(name).toMatch(/^(?! )\P{Cc}{1,100}(?<! )$/u)
      expect(shownName(name)).toBe(name)
    }),
  )
})

test.each([
  ['nothing', ''],
  ['blanks', ' \u3000'],
  ['nothing that is seen', '\u200b\u202e\u3164'],
  ['a control character', 'Ann\nLee'],
  ['101 characters', 'x'.repeat(101)],
  ['half a character', 'Ann \ud83d'],
])('%s is no name', (_, text) => {
  expect(shownName(text)).toBeNull()
})

test('a name with blanks within, and of 100 characters', () => {
  expect(shownName(' Ann  Lee ')).toBe('Ann  Lee')
  expect(shownName('😀'.repeat(100))).toBe('😀'.repeat(100))
})

test.each([
  ['sms-quota', true],
  ['SMS-Quota', true],
  [' sms-quota ', true],
  ['sms\u200b-quota\u202c', true],
  ['ｓｍｓ-quota', true],
  ['SMS\u2010quota', true],
  ['sms\u2014quota', true],
  ['sms\u2212quota', true],
  ['\u0455ms-quota', true],
  ['\u0405\u041c\u0405-QU\u039f\u0422\u0410', true],
  ['sms-qu\u043et\u0430', true],
  ['\u1e63ms-quota', true],
  ['sms-qu0ta', true],
  ['sms-quota-2', false],
  ['Ѕерхио Мартин', false],
  ['sms-quota:admin', false],
  ['7', false],
])('%j looks like the name of the service: %s', (text, expected) => {
  expect(isNameOfService(text)).toBe(expected)
  expect(shownName(text) === null).toBe(expected)
})
