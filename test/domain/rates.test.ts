import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_VALID_FROM_AHEAD_MS } from '../../src/domain/basics/bounds.ts'
import { segmentsPaidBy, unitsOf, wholeUnits } from '../../src/domain/rates/rate.ts'
import { listAt, NO_RATES, rateOf } from '../../src/domain/rates/rate-book.ts'
import { changedLines, findIn, lineIssues, type Priced, type RateLine } from '../../src/domain/rates/rate-line.ts'
import { at } from './fixture.ts'
import { bookOf, line } from './rate-book.ts'

const charges = { per_segment: fc.integer({ min: 0, max: 9 }), per_message: fc.integer({ min: 0, max: 9 }) }
const types = fc.constantFrom(null, 'otp', 'news')
const aLine = fc
  .record({
    destination: fc.oneof(fc.stringMatching(/^[1-3]{1,4}$/), fc.constantFrom(null, 'DE', 'FR')),
    message_type: types,
    ...charges,
  })
  .map(({ destination, ...fields }) =>
    line({ ...fields, ...(/\d/.test(destination ?? '') ? { prefix: destination } : { country: destination }) }),
  )
const keyOf = ({ prefix, country, message_type }: RateLine) => `${prefix}/${country}/${message_type}`
const lists = fc
  .uniqueArray(aLine, { selector: keyOf, maxLength: 30 })
  .map(lines => [...lines, line({ per_segment: 99 })])
const messages = fc.record({
  digits: fc.oneof(fc.constant(null), fc.stringMatching(/^[1-3]{7,9}$/)),
  country: fc.constantFrom(null, 'DE', 'FR', 'AT'),
  message_type: types,
})

/** Goes through all lines: the better one has the longer prefix, then a country, then the type. */
function naiveLine(lines: readonly RateLine[], { digits, country, message_type: type }: Priced): RateLine | undefined {
  const fits = lines.filter(
    ({ prefix, country: of, message_type }) =>
      (prefix === null || digits?.startsWith(prefix) === true) &&
      (of === null || of === country) &&
      (message_type === null || message_type === type),
  )
  const rank = (one: RateLine) =>
    10 * (one.prefix === null ? (one.country === null ? 0 : 1) : 1 + one.prefix.length) +
    (one.message_type === null ? 0 : 1)
  return fits.toSorted((one, other) => rank(other) - rank(one))[0]
}

describe('the line of a message', () => {
  test('has the longest prefix, then the country, then neither, and of several names the type', () => {
    fc.assert(
      fc.property(lists, messages, (lines, message) => {
        expect(findIn(lines)(message)).toEqual(naiveLine(lines, message))
      }),
    )
  })

  test.each([
    ['4915112345678', 'DE', null, 75],
    ['4917712345678', 'DE', null, 90],
    ['4917712345678', 'DE', 'otp', 80],
    ['4917712345678', 'DE', 'news', 90],
    ['33612345678', 'FR', null, 60],
    [null, 'FR', null, 60],
    [null, 'DE', null, 400],
    ['77712345678', 'KZ', null, 400],
  ])('of %s, %s, %s costs %i', (digits, country, message_type, units) => {
    const find = findIn([
      line({ per_segment: 400 }),
      line({ prefix: '49', per_segment: 75 }),
      line({ prefix: '49177', per_segment: 90 }),
      line({ prefix: '49177', message_type: 'otp', per_segment: 80 }),
      line({ country: 'FR', per_segment: 60 }),
    ])
    expect(find({ digits, country, message_type })?.per_segment).toBe(units)
  })
})

describe('units and segments', () => {
  const prices = fc.record({ segments: fc.integer({ min: 1, max: 255 }), ...charges }).map(price => ({
    ...price,
    ...(price.per_segment + price.per_message === 0 ? { per_message: 1 } : {}),
    card_id: 1,
    version: 1,
  }))

  test('say the same', () => {
    fc.assert(
      fc.property(prices, price => {
        expect(segmentsPaidBy(unitsOf(price, price.segments), price)).toBe(price.segments)
      }),
    )
  })

  test('of a part pay whole segments, as many as there are units for', () => {
    fc.assert(
      fc.property(prices, fc.nat(3_000), (price, available) => {
        fc.pre(available < unitsOf(price, price.segments))
        const units = wholeUnits(price, available)
        const segments = segmentsPaidBy(units, price)
        expect(units).toBe(unitsOf(price, segments))
        expect(units).toBeLessThanOrEqual(available)
        expect(unitsOf(price, segments + 1)).toBeGreaterThan(available)
      }),
    )
  })
})

describe('the lines of a card', () => {
  const rest = line({ per_segment: 400 })
  test.each<[string, RateLine[], string[]]>([
    ['are accepted', [rest, line({ prefix: '49' }), line({ prefix: '49', message_type: 'otp' })], []],
    ['must have one for all', [line({ prefix: '49' })], ['/lines']],
    ['must have one for all types', [line({ message_type: 'otp' })], ['/lines']],
    [
      'have each destination once',
      [rest, line({ country: 'DE' }), line({ country: 'DE', per_segment: 9 })],
      ['/lines/2'],
    ],
    ['name a prefix or a country', [rest, line({ prefix: '49', country: 'DE' })], ['/lines/1/country']],
    ['cost something', [rest, line({ prefix: '49', per_segment: 0 })], ['/lines/1/per_segment']],
  ])('%s', (_, lines, paths) => {
    expect(lineIssues(lines).map(({ path }) => path)).toEqual(paths)
  })

  test('have ten issues at most, however many are wrong', () => {
    expect(lineIssues(Array.from({ length: 20_000 }, () => line({ prefix: '49', country: 'DE' })))).toHaveLength(10)
  })

  test('are compared by what a message of one segment costs, the largest change first', () => {
    const before = [
      rest,
      line({ prefix: '49', per_segment: 75 }),
      line({ prefix: '33', per_segment: 60 }),
      line({ prefix: '1', per_segment: 5 }),
    ]
    const after = [
      rest,
      line({ prefix: '49', per_segment: 80 }),
      line({ prefix: '33', per_segment: 20 }),
      line({ prefix: '44', per_segment: 30 }),
    ]
    expect(changedLines(before, after).map(({ prefix, change }) => `${prefix} ${change}`)).toEqual([
      '33 cheaper',
      '44 new',
      '49 dearer',
      '1 gone',
    ])
  })
})

describe('the list that holds', () => {
  const noon = at('2026-01-10 12:00')
  const list = (version: number, hours: number) => ({ version, valid_from: noon + hours * 3_600_000 })
  const far = MAX_VALID_FROM_AHEAD_MS / 3_600_000 + 1
  test.each<[string, [version: number, hours: number][], number]>([
    [
      'is the latest that holds already',
      [
        [1, -9],
        [2, -1],
        [3, 5],
      ],
      2,
    ],
    [
      'begins at its instant',
      [
        [1, -9],
        [2, 0],
      ],
      2,
    ],
    [
      'is of one time the last version',
      [
        [1, -9],
        [2, -1],
        [3, -1],
      ],
      3,
    ],
    [
      'is not replaced by a later version that began before it',
      [
        [1, -9],
        [2, -1],
        [3, -2],
      ],
      2,
    ],
    [
      'is the first one for a clock that lags',
      [
        [1, 1],
        [2, 2],
      ],
      1,
    ],
    [
      'is one of a clock that was far ahead',
      [
        [1, -9],
        [2, far],
      ],
      2,
    ],
    [
      'is none of a clock that was far ahead once there is a later version',
      [
        [1, -9],
        [2, far],
        [3, 0],
      ],
      3,
    ],
  ])('%s', (_, given, version) => {
    const versions = given.map(([number, hours]) => list(number, hours))
    expect(listAt(versions, noon)?.version).toBe(version)
    expect(listAt(versions.toReversed(), noon)?.version).toBe(version)
  })
})

describe('the card of a user', () => {
  const priced = (own: number | null, plan: number | null, defaultId: number | null) => {
    const cards = new Map(
      [1, 2, 3].map(id => [id, [{ version: 1, valid_from: 0, find: findIn([line({ per_segment: id })]) }]]),
    )
    const book = { ...NO_RATES, cards, defaultId, ofPlans: new Map([[70, 2]]), isPersonal: true }
    return rateOf(book, { own, plan }, { digits: null, country: null, message_type: null }, 0)?.card_id ?? null
  }
  test.each([
    ['is its own', 3, 70, 1, 3],
    ['is that of its plan', null, 70, 1, 2],
    ['is the default, with a plan without one', null, 71, 1, 1],
    ['is the default', null, null, 1, 1],
    ['is none', null, 71, null, null],
    ['is the next one where it is not known', 9, 70, 1, 2],
  ])('%s', (_, own, plan, defaultId, card) => {
    expect(priced(own, plan, defaultId)).toBe(card)
  })

  test('prices with the list of the time', () => {
    const book = bookOf([
      [0, [line({ per_segment: 5 })]],
      [100, [line({ per_segment: 6 })]],
    ])
    const at = (now: number) =>
      rateOf(book, { own: null, plan: null }, { digits: null, country: null, message_type: null }, now)
    expect([at(99)?.per_segment, at(100)?.per_segment]).toEqual([5, 6])
  })
})
