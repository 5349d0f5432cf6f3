import { UnknownValue } from '../../domain/basics/unknown-value.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { joinSql, type Sql, sql, sqlName } from '../connection/sql.ts'
import { parseTimestamptz } from '../connection/values.ts'

/**
 * A row as it was read, with the `seq` that grows with every write to it. A reservation's begins at random: a sender's id
 * can be used again once its reservation was removed, and the new row must not look like the old one. A quota's id never
 * comes again.
 */
export type Stored<Row> = Row & { seq: number }

type Cell = string | null | undefined

/** A column: the SQL that selects it, and the reader of its cell, which PostgreSQL wrote as text. */
export interface CellColumn<Value> {
  select(column: Sql): Sql
  read(cell: Cell): Value
}

/**
 * The select list of some columns, and the position of each in it. A reader of rows is a function of its own with one
 * `COLUMNS.name.read(cells[AT.name])` per field. It takes as long as positions written by hand, because V8 inlines it; a
 * loop over the columns takes twice as long, and a reader that is a new arrow function per result 5 to 9 % longer.
 */
export function selectListOf<Name extends string>(
  columns: Readonly<Record<Name, CellColumn<unknown>>>,
  table: Sql,
): { readonly list: Sql; readonly at: Readonly<Record<Name, number>> } {
  const entries = Object.entries<CellColumn<unknown>>(columns)
  return {
    list: joinSql(entries.map(([name, { select }]) => select(sql`${table}.${sqlName(name)}`))),
    at: Object.fromEntries(entries.map(([name], at) => [name, at])) as Record<Name, number>,
  }
}

const asIs = (column: Sql) => column
const joined = (column: Sql) => sql`array_to_string(${column}, ' ')`

export const number: CellColumn<number> = { select: asIs, read: cell => Number(present(cell)) }
export const numberOrNull: CellColumn<number | null> = {
  select: asIs,
  read: cell => (cell === null ? null : Number(present(cell))),
}
/** A hash of 63 bits, which does not fit a number. */
export const hash: CellColumn<bigint> = { select: asIs, read: cell => BigInt(present(cell)) }
export const hashes: CellColumn<readonly bigint[]> = {
  select: joined,
  read: cell => (cell === null || cell === '' ? NO_HASHES : present(cell).split(' ').map(BigInt)),
}
const NO_HASHES: readonly bigint[] = []
export const text: CellColumn<string> = { select: asIs, read: present }
export const textOrNull: CellColumn<string | null> = { select: asIs, read: cell => cell ?? null }
export const boolean: CellColumn<boolean> = { select: asIs, read: cell => cell === 't' }
export const timestamp: CellColumn<EpochMs> = {
  select: asIs,
  read: cell => parseTimestamptz(present(cell)),
}
export const timestampOrNull: CellColumn<EpochMs | null> = {
  select: asIs,
  read: cell => (cell === null ? null : parseTimestamptz(present(cell))),
}
/** Arrays of texts that hold no space. */
export const wordsOrNull: CellColumn<readonly string[] | null> = {
  select: joined,
  read: cell => (cell === null ? null : present(cell).split(' ')),
}
export const numbers: CellColumn<readonly number[]> = {
  select: joined,
  read: cell => (cell === '' ? NONE : present(cell).split(' ').map(Number)),
}
const NONE: readonly number[] = []

/**
 * A text that is one of a few. Reading any other throws `UnknownValue`: the batch fails for the user whose row it is.
 *
 * @param subject what has the value, for the error
 */
export function oneOf<Value extends string>(subject: string, values: readonly Value[]): CellColumn<Value> {
  const known = new Map<string, Value>(values.map(value => [value, value]))
  return {
    select: asIs,
    read(cell) {
      const value = known.get(present(cell))
      if (value === undefined) throw new UnknownValue(subject, cell)
      return value
    },
  }
}

export function oneOfOrNull<Value extends string>(subject: string, values: readonly Value[]): CellColumn<Value | null> {
  const { select, read } = oneOf(subject, values)
  return { select, read: cell => (cell === null ? null : read(cell)) }
}

/** A jsonb that holds values of this type only. */
export function json<Value extends object>(): CellColumn<Value> {
  return { select: asIs, read: cell => JSON.parse(present(cell)) }
}

export function jsonOrNull<Value extends object>(): CellColumn<Value | null> {
  const { select, read } = json<Value>()
  return { select, read: cell => (cell === null ? null : read(cell)) }
}

function present(cell: Cell): string {
  if (cell === null || cell === undefined) throw new TypeError('the ledger misses a value')
  return cell
}
