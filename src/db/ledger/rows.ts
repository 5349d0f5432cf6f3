import type { EpochMs } from '../../domain/time.ts'
import type { StatementResult } from '../pipelined-connection.ts'
import { parseTimestamptz } from '../values.ts'
import { sqlName } from './statement.ts'

/** A row as it was read, with the `seq` that grows with every write to it. */
export type Stored<Row> = Row & { seq: number }

/** The values of a row as PostgreSQL wrote them, in the order of the select list. */
type Cells = StatementResult['rows'][number]

/** How a column is selected, and how its cell is read. */
export interface CellColumn<Value> {
  select(column: string): string
  /**
   * Makes the reader of the cell at a position. Each kind has a function of its own here, which V8 inlines: one shared
   * loop over names and readers takes twice as long for a quota's 25 cells.
   */
  reader(at: number): (cells: Cells) => Value
}

type Readers<Columns> = {
  readonly [Name in keyof Columns]: Columns[Name] extends CellColumn<infer Value> ? (cells: Cells) => Value : never
}

/** The select list of some columns, and a reader for each, which knows the column's position in the list. */
export function selectionOf<Columns extends Readonly<Record<string, CellColumn<unknown>>>>(
  columns: Columns,
  table?: string,
): { readonly list: string; readonly read: Readers<Columns> } {
  const entries = Object.entries(columns)
  const prefix = table === undefined ? '' : `${table}.`
  return {
    list: entries.map(([name, { select }]) => select(`${prefix}${sqlName(name)}`)).join(', '),
    read: Object.fromEntries(entries.map(([name, { reader }], at) => [name, reader(at)])) as Readers<Columns>,
  }
}

const asIs = (column: string) => column
const joined = (column: string) => `array_to_string(${column}, ' ')`

export const number: CellColumn<number> = { select: asIs, reader: at => cells => Number(present(cells[at])) }
export const numberOrNull: CellColumn<number | null> = {
  select: asIs,
  reader: at => cells => (cells[at] === null ? null : Number(present(cells[at]))),
}
export const text: CellColumn<string> = { select: asIs, reader: at => cells => present(cells[at]) }
export const textOrNull: CellColumn<string | null> = { select: asIs, reader: at => cells => cells[at] ?? null }
export const boolean: CellColumn<boolean> = { select: asIs, reader: at => cells => cells[at] === 't' }
export const timestamp: CellColumn<EpochMs> = {
  select: asIs,
  reader: at => cells => parseTimestamptz(present(cells[at])),
}
export const timestampOrNull: CellColumn<EpochMs | null> = {
  select: asIs,
  reader: at => cells => (cells[at] === null ? null : parseTimestamptz(present(cells[at]))),
}
/** Arrays of texts that hold no space. */
export const wordsOrNull: CellColumn<readonly string[] | null> = {
  select: joined,
  reader: at => cells => (cells[at] === null ? null : present(cells[at]).split(' ')),
}
export const numbers: CellColumn<readonly number[]> = {
  select: joined,
  reader: at => cells => (cells[at] === '' ? NONE : present(cells[at]).split(' ').map(Number)),
}
const NONE: readonly number[] = []

/** A text that is one of a few, as the table's CHECK constraint says. */
export function oneOf<Value extends string | null>(): CellColumn<Value> {
  return { select: asIs, reader: at => cells => (cells[at] ?? null) as Value }
}

/** A jsonb that holds values of this type only. */
export function json<Value extends object>(): CellColumn<Value> {
  return { select: asIs, reader: at => cells => JSON.parse(present(cells[at])) }
}

function present(cell: string | null | undefined): string {
  if (cell === null || cell === undefined) throw new TypeError('the ledger misses a value')
  return cell
}
