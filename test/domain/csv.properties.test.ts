/** Texts of users and partners in CSV: spreadsheets take none for a formula, and the import reads each as it was. */
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine, csvRecord, type FieldSchema, readCell } from '../../src/domain/basics/csv.ts'
import { parseCsv } from '../../src/domain/basics/csv-rows.ts'
import { runs } from '../support/runs.ts'

const TEXT = { type: 'string' }

/** Texts of what formulas and their disguises are made of. */
const pieces = fc.constantFrom(...'=+-@\t\r\n;,\'" |!()A1ä', '＝', '＋', '－', '＠', '=1+1', 'HYPERLINK("https://x")')
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 12 }).map(parts => parts.join('')),
  fc.string({ unit: 'binary' }).filter(text => !text.includes('\0')),
)

/** Texts that look like null or nothing. */
const emptyLooks = fc.constantFrom(
  '',
  '\\N',
  "'\\N",
  '#N/A',
  "'#N/A",
  '#WERT!',
  '####',
  '1.2E+11',
  '="1"',
  '="a""b"',
  "'",
  "''",
  "'''",
  'null',
  'NULL',
  'Null',
  "'null",
  "''Null",
  ' null',
  '[]',
)

/**
 * The cells of a file as a spreadsheet reads it that takes this character for the separator: a quotation mark counts at the
 * beginning of a cell only, and may never be closed.
 */
function spreadsheetCells(file: string, separator: string): string[] {
  const cell = new RegExp(`(?:"((?:[^"]|"")*)(?:"|$))?([^${separator}\\r\\n]*)(?:${separator}|\\r\\n|\\n|\\r|$)`, 'gy')
  return [...file.matchAll(cell)].map(([, quoted = '', rest = '']) => quoted.replaceAll('""', '"') + rest)
}

test.each([',', ';', '\t'])('no cell is a formula where spreadsheets separate by %j', separator => {
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 3 }), values => {
      const cells = spreadsheetCells(csvLine([7, ...values]), separator)
      expect(cells.filter(cell => /^[=+\-@\t\r＝＋－＠]/.test(cell))).toEqual([])
    }),
    { numRuns: runs(2_000) },
  )
})

test('what was written is read, also by another reader of CSV; a text is never null, nor left out', () => {
  const nullable = { anyOf: [TEXT, { type: 'null' }] }
  const values = fc.array(fc.oneof(texts, fc.constant(null), emptyLooks), { minLength: 1 })
  fc.assert(
    fc.property(values, written => {
      const file = csvRecord(['n', ...written.map((_, index) => `column ${index}`)]) + csvRecord([7, ...written])
      const [, ours] = parseCsv(file)
      const [, others] = parse(file, { record_delimiter: ['\r\n', '\n'] })
      for (const cells of [ours?.cells, others]) {
        const [, ...rest]: readonly string[] = cells ?? []
        expect(rest).not.toContain('')
        expect(rest.map(cell => readCell(nullable, cell))).toEqual(written)
      }
    }),
    { numRuns: runs(2_000) },
  )
})

test('lists and objects are read as they were written', () => {
  const list = { anyOf: [{ type: 'array', items: TEXT }, { type: 'null' }] }
  const items = fc.array(fc.oneof(texts, emptyLooks))
  const metadata = fc.dictionary(texts, texts, { noNullPrototype: true })
  fc.assert(
    fc.property(items, metadata, (values, object) => {
      const [, row] = parseCsv(csvLine(['a', 'b', 'c']) + csvLine(['first', values, object]))
      expect(readCell(list, row?.cells[1] ?? '')).toEqual(values)
      expect(readCell({ type: 'object' }, row?.cells[2] ?? '')).toEqual(object)
    }),
  )
})

test.each([
  ['=1+1', "'=1+1"],
  ["'=1+1", "''=1+1"],
  ["O'Neill", "O'Neill"],
  ["'quoted'", "'quoted'"],
  ['+49 30 1', "'+49 30 1"],
  ['-5', "'-5"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t'=1"],
  ['a;=1', "a;'=1"],
  ['a-b', 'a-b'],
  ['a, -b', '"a, -b"'],
  [-5, '-5'],
  [null, ''],
  ['null', "'null"],
  ['NULL', "'NULL"],
  ["'null", "''null"],
  ['', ''],
  [[], '[]'],
  [['a b', '[c'], '"[""a b"",""[c""]"'],
  [true, 'true'],
  [undefined, ''],
  [['=A', '-B'], "'=A -B"],
  [[-1, 2], '-1 2'],
  [{ a: -1 }, '"{""a"":-1}"'],
])('%j is written as %s', (value, cell) => {
  expect(csvLine([value])).toBe(`${cell}\n`)
})

test('a cell that was written by hand is read as it is, unless it is one that the export would write', () => {
  for (const text of ['=1', '-5', "O'Neill", "'n", "'", ' a ', 'nullable', 'TRUE'])
    expect(readCell(TEXT, text)).toBe(text)
  expect(readCell({ type: 'integer' }, '-5')).toBe(-5)
  expect(readCell(TEXT, "'=1")).toBe('=1')
  expect(readCell(TEXT, "'null")).toBe('null')
  expect(readCell(TEXT, "''")).toBe('')
})

const INTEGER = { type: 'integer' }
const NUMBER_OR_NULL = { anyOf: [INTEGER, { type: 'null' }] }
const BOOLEAN = { type: 'boolean' }
const WORD = { type: 'string', format: 'word' }
/** What could mean two numbers is none. */
const NO_NUMBERS = [
  '1.000',
  '1,000',
  '1 000',
  '1\u00A0000',
  "1'000",
  '1000,0',
  '1000.0',
  '1e3',
  '1.2E+11',
  '+5',
  '+1000',
  '-0',
  '00',
  '1\u202F000',
  '1\u2009000',
  '1,000.50',
  '\u22125',
  '5-',
  '(5)',
  '1000 €',
  '5%',
  "''5",
  'NaN',
  'nan',
  'None',
  'N/A',
  '#N/A',
  '####',
  'inf',
  '007',
  '0x10',
  '１０',
]

const TIME = { type: 'string', format: 'time' }
/** What could be two days, or no time, is left for the service to refuse. */
const NO_TIMES = ['31.12.2027', '12/31/2027', '2027-12-31  00:00', '2027-12-31 0:00', '2027-12-31 12:00 PM', '46752']

test.each<[FieldSchema, string, unknown]>([
  [BOOLEAN, 'TRUE', true],
  [BOOLEAN, ' False\u00A0', false],
  [BOOLEAN, 'WAHR', 'WAHR'],
  [BOOLEAN, '1', '1'],
  [NUMBER_OR_NULL, 'NULL', null],
  [NUMBER_OR_NULL, ' Null ', null],
  [INTEGER, 'NULL', 'NULL'],
  [{ anyOf: [TEXT, { type: 'null' }] }, 'Null', null],
  [TEXT, 'null', 'null'],
  [INTEGER, '1000', 1000],
  [INTEGER, '\u00A01000 ', 1000],
  [INTEGER, "'1000", 1000],
  [INTEGER, '-5', -5],
  [INTEGER, '\\N', '\\N'],
  [NUMBER_OR_NULL, '\\N', null],
  [NUMBER_OR_NULL, ' \\N ', null],
  [{ anyOf: [TEXT, { type: 'null' }] }, '\\N', null],
  [{ anyOf: [TEXT, { type: 'null' }] }, '\\n', '\\n'],
  [{ anyOf: [TEXT, { type: 'null' }] }, "'\\N", '\\N'],
  // How a spreadsheet is kept from taking a text for a number.
  [INTEGER, '="1000"', 1000],
  [INTEGER, '="1.000"', '1.000'],
  [TEXT, '="0042"', '0042'],
  [TEXT, '="a ""b"" c"', 'a "b" c'],
  [{ anyOf: [TEXT, { type: 'null' }] }, '="null"', 'null'],
  [TEXT, `'="0042"`, '="0042"'],
  [TEXT, '="A"&"B"', '="A"&"B"'],
  [TEXT, "'#N/A", '#N/A'],
  [TEXT, "''#N/A", "'#N/A"],
  [TEXT, "'1.2E+11", '1.2E+11'],
  [TIME, '2027-12-31', '2027-12-31'],
  [TIME, '2027-12-31 00:00', '2027-12-31T00:00'],
  [TIME, '2027-12-31 00:00:00', '2027-12-31T00:00:00'],
  [TIME, '2027-12-31 00:00:00.000', '2027-12-31T00:00:00.000'],
  [TIME, '2027-12-31 00:00:00+00', '2027-12-31T00:00:00+00:00'],
  [TIME, '2027-12-31 00:00:00.5-03:30', '2027-12-31T00:00:00.5-03:30'],
  [TIME, '2027-12-31 00:00:00Z', '2027-12-31T00:00:00Z'],
  ...NO_TIMES.map((text): [FieldSchema, string, unknown] => [TIME, text, text]),
  ...NO_NUMBERS.map((text): [FieldSchema, string, unknown] => [INTEGER, text, text]),
  [INTEGER, '9007199254740993', '9007199254740993'],
  [WORD, ' month\u00A0', 'month'],
  [{ type: 'array', items: TEXT }, 'DE  AT\u00A0CH', ['DE', 'AT', 'CH']],
  [{ type: 'array', items: TEXT }, '["DE","AT"]', ['DE', 'AT']],
  [{ type: 'array', items: TEXT }, '[]', []],
  [{ type: 'array', items: TEXT }, '[DE', ['[DE']],
  [{ type: 'array', items: INTEGER }, '80 100', [80, 100]],
  [{ type: 'array', items: INTEGER }, '80,5', ['80,5']],
  [{ type: 'object' }, ' {"a":"b"} ', { a: 'b' }],
])('%j: the cell %j is read as %j', (schema, cell, value) => {
  expect(readCell(schema, cell)).toEqual(value)
})
