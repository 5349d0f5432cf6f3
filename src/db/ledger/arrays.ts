import { type EpochMs, formatTimestampOrNull } from '../../domain/time.ts'
import { type Sql, sql } from '../connection/sql.ts'

/**
 * A parameter that holds one value of each row: a column of the rows, bound as one array in PostgreSQL's text form. The
 * text is written in one pass over the rows, without an array of values between.
 */
export interface ArrayColumn<Row> {
  /** The SQL type of an element. */
  readonly type: Sql
  /** The type that SQL casts each element to once it is out of the array. */
  readonly elementType?: Sql
  write(rows: readonly Row[]): string
}

type Value<Row, V> = (row: Row) => V

export function bigints<Row>(of: Value<Row, number | null>): ArrayColumn<Row> {
  return { type: sql`bigint`, write: rows => joinNumbers(rows, of) }
}

export function ints<Row>(of: Value<Row, number | null>): ArrayColumn<Row> {
  return { type: sql`int`, write: rows => joinNumbers(rows, of) }
}

export function smallints<Row>(of: Value<Row, number>): ArrayColumn<Row> {
  return { type: sql`smallint`, write: rows => joinNumbers(rows, of) }
}

/** For texts of any characters but the zero byte. */
export function texts<Row>(of: Value<Row, string | null>): ArrayColumn<Row> {
  return { type: sql`text`, write: rows => joinTexts(rows, of) }
}

export function booleans<Row>(of: Value<Row, boolean>): ArrayColumn<Row> {
  return { type: sql`boolean`, write: rows => joinTexts(rows, row => String(of(row))) }
}

export function timestamps<Row>(of: Value<Row, EpochMs | null>): ArrayColumn<Row> {
  return { type: sql`timestamptz`, write: rows => joinTexts(rows, row => formatTimestampOrNull(of(row))) }
}

/** Objects, as text that the statement casts to jsonb. */
export function jsons<Row>(of: Value<Row, object>): ArrayColumn<Row> {
  return { type: sql`text`, write: rows => joinTexts(rows, row => JSON.stringify(of(row))) }
}

/** An array of numbers per row. They travel as text: PostgreSQL's arrays of arrays must all be of one length. */
export function bigintLists<Row>(of: Value<Row, string>): ArrayColumn<Row> {
  return { type: sql`text`, elementType: sql`bigint[]`, write: rows => joinTexts(rows, of) }
}

/** Numbers as the text of an array. */
export function numberArray(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`
}

/** @throws TypeError at a value of another type: the text `1,2` would be two elements, and shift those of other rows */
function joinNumbers<Row>(rows: readonly Row[], of: Value<Row, number | null>): string {
  let list = ''
  for (const row of rows) {
    const value = of(row) ?? null
    if (typeof value !== 'number' && value !== null) throw new TypeError(`a ${typeof value} stands where a number must`)
    list += `${list === '' ? '' : ','}${value ?? 'null'}`
  }
  return `{${list}}`
}

function joinTexts<Row>(rows: readonly Row[], of: Value<Row, string | null>): string {
  let list = ''
  for (const row of rows) {
    const value = of(row)
    list += `${list === '' ? '' : ','}${value === null ? 'null' : `"${escaped(value)}"`}`
  }
  return `{${list}}`
}

/** Hardly any text has these characters: to look first costs a row of the ledger 40 ns. */
function escaped(text: string): string {
  return text.includes('"') || text.includes('\\') ? text.replace(/[\\"]/g, '\\$&') : text
}
