/** Reads prices from a file, as providers and spreadsheets write them: the lines of a rate card. */
import { PATTERNS } from '../../../contract/patterns.ts'
import { SetLinesQuery } from '../../../contract/rate-cards.ts'
import { MAX_RATE, MAX_RATE_LINES } from '../../../domain/basics/bounds.ts'
import { readCell } from '../../../domain/basics/csv.ts'
import type { CsvRow } from '../../../domain/basics/csv-rows.ts'
import { createRowFaults } from '../../../domain/basics/row-faults.ts'
import { isCountry } from '../../../domain/messages/country.ts'
import { columnNames } from '../../../domain/quotas/quota-file.ts'
import { keyOfLine, nameOfLine, ONE_A_SEGMENT, type RateLine } from '../../../domain/rates/rate-line.ts'
import { UsageError } from '../../arguments.ts'
import { safe } from '../../safe.ts'
import { placesIn } from '../columns.ts'
import { unitsIn } from '../decimals.ts'
import { fieldsOf } from '../fields.ts'

/** The columns, by the options that name them, and their names unless they are named. */
export const COLUMNS = {
  prefix: 'prefix',
  country: 'country',
  type: 'message_type',
  price: 'per_segment',
  'per-message': 'per_message',
} as const
export type Column = keyof typeof COLUMNS

export interface PriceFormat {
  /** The names of columns that are not the usual ones. */
  named: Partial<Record<Column, string>>
  scale: number
  /** What all other destinations cost, if the file does not say it. */
  rest: number | undefined
}

/** A line of a card, and where in the file it stands; undefined for the one of `rest`. */
export interface PriceLine {
  line: RateLine
  at: number | undefined
}

/** From when on the prices hold. */
export const FROM = fieldsOf([SetLinesQuery])
  .filter(({ option }) => option === 'valid-from')
  .map(field => ({ ...field, option: 'from' }))

class BadCell extends Error {
  readonly column: Column

  constructor(column: Column, message: string) {
    super(message)
    this.column = column
  }
}

/** Faults that are shown, by kind. */
const MAX_KINDS = 10

/** @throws UsageError with all that is wrong */
export function readPrices(rows: readonly CsvRow[], { named, scale, rest }: PriceFormat): PriceLine[] {
  const [header = { line: 1, cells: [] }, ...others] = rows
  const places = placesIn<Column>(header, 'FILE', COLUMNS, named, ['price'])
  if (places.prefix === undefined && places.country === undefined)
    throw new UsageError(
      `FILE needs a column of destinations: --prefix or --country names one of ${columnNames(header).join(', ')}`,
    )
  const faults = createRowFaults()
  const lines = new Map<string, PriceLine>()
  let isBad = false
  for (const { line: at, cells } of others) {
    const cell = (column: Column) => {
      const place = places[column]
      return place === undefined ? '' : String(readCell({ type: 'string', format: 'word' }, cells[place] ?? ''))
    }
    try {
      for (const line of linesOfRow(cell, scale)) {
        const earlier = lines.get(keyOfLine(line))
        if (earlier !== undefined)
          throw new BadCell(
            'prefix',
            `is for ${nameOfLine(line)}, as line ${earlier.at} is: give each destination and type one line`,
          )
        if (lines.size === MAX_RATE_LINES)
          throw new UsageError(`FILE: line ${at}: a card has ${MAX_RATE_LINES} lines at most`)
        lines.set(keyOfLine(line), { line, at })
      }
    } catch (error) {
      if (!(error instanceof BadCell)) throw error
      const name = header.cells[places[error.column] ?? places.country ?? 0]?.trim() ?? ''
      faults.add(at, name, error.message, safe(`line ${at}: ${name} ${error.message}`))
      isBad = true
    }
  }
  if (isBad)
    throw new UsageError(
      ['FILE cannot be imported, and nothing was sent:', ...faults.shown(MAX_KINDS).lines].join('\n  '),
    )
  const key = keyOfLine(ONE_A_SEGMENT)
  if (!lines.has(key)) {
    if (rest === undefined)
      throw new UsageError(
        'FILE has no line for all other destinations: --rest UNITS says what a segment to them costs',
      )
    lines.set(key, { line: { ...ONE_A_SEGMENT, per_segment: rest }, at: undefined })
  }
  return [...lines.values()]
}

function* linesOfRow(cell: (column: Column) => string, scale: number): Generator<RateLine, void> {
  const units = (column: Column) => {
    const read = unitsIn(cell(column), scale, MAX_RATE)
    if ('issue' in read) throw new BadCell(column, read.issue)
    return read.units
  }
  const places = placesOf(cell('prefix'), cell('country'))
  const message_type = cell('type') || null
  if (message_type !== null && !new RegExp(PATTERNS.messageType.pattern).test(message_type))
    throw new BadCell('type', `must be ${PATTERNS.messageType.accepts}, not ${JSON.stringify(message_type)}`)
  const [per_segment, per_message] = [units('price'), cell('per-message') === '' ? 0 : units('per-message')]
  if (per_segment + per_message === 0) throw new BadCell('price', 'must be at least 1 unit')
  for (const place of places) yield { ...place, message_type, per_segment, per_message }
}

/** How files say that a line is for all destinations that no other line names. */
const REST = /^(?:\*|row|rest of (?:the )?world)?$/i

/** Of a line with both, the prefix counts: the country beside it is mostly a name. */
function* placesOf(prefix: string, country: string): Generator<Pick<RateLine, 'prefix' | 'country'>, void> {
  if (!REST.test(prefix)) for (const one of prefixesIn(prefix)) yield { prefix: one, country: null }
  else if (REST.test(country)) yield { prefix: null, country: null }
  else if (isCountry(country.toUpperCase())) yield { prefix: null, country: country.toUpperCase() }
  else
    throw new BadCell(
      'country',
      `must be an ISO 3166 alpha-2 country code such as "DE", not ${JSON.stringify(country)}`,
    )
}

const PREFIX = new RegExp(PATTERNS.ratePrefix.pattern)
const isInternational = (word: string) => /^(?:\+|00)/.test(word)

function* prefixesIn(cell: string): Generator<string, void> {
  const refuse = (what: string, text: string) => new BadCell('prefix', `must ${what}, not ${JSON.stringify(text)}`)
  const words = cell
    .replaceAll(/\s*[-–]\s*/g, '-')
    .split(/[\s;,]+/)
    .filter(word => word !== '')
  if (words.some(isInternational) && !words.every(isInternational))
    throw refuse('have no blank within a prefix, and + or 00 before all or none', cell)
  for (const word of words) {
    const [first = '', last = first, ...more] = word.split('-').map(part => part.replace(/^(?:\+|00)/, ''))
    const isRange = first.length === last.length && first <= last && more.length === 0
    if (!PREFIX.test(first) || !PREFIX.test(last) || !isRange)
      throw refuse('be up to 10 digits such as 49, +49 or 0049, or a range such as 49151-49153', word)
    for (let prefix = Number(first); prefix <= Number(last); prefix += 1) yield String(prefix)
  }
}
