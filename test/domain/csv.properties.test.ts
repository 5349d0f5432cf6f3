/** Texts of users and partners in CSV: spreadsheets take none for a formula, and the import reads each as it was. */
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine, readCell } from '../../src/domain/csv.ts'
import { parseCsv } from '../../src/domain/csv-rows.ts'

const TEXT = { type: 'string' }

/** Texts of what formulas and their disguises are made of. */
const pieces = fc.constantFrom(...'=+-@\t\r\n;,\'" |!()A1ä', '＝', '＋', '－', '＠', '=1+1', 'HYPERLINK("https://x")')
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 12 }).map(parts => parts.join('')),
  fc.string({ unit: 'binary' }).filter(text => !text.includes('\0')),
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
    { numRuns: 2_000 },
  )
})

test('what was written is read, by the console and by the command', () => {
  fc.assert(
    fc.property(
      fc.array(
        texts.filter(text => text !== '' && text !== 'null'),
        { minLength: 1 },
      ),
      values => {
        const file = csvLine(['n', ...values.map((_, index) => `column ${index}`)]) + csvLine([7, ...values])
        const [, ofConsole] = parseCsv(file)
        const [, ofCommand] = parse(file, { record_delimiter: ['\r\n', '\n'] })
        const read = (cells: readonly string[] = []) => cells.slice(1).map(cell => readCell(TEXT, cell))
        expect(read(ofConsole?.cells)).toEqual(values)
        expect(read(ofCommand)).toEqual(values)
      },
    ),
    { numRuns: 2_000 },
  )
})

test('lists and objects are read as they were written', () => {
  const list = { type: 'array', items: TEXT }
  const items = fc.array(texts.filter(text => /^[^ ]+$/.test(text)))
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
  [null, 'null'],
  [true, 'true'],
  [undefined, ''],
  [['=A', '-B'], "'=A -B"],
  [[-1, 2], '-1 2'],
  [{ a: -1 }, '"{""a"":-1}"'],
])('%j is written as %s', (value, cell) => {
  expect(csvLine([value])).toBe(`${cell}\n`)
})

test('a cell that was written by hand is read as it is, unless it is one that the export would write', () => {
  for (const text of ['=1', '-5', "O'Neill", "'n", "'"]) expect(readCell(TEXT, text)).toBe(text)
  expect(readCell({ type: 'integer' }, '-5')).toBe(-5)
  expect(readCell(TEXT, "'=1")).toBe('=1')
})
