/** The reader of CSV: separators, quotation marks, line breaks and encodings as spreadsheets and programs write them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CsvError, type CsvRow, createCsvReader, parseCsv } from '../../src/domain/basics/csv-rows.ts'
import { createFileText, isUnreadable, LongLine, textOfFile } from '../../src/domain/basics/file-text.ts'
import { runs } from '../support/runs.ts'

const rows = (text: string) => parseCsv(text).map(({ line, cells }) => [line, ...cells])

test.each([
  [
    'a,b\n1,2\n',
    [
      [1, 'a', 'b'],
      [2, '1', '2'],
    ],
  ],
  [
    'a;b\r\n1;2,5\r\n',
    [
      [1, 'a', 'b'],
      [2, '1', '2,5'],
    ],
  ],
  [
    'a\tb\r1\t2',
    [
      [1, 'a', 'b'],
      [2, '1', '2'],
    ],
  ],
  [
    'a|b\n1|2',
    [
      [1, 'a', 'b'],
      [2, '1', '2'],
    ],
  ],
  [
    '\uFEFFsep=;\r\na;b\r\n1,5;2',
    [
      [2, 'a', 'b'],
      [3, '1,5', '2'],
    ],
  ],
  ['sep=\t\na,b\tc\n', [[2, 'a,b', 'c']]],
  ['SEP=,\n"a;b;c;d",e\n', [[2, 'a;b;c;d', 'e']]],
  ['"sep=;"\na;b\n', [[2, 'a', 'b']]],
  ['sep=;;;\na;b;c\n', [[2, 'a', 'b', 'c']]],
  ['\n\nsep=;\n\na;b', [[5, 'a', 'b']]],
  // Export-Csv of Windows PowerShell.
  [
    '#TYPE System.Data.DataRow\r\n"a";"b"\r\n"1";"2,5"\r\n',
    [
      [2, 'a', 'b'],
      [3, '1', '2,5'],
    ],
  ],
  ['\uFEFF#TYPE A,B;C\n\na\tb', [[3, 'a', 'b']]],
  ['#TYPE A\nsep=;\na;b,c', [[3, 'a', 'b,c']]],
  [
    '#TYPE\na',
    [
      [1, '#TYPE'],
      [2, 'a'],
    ],
  ],
  ['#type ,b\n', [[1, '#type ', 'b']]],
  // Blank lines and lines of separators say nothing, but count.
  [
    'a;b;;\n\n;;;\n \n1;2;;\n',
    [
      [1, 'a', 'b', '', ''],
      [5, '1', '2', '', ''],
    ],
  ],
  [
    'a,b\n1,\n,2\n',
    [
      [1, 'a', 'b'],
      [2, '1', ''],
      [3, '', '2'],
    ],
  ],
  // The separator is not looked for within quotation marks.
  ['"a;b;c;d",e\n', [[1, 'a;b;c;d', 'e']]],
  ['\uFEFF"a","b"\n', [[1, 'a', 'b']]],
  // Line breaks within quotation marks, of each kind, move the next lines by one.
  [
    'a,b\r\n"1\r\n2",3\r\n4,5',
    [
      [1, 'a', 'b'],
      [2, '1\r\n2', '3'],
      [4, '4', '5'],
    ],
  ],
  [
    'a,b\n"1\r2\n3","4\r\n"\n5,6',
    [
      [1, 'a', 'b'],
      [2, '1\r2\n3', '4\r\n'],
      [6, '5', '6'],
    ],
  ],
  // A quotation mark within a cell is part of it.
  [
    'a,b\nPizzeria "Roma",5"\n',
    [
      [1, 'a', 'b'],
      [2, 'Pizzeria "Roma"', '5"'],
    ],
  ],
  [
    'a,b\n"say ""hi""",""\n',
    [
      [1, 'a', 'b'],
      [2, 'say "hi"', ''],
    ],
  ],
  ['a\n"",\n""\n', [[1, 'a']]],
  [' a ,\u00A0b\u00A0\n', [[1, ' a ', '\u00A0b\u00A0']]],
  ['', []],
  ['\uFEFF', []],
])('%j is read cell by cell', (text, expected) => {
  expect(rows(text)).toEqual(expected)
})

test.each([
  ['a,b\n1,"2\n3,4\n', 2, 'unclosed_quote'],
  ['a,b\n"x\ny","2\n3,4\n', 3, 'unclosed_quote'],
  ['a,"', 1, 'unclosed_quote'],
  ['a,b\n1,2\n"x"y,2\n', 3, 'text_after_quote'],
  ['a,b\n"x\n" ,2\n', 3, 'text_after_quote'],
  ['a,b\n1, "x,y"\n', 2, 'quote_after_blank'],
  ['a;b\n1;\u00A0"x;y"\n', 2, 'quote_after_blank'],
  ['sep=x\na,b', 1, 'unknown_separator'],
  ['sep=\na,b', 1, 'unknown_separator'],
  [`a,b\n1,${'x'.repeat(300_000)}\n`, 2, 'too_long'],
  [`a,b\n1,"${'x\n'.repeat(200_000)}"\n`, 2, 'too_long'],
])('a fault is named with its line (%#)', (text, line, fault) => {
  for (const size of [1_000_000, 65_536]) {
    const read: CsvRow[] = []
    try {
      const reader = createCsvReader()
      for (let at = 0; at < text.length; at += size)
        read.push(...reader.read(text.slice(at, at + size), at + size < text.length ? 'more' : 'end'))
      expect.unreachable()
    } catch (error) {
      if (!(error instanceof CsvError)) throw error
      expect(error.line).toBe(line)
      // A part does not show whether a long cell would have ended.
      if (size > text.length) expect(error.fault).toBe(fault)
    }
  }
})

const pieces = fc.constantFrom(...'ab1 ,;\t|\r\n"\'', '\r\n', '""', 'sep=;', '#TYPE ', '\uFEFF', 'ä', '😀')
const files = fc.array(pieces, { maxLength: 30 }).map(parts => parts.join(''))

/** The rows until a fault, and the fault. */
function outcomeOf(parts: readonly string[]): unknown {
  const reader = createCsvReader()
  const read: CsvRow[] = []
  try {
    for (const [index, part] of parts.entries())
      for (const row of reader.read(part, index + 1 < parts.length ? 'more' : 'end')) read.push(row)
    return read
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return [read, error.message]
  }
}

test('a file is read the same in parts of any size', () => {
  fc.assert(
    fc.property(files, fc.integer({ min: 1, max: 5 }), (text, size) => {
      const parts = [...text.matchAll(new RegExp(`[\\s\\S]{1,${size}}`, 'g'))].map(([part]) => part)
      expect(outcomeOf([...parts, ''])).toEqual(outcomeOf([text]))
    }),
    { numRuns: runs(5_000) },
  )
})

test('cells are what was written, with each separator and line break', () => {
  const cells = fc.array(fc.string({ unit: fc.constantFrom(...'ab,;\t|\r\n" \'ä') }), { minLength: 2, maxLength: 4 })
  fc.assert(
    fc.property(cells, fc.constantFrom(',', ';', '\t', '|'), fc.constantFrom('\n', '\r\n', '\r'), (row, mark, end) => {
      const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
      const file = [
        ['h', ...row.map(() => 'h')],
        ['x', ...row],
      ]
        .map(line => line.map(quoted).join(mark))
        .join(end)
      expect(parseCsv(file)[1]).toEqual({ line: 2, cells: ['x', ...row] })
    }),
    { numRuns: runs(2_000) },
  )
})

/* ── Encodings ──────────────────────────────────────────────────────────────────────────────────────────────────── */

const utf16 = (text: string, isLittle: boolean) => {
  const bytes = Buffer.from(text, 'utf16le')
  return isLittle ? bytes : bytes.swap16()
}
const FILE = 'user_id\tname\r\n7\tMüller 😀\r\n8\t"zwei\r\nZeilen"\r\n'

test.each([
  ['UTF-8', Buffer.from(FILE)],
  ['UTF-8 with its mark', Buffer.from(`\uFEFF${FILE}`)],
  ['UTF-16 of Excel', utf16(`\uFEFF${FILE}`, true)],
  ['UTF-16, the higher byte first', utf16(`\uFEFF${FILE}`, false)],
  ['UTF-16 without its mark', utf16(FILE, true)],
  ['UTF-16 without its mark, the higher byte first', utf16(FILE, false)],
])('%s is found out, in parts of any size', (_, bytes) => {
  expect(textOfFile(bytes)).toBe(FILE)
  // What the file says of itself counts more than what the user says.
  expect(textOfFile(bytes, bytes[0] === 0x75 && bytes[1] !== 0 ? 'utf-8' : 'windows-1252')).toBe(FILE)
  for (const size of [1, 2, 3, 7]) {
    const file = createFileText()
    const text: string[] = []
    for (let at = 0; at < bytes.length; at += size) text.push(...file.read(bytes.subarray(at, at + size)))
    expect([...text, file.end()].join('')).toBe(FILE)
  }
})

test.each([
  ['windows-1252', [0x4d, 0xfc, 0x6c, 0x80], 'Mül€'],
  ['iso-8859-15', [0xa4], '€'],
  ['macintosh', [0x4d, 0x9f], 'Mü'],
  ['windows-1250', [0xb3], 'ł'],
  ['shift_jis', [0x82, 0xa0], 'あ'],
  ['utf-16le', [0xe4, 0x00], 'ä'],
])('%s is read if it is named', (encoding, bytes, text) => {
  expect(textOfFile(Uint8Array.from(bytes), encoding)).toBe(text)
})

test('bytes that are no text are marked where they are, and never made equal in silence', () => {
  const bytes = Buffer.from('a,\xef\xbf\xbd\nM\xfcller,b\nM\xf6ller,c\n', 'latin1')
  const lines = textOfFile(bytes).split('\n')
  expect(lines.map(isUnreadable)).toEqual([false, true, true, false])
  // The replacement character itself is a character.
  expect(textOfFile(Buffer.from('\uFFFD,a\n\uFFFD')).split('\n').map(isUnreadable)).toEqual([false, false])
  expect(isUnreadable(textOfFile(Buffer.from('a,b\n1,\xe2\x82', 'latin1')))).toBe(true)
  expect(isUnreadable(textOfFile(Buffer.from([0xff, 0xfe, 0x41, 0x00, 0x00, 0xd8, 0x0a, 0x00])))).toBe(true)
  expect(isUnreadable(textOfFile(Buffer.from([0xff, 0xfe, 0x41, 0x00, 0x42])))).toBe(true)
})

test('Ctrl-Z ends a file, and is part of no row', () => {
  const whole = (bytes: Uint8Array) => {
    const file = createFileText()
    return [...file.read(bytes), file.end()].join('')
  }
  for (const [written, read] of [
    ['a,b\r\n1,2\r\n\x1A', 'a,b\r\n1,2\r\n'],
    ['a,b\r\n1,2\x1A', 'a,b\r\n1,2'],
    ['\x1A', ''],
    ['a\x1A,b\n', 'a\x1A,b\n'],
  ] as const) {
    expect(whole(Buffer.from(written))).toBe(read)
    expect(textOfFile(Buffer.from(written))).toBe(read)
    expect(whole(Buffer.from(`\uFEFF${written}`, 'utf16le'))).toBe(read)
  }
})

test('a line that never ends is not held', () => {
  const file = createFileText()
  const read = () => {
    for (let part = 0; part < 10; part += 1)
      for (const _ of file.read(Buffer.alloc(64 * 1024, 'x'))) expect.unreachable()
  }
  expect(read).toThrow(LongLine)
})
