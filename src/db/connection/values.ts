/** Converts PostgreSQL's values: this is the only place where counts and timestamps become numbers. */
import pg from 'pg'
import type { EpochMs } from '../../domain/time/time.ts'

/** Parsers by the OID of a type, for types that `pg` parses to a text or a Date and the service needs as numbers. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [20, parseInt8],
  [1016, text => elementsOf(text).map(element => (element === 'NULL' ? null : parseInt8(element)))],
  [1184, parseTimestamptz],
])

/** For the `types` of a pool: it leaves `pg`'s global parsers as they are. */
export const getTypeParser: typeof pg.types.getTypeParser = (type, format) =>
  (format === 'binary' ? undefined : PARSERS.get(type)) ?? pg.types.getTypeParser(type, format)

/** The elements of an array of numbers. */
const elementsOf = (text: string) => (text === '{}' ? [] : text.slice(1, -1).split(','))

function parseInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`the database holds ${text}, which is not a safe integer`)
  return value
}

/**
 * Parses a timestamp as PostgreSQL writes it in UTC, `2026-02-28 23:59:59.123456+00`, and cuts it to the millisecond. By
 * hand, because a quota's row has up to eight timestamps and Date.parse takes two to four times as long.
 */
export function parseTimestamptz(text: string): EpochMs {
  const zone = text.length - 3
  const year = digits(text, 0, 4)
  const plain = text.charCodeAt(4) === MINUS && year >= 100 && text.charCodeAt(zone) === PLUS
  if (!plain || zone < 19 || zone > 26 || digits(text, zone + 1, 2) !== 0) return parseUncommon(text)
  const fraction = zone > 20 ? digits(text, 20, Math.min(3, zone - 20)) * (FRACTION_SCALE[zone - 20] ?? 1) : 0
  const month = digits(text, 5, 2) - 1
  const [hour, minute, second] = [digits(text, 11, 2), digits(text, 14, 2), digits(text, 17, 2)]
  return Date.UTC(year, month, digits(text, 8, 2), hour, minute, second, fraction)
}

const MINUS = 45
const PLUS = 43
const FRACTION_SCALE = [0, 100, 10]

function digits(text: string, from: number, count: number): number {
  let value = 0
  for (let i = from; i < from + count; i++) value = value * 10 + text.charCodeAt(i) - 48
  return value
}

/** Infinity, and years of other than four digits or before 100. */
function parseUncommon(text: string): EpochMs {
  if (text === 'infinity') return Number.POSITIVE_INFINITY
  if (text === '-infinity') return Number.NEGATIVE_INFINITY
  const [, years, rest, fraction = '', era] = /^(\d+)(-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d+)?\+00( BC)?$/.exec(text) ?? []
  const year = era === undefined ? Number(years) : 1 - Number(years)
  const sign = year < 0 ? '-' : '+'
  const iso = `${sign}${String(Math.abs(year)).padStart(6, '0')}${rest?.replace(' ', 'T')}${fraction.slice(0, 4)}Z`
  // Year 0 is 1 BC and is written +000000: Date.parse rejects -000000.
  const at = Date.parse(iso)
  if (Number.isNaN(at)) throw new RangeError(`the database answered a timestamp that is not ISO in UTC: ${text}`)
  return at
}

/** A timestamp as a parameter of type timestamptz. */
export function timestampParam(at: EpochMs): string
export function timestampParam(at: EpochMs | null): string | null
export function timestampParam(at: EpochMs | null): string | null {
  if (at === null) return null
  if (at === Number.POSITIVE_INFINITY) return 'infinity'
  if (at === Number.NEGATIVE_INFINITY) return '-infinity'
  const iso = new Date(at).toISOString()
  const year = new Date(at).getUTCFullYear()
  if (year >= 1 && year <= 9999) return iso
  // PostgreSQL writes years before 1 AD with BC instead of a sign.
  const rest = iso.slice(iso.indexOf('-', 1))
  return year > 9999 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`
}
