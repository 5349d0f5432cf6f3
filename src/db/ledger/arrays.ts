import type { EpochMs } from '../../domain/time/time.ts'
import { type Sql, sql } from '../connection/sql.ts'

/**
 * A parameter that holds one value of each row: a column of the rows, bound as one array. Numbers, times and truth values travel in
 * PostgreSQL's binary form, which costs both sides less than text; texts travel as text. Either is written in one pass over the rows,
 * without an array of values between.
 */
export interface ArrayColumn<Row> {
  /** The SQL type of an element. */
  readonly type: Sql
  /** The type that SQL casts each element to once it is out of the array. */
  readonly elementType?: Sql
  /** The value of rows for which no element is sent, as SQL over the columns of `k`. */
  readonly usual?: Sql
  write(rows: readonly Row[]): string | Buffer
}

type Value<Row, V> = (row: Row) => V

/**
 * A column that has the same value in nearly all rows. A batch in which all have it sends an empty array: PostgreSQL fills up the shorter
 * ones of several with nulls, of which the statement makes the value.
 */
export function usually<Row>(usual: Sql, isUsual: (row: Row) => boolean, column: ArrayColumn<Row>): ArrayColumn<Row> {
  return { ...column, usual, write: rows => (rows.every(isUsual) ? '{}' : column.write(rows)) }
}

/** The same for a column that is null in nearly all rows. */
export function usuallyNull<Row, V>(
  columnOf: <R>(of: Value<R, V | null>) => ArrayColumn<R>,
  of: Value<Row, V | null>,
): ArrayColumn<Row> {
  const column = columnOf(of)
  return { ...column, write: rows => (rows.every(row => of(row) === null) ? '{}' : column.write(rows)) }
}

/** A count, as a bigint. */
export function usuallyZero<Row>(of: Value<Row, number>): ArrayColumn<Row> {
  return usually(sql`0`, row => of(row) === 0, bigints(of))
}

export function usuallyFalse<Row>(of: Value<Row, boolean>): ArrayColumn<Row> {
  return usually(sql`false`, row => !of(row), booleans(of))
}

export function bigints<Row>(of: Value<Row, number | null>): ArrayColumn<Row> {
  return { type: sql`bigint`, write: rows => binary(rows, BIGINT, of) }
}

/** Hashes of 63 bits, which do not fit a number. */
export function hashes<Row>(of: Value<Row, bigint>): ArrayColumn<Row> {
  return { type: sql`bigint`, write: rows => binary(rows, HASH, of) }
}

export function ints<Row>(of: Value<Row, number | null>): ArrayColumn<Row> {
  return { type: sql`int`, write: rows => binary(rows, INT, of) }
}

export function smallints<Row>(of: Value<Row, number>): ArrayColumn<Row> {
  return { type: sql`smallint`, write: rows => binary(rows, SMALLINT, of) }
}

/** For texts of any characters but the zero byte. */
export function texts<Row>(of: Value<Row, string | null>): ArrayColumn<Row> {
  return { type: sql`text`, write: rows => joinTexts(rows, of) }
}

export function booleans<Row>(of: Value<Row, boolean>): ArrayColumn<Row> {
  return { type: sql`boolean`, write: rows => binary(rows, BOOLEAN, of) }
}

export function timestamps<Row>(of: Value<Row, EpochMs | null>): ArrayColumn<Row> {
  return { type: sql`timestamptz`, write: rows => binary(rows, TIMESTAMPTZ, of) }
}

/** Objects, as text that the statement casts to jsonb. */
export function jsons<Row>(of: Value<Row, object>): ArrayColumn<Row> {
  return { type: sql`text`, write: rows => joinTexts(rows, row => JSON.stringify(of(row))) }
}

/** An array of numbers per row. They travel as text: PostgreSQL's arrays of arrays must all be of one length. */
export function bigintLists<Row>(of: Value<Row, string | null>): ArrayColumn<Row> {
  return { type: sql`text`, elementType: sql`bigint[]`, write: rows => joinTexts(rows, of) }
}

/** Numbers as the text of an array. */
export function numberArray(numbers: readonly (number | bigint)[]): string {
  return `{${numbers.join(',')}}`
}

/** An element type in PostgreSQL's binary form. */
interface BinaryType<V> {
  /** The number of the type in PostgreSQL. */
  readonly oid: number
  readonly bytes: number
  /** Throws if the value is not of the type, or out of its range. */
  write(to: Buffer, at: number, value: V): void
}

const SMALLINT: BinaryType<number> = {
  oid: 21,
  bytes: 2,
  write: (to, at, value) => to.writeInt16BE(integer(value), at),
}
const INT: BinaryType<number> = { oid: 23, bytes: 4, write: (to, at, value) => to.writeInt32BE(integer(value), at) }
const BIGINT: BinaryType<number> = { oid: 20, bytes: 8, write: (to, at, value) => writeInt64(to, at, integer(value)) }
const HASH: BinaryType<bigint> = { oid: 20, bytes: 8, write: (to, at, value) => void to.writeBigInt64BE(value, at) }
const BOOLEAN: BinaryType<boolean> = { oid: 16, bytes: 1, write: (to, at, value) => to.writeUInt8(value ? 1 : 0, at) }
const TIMESTAMPTZ: BinaryType<EpochMs> = { oid: 1184, bytes: 8, write: writeTimestamp }

/** The dimensions, whether there are nulls, the type; the number of elements, the first one's index. */
const HEADER_BYTES = 20

/** An array as `array_recv` of PostgreSQL reads it: each element behind its length, which is -1 for a null. */
function binary<Row, V>(rows: readonly Row[], { oid, bytes, write }: BinaryType<V>, of: Value<Row, V | null>): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + rows.length * (4 + bytes))
  let hasNulls = 0
  let at = HEADER_BYTES
  for (const row of rows) {
    const value = of(row) ?? null
    if (value === null) {
      hasNulls = 1
      at = buffer.writeInt32BE(-1, at)
    } else {
      at = buffer.writeInt32BE(bytes, at)
      write(buffer, at, value)
      at += bytes
    }
  }
  buffer.writeInt32BE(rows.length === 0 ? 0 : 1, 0)
  buffer.writeInt32BE(hasNulls, 4)
  buffer.writeInt32BE(oid, 8)
  if (rows.length === 0) return buffer.subarray(0, 12)
  buffer.writeInt32BE(rows.length, 12)
  buffer.writeInt32BE(1, 16)
  return buffer.subarray(0, at)
}

/** Anything but a whole number would be written as another number. */
function integer(value: number): number {
  if (!Number.isSafeInteger(value)) throw new TypeError(`a ${typeof value} stands where a number must: ${value}`)
  return value
}

const TWO_32 = 2 ** 32

function writeInt64(to: Buffer, at: number, value: number): void {
  const high = Math.floor(value / TWO_32)
  to.writeInt32BE(high, at)
  to.writeUInt32BE(value - high * TWO_32, at + 4)
}

/** PostgreSQL counts microseconds from the year 2000, and has the ends of the range for the infinities. */
const YEAR_2000 = Date.UTC(2000, 0, 1)
const INFINITIES = new Map([
  [Number.POSITIVE_INFINITY, 2n ** 63n - 1n],
  [Number.NEGATIVE_INFINITY, -(2n ** 63n)],
])

function writeTimestamp(to: Buffer, at: number, time: EpochMs): void {
  const micros = (time - YEAR_2000) * 1_000
  if (Number.isSafeInteger(micros)) writeInt64(to, at, micros)
  else to.writeBigInt64BE(INFINITIES.get(time) ?? BigInt(integer(time) - YEAR_2000) * 1_000n, at)
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
