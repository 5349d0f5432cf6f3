import type { ImportRow } from '../../../src/contract/import.ts'
import { type FieldSchema, readCell } from '../../../src/domain/csv.ts'
import type { CsvRow } from '../../../src/domain/csv-rows.ts'
import { namedValues } from '../../../src/domain/named-values.ts'
import { QUOTA_SETTINGS, SETTING_NAMES, type SettingName, type ValueType } from '../../../src/domain/quota-settings.ts'
import { type BadLine, readUsers, type UserLine } from '../../../src/domain/user-file.ts'
import type { Api } from '../api/types.ts'

/** The rows of a file: quotas, or users who get more units. */

const TEXT: FieldSchema = { type: 'string' }
const INTEGER: FieldSchema = { type: 'integer' }
const BOOLEAN: FieldSchema = { type: 'boolean' }
const OBJECT: FieldSchema = { type: 'object' }
const orNull = (schema: FieldSchema): FieldSchema => ({ anyOf: [schema, { type: 'null' }] })
const listOf = (items: FieldSchema): FieldSchema => ({ type: 'array', items })

const BY_TYPE: Record<ValueType, FieldSchema> = {
  text: TEXT,
  number: INTEGER,
  boolean: BOOLEAN,
  time: TEXT,
  texts: listOf(TEXT),
  numbers: listOf(INTEGER),
  map: OBJECT,
}

const SETTINGS = namedValues<Record<SettingName, FieldSchema>>(SETTING_NAMES, name => {
  const { type, nullable } = QUOTA_SETTINGS[name]
  return nullable ? orNull(BY_TYPE[type]) : BY_TYPE[type]
})

/** How the cells of each column are read. What is accepted, the service says. */
const COLUMNS: Record<keyof ImportRow, FieldSchema> = {
  user_id: INTEGER,
  kind: TEXT,
  period: orNull(TEXT),
  time_zone: TEXT,
  ...SETTINGS,
  external_ref: TEXT,
  opening_used: INTEGER,
  allow_below_usage: BOOLEAN,
}
const isColumn = (name: string): name is keyof ImportRow => Object.hasOwn(COLUMNS, name)

/** Columns that an export has and an import does not set. */
const READ_ONLY: ReadonlySet<string> = new Set<Exclude<keyof Api['SmsQuota'], keyof ImportRow>>([
  'id',
  'used',
  'reserved',
  'rolled_over',
  'remaining',
  'overage',
  'window_start',
  'window_end',
  'status',
  'version',
  'created_at',
  'updated_at',
  'created_by',
  'updated_by',
])

/** Why a file means nothing. */
export type FileProblem =
  | { reason: 'noRows' | 'neededColumns' }
  | { reason: 'twice'; name: string }
  | { reason: 'unknownColumns'; unknown: readonly string[]; known: readonly string[] }

/** A line with more cells than there are columns. */
export interface LongLine {
  line: number
  cells: number
  columns: number
}

/** What a file asks for. */
export type FileContent =
  | { about: 'quotas'; lines: readonly { line: number; json: string }[]; failures: readonly LongLine[] }
  | { about: 'users'; users: readonly UserLine[]; failures: readonly BadLine[] }
  | { about: 'nothing'; problem: FileProblem }

const NEEDED = ['user_id', 'external_ref', 'limit']

/** Finds out what a file is about by its columns, and reads its rows. */
export function readRows(rows: readonly CsvRow[]): FileContent {
  const [first, ...rest] = rows
  if (first === undefined) return { about: 'nothing', problem: { reason: 'noRows' } }
  const names = first.cells.map(cell => cell.trim())
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) < index)
  if (twice !== undefined) return { about: 'nothing', problem: { reason: 'twice', name: twice } }
  if (NEEDED.every(name => names.includes(name))) return quotaRows(names, rest)
  const read = readUsers(rows)
  if (read === null) return { about: 'nothing', problem: { reason: 'neededColumns' } }
  const { users, bad } = read
  const isEmpty = users.length === 0 && bad.length === 0
  return isEmpty ? { about: 'nothing', problem: { reason: 'noRows' } } : { about: 'users', users, failures: bad }
}

function quotaRows(names: readonly string[], rows: readonly CsvRow[]): FileContent {
  const unknown = names.filter(name => name !== '' && !isColumn(name) && !READ_ONLY.has(name))
  if (unknown.length > 0)
    return {
      about: 'nothing',
      problem: { reason: 'unknownColumns', unknown, known: Object.keys(COLUMNS) },
    }
  if (rows.length === 0) return { about: 'nothing', problem: { reason: 'noRows' } }
  const failures: LongLine[] = []
  const lines: { line: number; json: string }[] = []
  for (const { line, cells } of rows) {
    if (cells.length > names.length) failures.push({ line, cells: cells.length, columns: names.length })
    else lines.push({ line, json: jsonOf(names, cells) })
  }
  return { about: 'quotas', lines, failures }
}

/** An empty cell leaves the field out. */
function jsonOf(names: readonly string[], cells: readonly string[]): string {
  const row: Record<string, unknown> = {}
  for (const [index, name] of names.entries()) {
    const text = cells[index] ?? ''
    if (text !== '' && isColumn(name)) row[name] = readCell(COLUMNS[name], text)
  }
  return JSON.stringify(row)
}
