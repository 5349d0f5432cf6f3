import { type FieldSchema, isLost, isPlainText, readCell } from '../basics/csv.ts'
import type { CsvRow } from '../basics/csv-rows.ts'
import { isUnreadable } from '../basics/file-text.ts'
import { namedValues } from '../basics/named-values.ts'
import {
  QUOTA_SETTINGS,
  type QuotaIdentity,
  SETTING_NAMES,
  type SettingName,
  type ValueType,
} from './quota-settings.ts'

/** A file of quotas: what its columns are, and the values of its rows. What is accepted, the service says. */

const TEXT: FieldSchema = { type: 'string' }
const WORD: FieldSchema = { type: 'string', format: 'word' }
const INTEGER: FieldSchema = { type: 'integer' }
const BOOLEAN: FieldSchema = { type: 'boolean' }
const orNull = (schema: FieldSchema): FieldSchema => ({ anyOf: [schema, { type: 'null' }] })
const listOf = (items: FieldSchema): FieldSchema => ({ type: 'array', items })

const BY_TYPE: Record<ValueType, FieldSchema> = {
  text: TEXT,
  number: INTEGER,
  boolean: BOOLEAN,
  time: { type: 'string', format: 'time' },
  texts: listOf(TEXT),
  numbers: listOf(INTEGER),
  map: { type: 'object' },
}

const SETTINGS = namedValues<Record<SettingName, FieldSchema>>(SETTING_NAMES, name => {
  const { type, nullable } = QUOTA_SETTINGS[name]
  return nullable ? orNull(BY_TYPE[type]) : BY_TYPE[type]
})

/** How the cells of each column are read that an import sets. */
const COLUMNS = {
  id: INTEGER,
  user_id: INTEGER,
  user_ref: orNull(TEXT),
  kind: WORD,
  period: orNull(WORD),
  anchor: orNull(WORD),
  time_zone: WORD,
  per: orNull(WORD),
  counts: WORD,
  ...SETTINGS,
  opening_used: INTEGER,
  allow_below_usage: BOOLEAN,
  // The id of a plan, its name, or what an export has.
  plan: orNull({ type: 'object' }),
} satisfies Record<keyof QuotaIdentity | SettingName, FieldSchema> & Record<string, FieldSchema>
export type ColumnName = keyof typeof COLUMNS

/** What an export has, and an import does not set. */
export const EXPORTED_ONLY = [
  'user_name',
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
  'created_by',
  'updated_at',
  'updated_by',
] as const

/** The columns that an import sets. */
export const QUOTA_COLUMNS: readonly string[] = Object.keys(COLUMNS)

const isColumn = (name: string): name is ColumnName => Object.hasOwn(COLUMNS, name)
const isExportedOnly = (name: string) => EXPORTED_ONLY.some(known => known === name)

/** The value of a cell of an export. Null says something in a column that an import sets; in another, the cell is empty. */
export const exportedValue = (column: string, value: unknown): unknown =>
  value === null && isExportedOnly(column) ? undefined : value

/** The names of columns: case and blanks around them do not count. */
export function columnNames({ cells }: CsvRow): string[] {
  return cells.map(cell => cell.trim().toLowerCase())
}

/** A name that two columns have. */
export function nameTwice(names: readonly string[]): string | undefined {
  return names.find((name, index) => name !== '' && names.indexOf(name) < index)
}

/** Names that no column of quotas has. */
export function unknownNames(names: readonly string[]): string[] {
  return names.filter(name => name !== '' && !isColumn(name) && !isExportedOnly(name))
}

/** Whether a row gives its user a plan, by an id or a name. An export has an object in that place. */
export function givesPlan<Row extends { plan?: unknown }>(row: Row): row is Row & { plan: number | string } {
  return typeof row.plan === 'number' || typeof row.plan === 'string'
}

/** A fault of a row, apart from its values. */
export type RowFault =
  | { reason: 'too_many_cells'; cells: number; columns: number }
  | { reason: 'nameless_column'; column: number }
  | { reason: 'unreadable'; column: string }
  | { reason: 'lost'; column: string; text: string }

/** What is wrong with the cells of a row: those that spreadsheets add at the end of rows are empty. */
export function cellsFault(names: readonly string[], cells: readonly string[]): RowFault | null {
  const last = cells.findLastIndex(cell => cell.trim() !== '')
  if (last >= names.length) return { reason: 'too_many_cells', cells: last + 1, columns: names.length }
  const nameless = cells.findIndex((cell, index) => names[index] === '' && cell.trim() !== '')
  return nameless === -1 ? null : { reason: 'nameless_column', column: nameless + 1 }
}

/** The values of a row of quotas. An empty cell leaves the field out, and one of blanks if the field is no text. */
export function readQuotaRow(
  names: readonly string[],
  cells: readonly string[],
): { value: Readonly<Record<string, unknown>> } | { fault: RowFault } {
  const fault = cellsFault(names, cells)
  if (fault !== null) return { fault }
  const value: Record<string, unknown> = {}
  for (const [index, name] of names.entries()) {
    const text = cells[index] ?? ''
    if (!isColumn(name) || text === '') continue
    if (isUnreadable(text)) return { fault: { reason: 'unreadable', column: name } }
    const isText = isPlainText(COLUMNS[name])
    if (!isText && text.trim() === '') continue
    if (isText && isLost(text)) return { fault: { reason: 'lost', column: name, text } }
    // The service takes no reference with blanks around it, and blanks beside separators are none of it.
    value[name] = readCell(COLUMNS[name], name === 'external_ref' ? text.trim() : text)
  }
  return { value }
}
