import { readCell } from '../../../src/domain/basics/csv.ts'
import { parseCsv } from '../../../src/domain/basics/csv-rows.ts'
import type { ApiProblem } from '../api/problem.ts'

/** A row of a file. What is wrong of it, the service says. */
export interface PriceRow {
  prefix?: string | null
  country?: string | null
  message_type?: string | null
  per_segment?: number | string
  per_message?: number | string
}

export const PRICE_COLUMNS = ['prefix', 'country', 'message_type', 'per_segment', 'per_message'] as const
type Column = (typeof PRICE_COLUMNS)[number]

const TEXT = { anyOf: [{ type: 'string' }, { type: 'null' }] }

type PriceFile =
  | { rows: readonly PriceRow[] /** Where each row begins in the file, from 1. */; places: readonly number[] }
  | { problem: 'empty' | 'columns' }

/** The rows of a list of prices. An empty cell is a field that is left out. @throws CsvError */
export function readPrices(text: string): PriceFile {
  const [head, ...rows] = parseCsv(text)
  if (head === undefined || rows.length === 0) return { problem: 'empty' }
  const names = head.cells.map(cell => cell.trim().toLowerCase())
  const columns = names.flatMap(name => PRICE_COLUMNS.find(column => column === name) ?? [])
  if (columns.length < names.length || new Set(columns).size < columns.length) return { problem: 'columns' }
  return { rows: rows.map(({ cells }) => rowOf(columns, cells)), places: rows.map(({ line }) => line) }
}

function rowOf(columns: readonly Column[], cells: readonly string[]): PriceRow {
  const row: PriceRow = {}
  for (const [index, column] of columns.entries()) {
    const cell = cells[index]?.trim() ?? ''
    if (cell === '') continue
    if (column === 'per_segment' || column === 'per_message') {
      const value = readCell({ type: 'integer' }, cell)
      row[column] = typeof value === 'number' ? value : cell
    } else {
      const value = readCell(TEXT, cell)
      row[column] = typeof value === 'string' ? value : null
    }
  }
  return row
}

/** What the service does not accept of a list of prices: of a field of a line, of a line beside another one, of the list, or its time. */
export interface PriceIssue {
  /** Of the file; null: of the list as a whole. */
  line: number | null
  about: Column | 'twice' | 'list' | 'valid_from'
}

/** The issues of an answer, in the lines of the file. */
export function priceIssues({ issues }: ApiProblem, places: readonly number[]): PriceIssue[] {
  return issues.flatMap(({ path }): PriceIssue[] => {
    if (path.endsWith('valid_from')) return [{ line: null, about: 'valid_from' }]
    const [, index, field] = /^\/lines(?:\/(\d+)(?:\/(\w+))?)?/.exec(path) ?? []
    const line = index === undefined ? null : (places[Number(index)] ?? null)
    return [{ line, about: line === null ? 'list' : (PRICE_COLUMNS.find(column => column === field) ?? 'twice') }]
  })
}
