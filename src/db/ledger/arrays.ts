import { type EpochMs, formatTimestampOrNull } from '../../domain/time.ts'
import { type Sql, sql } from '../sql.ts'

/**
 * A parameter that holds one value of each row: a column of the rows, bound as one array in PostgreSQL's text form. The
 * text is written in one pass over the rows, without an array of values between.
 */
export interface ArrayColumn<Row> {
  /** The SQL type of an element. */
  readonly type: Sql
  /** What SQL casts each element to once it is out of the array. */
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

/** For texts without quotes and backslashes, which are not escaped: the API accepts neither in ids, countries and types. */
export function texts<Row>(of: Value<Row, string | null>): ArrayColumn<Row> {
  return { type: sql`text`, write: rows => joinTexts(rows, of) }
}

/** For texts of any characters but the zero byte. */
export function anyTexts<Row>(of: Value<Row, string>): ArrayColumn<Row> {
  return { type: sql`text`, write: rows => joinTexts(rows, row => of(row).replace(/[\\"]/g, '\\$&')) }
}

export function booleans<Row>(of: Value<Row, boolean>): ArrayColumn<Row> {
  return { type: sql`boolean`, write: rows => joinTexts(rows, row => String(of(row))) }
}

export function timestamps<Row>(of: Value<Row, EpochMs | null>): ArrayColumn<Row> {
  return { type: sql`timestamptz`, write: rows => joinTexts(rows, row => formatTimestampOrNull(of(row))) }
}

/** Objects, as text that the statement casts to jsonb. */
export function jsons<Row>(of: Value<Row, object>): ArrayColumn<Row> {
  return { type: sql`text`, write: rows => joinTexts(rows, row => JSON.stringify(of(row)).replace(/[\\"]/g, '\\$&')) }
}

/** An array of numbers per row. They travel as text: PostgreSQL's arrays of arrays must all be of one length. */
export function bigintLists<Row>(of: Value<Row, string>): ArrayColumn<Row> {
  return { type: sql`text`, elementType: sql`bigint[]`, write: rows => joinTexts(rows, of) }
}

/** Numbers as the text of an array. */
export function numberArray(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`
}

function joinNumbers<Row>(rows: readonly Row[], of: Value<Row, number | null>): string {
  let list = ''
  for (const row of rows) list += `${list === '' ? '' : ','}${of(row) ?? 'null'}`
  return `{${list}}`
}

function joinTexts<Row>(rows: readonly Row[], of: Value<Row, string | null>): string {
  let list = ''
  for (const row of rows) {
    const value = of(row)
    list += `${list === '' ? '' : ','}${value === null ? 'null' : `"${value}"`}`
  }
  return `{${list}}`
}
