import { expect, test } from 'vitest'
import {
  columns,
  cut,
  neededColumns,
  pad,
  recordOf,
  tableOf,
  USER,
  widthOf,
  withNone,
} from '../../src/cli/remote/tables.ts'
import { safe, safeJson, safeLines } from '../../src/cli/safe.ts'

const PIPE = { columns: null, hasColors: false, timeZone: 'Europe/Berlin' }

test.each([
  ['', 0],
  ['abc', 3],
  ['Grüße', 5],
  ['e\u0301', 1],
  ['東京', 4],
  ['한글', 4],
  ['👩‍👩‍👧', 2],
  ['🇩🇪!', 3],
])('%j is %d columns wide', (text, width) => {
  expect(widthOf(text)).toBe(width)
  expect(widthOf(pad(text, 9, false))).toBe(9)
  expect(pad(text, 9, true).endsWith(text)).toBe(true)
})

test.each([
  ['Monthly', 7, 'Monthly'],
  ['Monthly', 6, 'Month…'],
  ['東京都', 5, '東京…'],
  ['東京都', 4, '東…'],
  ['abc', 1, '…'],
  ['abc', 0, ''],
])('%j cut to %d columns is %j', (text, width, expected) => {
  expect(cut(text, width)).toBe(expected)
  expect(widthOf(cut(text, width))).toBeLessThanOrEqual(width)
})

test('names that every object has are shown like any other, also with colors', () => {
  const rows = ['constructor', '__proto__', 'toString'].map(name => ({ name }))
  const table = tableOf(rows, columns<(typeof rows)[0]>('name'), { ...PIPE, hasColors: true })
  expect(table).toBe('\u001b[1mname\u001b[22m\nconstructor\n__proto__\ntoString\n')
})

test('text cannot steer the terminal', () => {
  expect(safe('a\u001b[31mb\rc\nd\u0085e\u202ef\u2066g')).toBe('a�[31mb�c�d�e�f�g')
  const json = safeJson(JSON.stringify({ a: 'x\u009b31m\u202e\u001b"\\' }))
  expect(json).toBe('{"a":"x\\u009b31m\\u202e\\u001b\\"\\\\"}')
  expect(JSON.parse(json)).toEqual({ a: 'x\u009b31m\u202e\u001b"\\' })
  const row = { name: 'x\u001b]0;title\u0007\ny' }
  expect(tableOf([row], columns<typeof row>('name'), PIPE)).toBe('name\nx�]0;title��y\n')
  expect(recordOf({ metadata: { 'a\nb': '\u001b[2J' } }, PIPE)).toBe('metadata.a�b  �[2J\n')
  expect(safeLines('a\u001b[31m\nb\rc')).toBe('a�[31m\nb�c')
  const keys = recordOf({ 'a\u001b': 1, 'b\u009b': [{ 'c\u0007': '\u061c' }] }, PIPE)
  expect(keys).toBe('a�    1\n\nb�:\nc�\n�\n')
})

interface Row {
  id: number
  name: string | null
  left: number | null
  at: string | null
}
const ROWS: Row[] = [
  { id: 7, name: 'a long name, longer than the others', left: null, at: '2026-03-29T00:59:59.000Z' },
  { id: 12, name: null, left: 3, at: '2026-03-29T01:00:00.000Z' },
]
const COLUMNS = columns<Row>('id', 'name', withNone('left', 'no end'), 'at')

test('numbers are aligned on the right, null is shown as the column says', () => {
  expect(tableOf(ROWS, COLUMNS, PIPE)).toBe(`\
id  name                                   left  at
 7  a long name, longer than the others  no end  2026-03-29T00:59:59.000Z
12  -                                         3  2026-03-29T01:00:00.000Z
`)
})

test('users are named if a row has a name, and from then on', () => {
  const all = columns<{ user_id: number; user_ref?: string | null; user_name?: string | null }>('user_id', USER)
  const nameless = [{ user_id: 7 }, { user_id: 8, user_ref: null, user_name: null }]
  expect(neededColumns(all, nameless)).toEqual(all.slice(0, 1))
  expect(neededColumns(all, nameless, all)).toEqual(all)
  const named = [...nameless, { user_id: 9, user_ref: 'r-9' }, { user_id: 10, user_ref: 'r-10', user_name: 'Ten' }]
  expect(tableOf(named, neededColumns(all, named), PIPE)).toBe(`\
user_id  user
      7  -
      8  -
      9  r-9
     10  Ten
`)
})

test('a terminal has local times, and text gives way before the line is cut', () => {
  expect(tableOf(ROWS, COLUMNS, { ...PIPE, columns: 60 })).toBe(`\
id  name                           left  at
 7  a long name, longer than t…  no end  2026-03-29 01:59:59
12  -                                 3  2026-03-29 03:00:00
`)
  expect(tableOf(ROWS, COLUMNS, { ...PIPE, columns: 40 })).toBe(`\
id  name                        left  at
 7  a long name, longer tha…  no end  2…
12  -                              3  2…
`)
})
