/** Rate cards in the console: whose card a user has, which line decides, and what a file of prices says. */
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { ApiProblem } from '../../console/src/api/problem.ts'
import { PRICE_COLUMNS, priceIssues, readPrices } from '../../console/src/model/price-file.ts'
import { cardOf, decidingLines, digitsOf, isDecidedByPrefix } from '../../console/src/model/rates.ts'
import { RateLine, RateLinesReq } from '../../src/contract/rate-cards.ts'
import { CsvError } from '../../src/domain/basics/csv-rows.ts'

const MARKS = { created_by: '1', created_at: '2026-03-01T00:00:00.000Z', updated_by: '1' }
const card = (id: number, is_default = false) => ({
  ...{ id, version: 1, name: `Card ${id}`, is_default, archived: false, lines: 1 },
  ...{ ...MARKS, updated_at: MARKS.created_at },
})

test('a user has the card of their own, else that of the plan, else the default', () => {
  const cards = [card(1, true), card(2), card(3)]
  expect(cardOf(cards, 3, 2)).toMatchObject({ card: { id: 3 }, from: 'own' })
  expect(cardOf(cards, null, 2)).toMatchObject({ card: { id: 2 }, from: 'plan' })
  expect(cardOf(cards, null, null)).toMatchObject({ card: { id: 1 }, from: 'default' })
  expect(cardOf([card(2)], null, null)).toBeNull()
})

describe('a look-up', () => {
  const line = (fields: object, per_segment: number) => ({
    ...{ prefix: null, country: null, message_type: null, per_segment, per_message: 0 },
    ...fields,
  })
  const all = line({}, 400)
  const germany = line({ prefix: '49' }, 75)
  const codes = line({ prefix: '49', message_type: 'otp' }, 50)
  const mobile = line({ prefix: '49151', message_type: 'promo' }, 90)
  const france = line({ country: 'FR' }, 60)
  const LINES = [all, germany, codes, mobile, france]

  test('finds the line for all types, and those by which a type costs something else', () => {
    const at = (digits: string | null, country: string | null) => decidingLines(LINES, { digits, country })
    expect(at('4915112345678', 'DE')).toEqual([
      { message_type: null, line: germany },
      { message_type: 'otp', line: codes },
      { message_type: 'promo', line: mobile },
    ])
    expect(at('33612345678', 'FR')).toEqual([{ message_type: null, line: france }])
    expect(at(null, 'FR')).toEqual([{ message_type: null, line: france }])
    expect(at('4', null)).toEqual([{ message_type: null, line: all }])
  })

  test('needs no line of a country where one by prefix is for all types', () => {
    expect(isDecidedByPrefix([codes, germany], '4915')).toBe(true)
    expect(isDecidedByPrefix([codes, mobile], '4915')).toBe(false)
    expect(isDecidedByPrefix([germany], '4')).toBe(false)
  })

  test.each([
    ['+49 151/123-4', '491511234'],
    ['0049151', '49151'],
    ['49', '49'],
    ['0151', null],
    ['Germany', null],
    ['', null],
  ])('takes “%s” for the digits %s', (text, digits) => {
    expect(digitsOf(text)).toBe(digits)
  })
})

describe('prices as CSV', () => {
  const HEAD = PRICE_COLUMNS.join(',')

  test('are a body of the API, in any order of the columns and with any separator', () => {
    const read = readPrices(' Per_Segment;prefix;message_type\r\n400;;\r\n\r\n75; 49 ;otp\r\n60;null;promo\r\n')
    expect(read).toEqual({
      rows: [
        { per_segment: 400 },
        { per_segment: 75, prefix: '49', message_type: 'otp' },
        { per_segment: 60, prefix: null, message_type: 'promo' },
      ],
      places: [2, 4, 5],
    })
    expect('rows' in read && Value.Check(RateLinesReq, { lines: read.rows })).toBe(true)
    expect([...PRICE_COLUMNS].sort()).toEqual(Object.keys(RateLine.properties).sort())
  })

  test('keep what is no whole number as it is written, so that the service refuses it', () => {
    expect(readPrices(`${HEAD}\n49,,,0.075,1.000`)).toMatchObject({
      rows: [{ per_segment: '0.075', per_message: '1.000' }],
    })
  })

  test.each([
    ['', 'empty'],
    [HEAD, 'empty'],
    ['prefix,price\n49,75', 'columns'],
    ['prefix,per_segment,prefix\n49,75,48', 'columns'],
  ])('need a head and rows: %j', (text, problem) => {
    expect(readPrices(text)).toEqual({ problem })
  })

  test('name the line of a quotation mark that is not closed', () => {
    expect(() => readPrices(`${HEAD}\n"49`)).toThrow(CsvError)
  })

  test('are refused in the lines of the file', () => {
    const paths = ['/lines/1/per_segment', '/lines/0', '/lines', '/lines/7/prefix', 'valid_from']
    const problem = new ApiProblem(
      {
        ...{ type: 'about:blank', title: 'Invalid request', status: 400, code: 'invalid_request' },
        ...{ detail: '', request_id: 'r', errors: paths.map(path => ({ path, message: 'is wrong' })) },
      },
      null,
    )
    expect(priceIssues(problem, [2, 4])).toEqual([
      { line: 4, about: 'per_segment' },
      { line: 2, about: 'twice' },
      { line: null, about: 'list' },
      { line: null, about: 'list' },
      { line: null, about: 'valid_from' },
    ])
  })
})
