import fc from 'fast-check'
import { getCountryCallingCode, isValidPhoneNumber } from 'libphonenumber-js/max'
import metadata from 'libphonenumber-js/min/metadata'
import examples from 'libphonenumber-js/mobile/examples'
import { describe, expect, test } from 'vitest'
import { readByPlan } from '../../src/domain/messages/destination.ts'
import { canonicalRecipient } from '../../src/domain/messages/recipient.ts'
import { runs } from '../support/runs.ts'

type Country = keyof typeof examples

const COUNTRIES = Object.keys(examples).filter((code): code is Country => code in examples)

/** What people dial before a number within these countries. */
const TRUNKS: Partial<Record<Country, string>> = {
  ...{ GB: '0', FR: '0', DE: '0', AT: '0', AU: '0', NL: '0', TR: '0', IN: '0', ZA: '0', JP: '0', BR: '0', CO: '0' },
  ...{ US: '1', CA: '1', RU: '8', KZ: '8', HU: '06' },
}

/** A number that the plan of its country lists as one in service. */
const listed = (countries: readonly Country[]) =>
  fc
    .record({ country: fc.constantFrom(...countries), digits: fc.nat(9_999) })
    .map(({ country, digits }) => {
      const national = `${examples[country].slice(0, -4)}${String(digits).padStart(4, '0')}`
      const code = getCountryCallingCode(country)
      return { country, code, national, number: `+${code}${national}` }
    })
    .filter(({ number }) => isValidPhoneNumber(number))

const separators = fc.constantFrom('', '', '', ' ', '-', '.', '\u00a0', '\u2011', '\u200b', ' / ')

/** How a person or a program may write it. */
const spellingOf = ({
  country,
  code,
  national,
  number,
}: {
  country: Country
  code: string
  national: string
  number: string
}) =>
  fc
    .record({
      before: fc.constantFrom('+', '00', '', 'tel:+', 'TEL: ', '++', '＋', ' \u202a+', '\ufeff+'),
      trunk: fc.constantFrom('', TRUNKS[country] ?? '', TRUNKS[country] === undefined ? '' : `(${TRUNKS[country]})`),
      between: fc.array(separators, { minLength: national.length, maxLength: national.length }),
      after: fc.constantFrom('', ' ', '\u200e'),
      wide: fc.boolean(),
    })
    .map(({ before, trunk, between, after, wide }) => {
      const digits = [...national].map((digit, index) => `${between[index]}${digit}`).join('')
      const text = `${before}${code}${trunk}${digits}${after}`
      const written = wide ? text.replace(/\d/g, digit => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)) : text
      return { written, number }
    })

describe('a text that reads as a number is that number, whichever way it is written', () => {
  test.each([
    // The trunk prefix of its country, once and several times.
    ['+4407911123456', '+447911123456'],
    ['+44007911123456', '+447911123456'],
    ['+330612345678', '+33612345678'],
    ['+610412345678', '+61412345678'],
    ['+4915112345678', '+4915112345678'],
    ['+49015112345678', '+4915112345678'],
    ['+112025550123', '+12025550123'],
    ['+789161234567', '+79161234567'],
    ['+36062012345678', '+362012345678'],
    // A zero where the plan has none.
    ['+340612345678', '+34612345678'],
    ['+5703211234567', '+573211234567'],
    // In Italy it belongs to the number, and a number without it is another one.
    ['+390612345678', '+390612345678'],
    ['+39612345678', '+39612345678'],
    ['+39 (0)6 12345678', '+390612345678'],
    ['+393331234567', '+393331234567'],
    // What the plans of Mexico, Argentina and Brazil say.
    ['+525512345678', '+525512345678'],
    ['+5215512345678', '+5215512345678'],
    ['+5491112345678', '+5491112345678'],
    ['+5409111234 5678', '+5491112345678'],
    ['+54111512345678', '+5491112345678'],
    ['+541112345678', '+541112345678'],
    ['+5511987654321', '+5511987654321'],
    ['+55011987654321', '+5511987654321'],
    ['+5501511987654321', '+5511987654321'],
    ['+551187654321', '+551187654321'],
    // The calling code without a sign before it, with two zeros, and with both.
    ['447911123456', '+447911123456'],
    ['00447911123456', '+447911123456'],
    ['+00447911123456', '+447911123456'],
    ['4407911123456', '+447911123456'],
    // What stands between the digits.
    ['+44 (0) 7911-123.456', '+447911123456'],
    ['tel:+44-7911-123456;ext=1', '+447911123456'],
    ['+44\u20117911\u2212123/456', '+447911123456'],
    ['＋４４７９１１１２３４５６', '+447911123456'],
    ['٠٠٤٤٧٩١١١٢٣٤٥٦', '+447911123456'],
    // Numbers that no plan lists keep their digits.
    ['+999 123-45678', '+99912345678'],
    ['+44 7000 0000 0000', '+44700000000000'],
    // One that names no country is its digits.
    ['07911 123-456', '07911123456'],
  ])('%j is %s', (written, canonical) => {
    expect(canonicalRecipient(written)).toBe(canonical)
  })
})

describe('any other text is itself, without what no reader sees', () => {
  test.each([
    ['customer-17', 'customer-17'],
    [' Ann\u200b\u00ad@example.com\u2060 ', 'Ann@example.com'],
    ['cafe\u0301', 'café'],
    ['A\ufe0fB\u{e0041}', 'AB'],
    ['Ann', 'Ann'],
    ['ann', 'ann'],
    // Too few digits, and too many.
    ['12-34', '12-34'],
    ['+1 (234) 5', '+1 (234) 5'],
    ['123456', '123456'],
    ['1234567890123456', '1234567890123456'],
    ['0f8fad5b-d9cb-469f-a165-70867728950e', '0f8fad5b-d9cb-469f-a165-70867728950e'],
    ['\u200b', ''],
  ])('%j is %j', (written, canonical) => {
    expect(canonicalRecipient(written)).toBe(canonical)
  })
})

test('each way to write a number that is in service is one recipient, in all countries', () => {
  fc.assert(
    fc.property(listed(COUNTRIES).chain(spellingOf), ({ written, number }) => {
      expect(canonicalRecipient(written)).toBe(number)
    }),
    { numRuns: runs(2_000) },
  )
})

test('numbers that are in service stay as they are, so no two of them are one', () => {
  fc.assert(
    fc.property(listed(COUNTRIES), ({ number }) => {
      expect(canonicalRecipient(number)).toBe(number)
    }),
    { numRuns: runs(2_000) },
  )
})

const CODES = fc.constantFrom(...Object.keys(metadata.country_calling_codes), '999', '800')
const DIGITS = fc.string({ unit: fc.constantFrom(...'000123456789'), minLength: 1, maxLength: 20 })

test('a number that is counted without being read is the one that reading it would give', () => {
  fc.assert(
    fc.property(CODES, DIGITS, (code, digits) => {
      const number = `+${code}${digits}`
      fc.pre(number.length > 7)
      expect(canonicalRecipient(number)).toBe(readByPlan(number)?.number ?? number)
    }),
    { numRuns: runs(3_000) },
  )
})

test('the canonical form of a canonical form is itself', () => {
  const text = fc.string({
    unit: fc.constantFrom(...'0012349+-. ()t:;é\u0301\u200b\u00ad\u1100\u1161٣９'),
    maxLength: 64,
  })
  const written = fc.oneof(
    fc.tuple(fc.constantFrom('+', '00', ''), CODES, DIGITS).map(parts => parts.join('')),
    text,
    fc.string({ unit: 'binary', maxLength: 64 }),
  )
  fc.assert(
    fc.property(written, any => {
      const canonical = canonicalRecipient(any)
      expect(canonicalRecipient(canonical)).toBe(canonical)
    }),
    { numRuns: runs(1_500) },
  )
})
