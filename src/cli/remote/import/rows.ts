/** Reads the rows of a file of quotas, CSV or newline-delimited JSON, in bounded memory. */
import { CsvError, type CsvRow, createCsvReader } from '../../../domain/basics/csv-rows.ts'
import {
  createFileText,
  type FileText,
  isUnreadable,
  LongLine,
  MAX_LINE_BYTES,
  textOfFile,
} from '../../../domain/basics/file-text.ts'
import {
  columnNames,
  QUOTA_COLUMNS,
  type RowFault,
  readQuotaRow,
  unknownNames,
} from '../../../domain/quotas/quota-file.ts'
import { readJson } from '../../../http/platform/json-text.ts'
import type { Issues } from '../../../http/platform/validation.ts'
import { createRowCheck } from '../../../http/quotas/import.ts'
import { openRegular } from '../../regular-file.ts'
import { foreignIn, linesIn, unreadableIn } from '../files.ts'

/** A row longer than this, in bytes, is refused, as the service does. */
const MAX_ROW_BYTES = 64 * 1024

export interface Row {
  /** Where the row begins in the file, from 1. */
  line: number
  /** As a line of JSON. */
  json: string
  /** What is wrong with it; null if it can be sent. */
  issues: Issues | null
  /** Its fields; none if it cannot be read. */
  value: Readonly<Record<string, unknown>>
}

/** Reads groups of rows. A row is checked against the schema of the API; only the service knows whether the rest fits. */
export async function* rowsOf(path: string, encoding?: string): AsyncGenerator<Row[], void> {
  const file = await openRegular(path)
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(4_096), position: 0 })
    const beginning = buffer.subarray(0, bytesRead)
    const foreign = foreignIn(beginning)
    if (foreign !== null) {
      yield [badRow(1, foreign)]
      return
    }
    // No CSV begins so.
    const read = /^\s*[{[]/.test(textOfFile(beginning, encoding)) ? jsonRows : csvRows
    const text = createFileText(encoding)
    yield* read(linesIn(file.createReadStream({ start: 0, autoClose: false }), text), text)
  } finally {
    await file.close()
  }
}

const check = createRowCheck()

async function* jsonRows(parts: AsyncIterable<string>, file: FileText): AsyncGenerator<Row[], void> {
  let last = 0
  try {
    for await (const part of parts) {
      const lines = part.replace(/(?:\r\n|\r|\n)$/, '').split(/\r\n|\r|\n/)
      const first = last + 1
      last += lines.length
      yield lines.flatMap((text, index) => (text.trim() === '' ? [] : jsonRow(first + index, text, file)))
    }
  } catch (error) {
    if (!(error instanceof LongLine)) throw error
    yield [badRow(last + 1, TOO_LONG)]
  }
}

const TOO_LONG = `must be a line of at most ${MAX_LINE_BYTES} bytes; the rest of the file was not read`

function jsonRow(line: number, json: string, file: FileText): Row {
  if (isUnreadable(json)) return badRow(line, unreadableIn(file))
  if (Buffer.byteLength(json) > MAX_ROW_BYTES) return badRow(line, `must have at most ${MAX_ROW_BYTES} bytes as JSON`)
  const read = readJson(json)
  if ('issues' in read) return { line, json, issues: read.issues, value: {} }
  return { line, json, issues: check(read.value), value: isObject(read.value) ? read.value : {} }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

function badRow(line: number, message: string, path = ''): Row {
  return { line, json: '', issues: [{ path, message }], value: {} }
}

async function* csvRows(parts: AsyncIterable<string>, file: FileText): AsyncGenerator<Row[], void> {
  const reader = createCsvReader()
  let names: string[] | undefined
  let rows: Row[] = []
  function add(row: CsvRow): void {
    if (names !== undefined) rows.push(csvRow(row, names, file))
    else {
      const [first, ...others] = issuesOfHeader(row, file)
      // Every row would be wrong in the same way.
      if (first !== undefined) throw new BadHeader({ line: row.line, json: '', issues: [first, ...others], value: {} })
      names = columnNames(row)
    }
  }
  try {
    for await (const part of parts) {
      for (const row of reader.read(part, 'more')) add(row)
      yield rows
      rows = []
    }
    for (const row of reader.read('', 'end')) add(row)
  } catch (error) {
    rows.push(faultOf(error, reader.line))
  }
  yield rows
}

class BadHeader extends Error {
  readonly row: Row

  constructor(row: Row) {
    super()
    this.row = row
  }
}

/** What ends the reading of a file, as a row. @throws any other error */
function faultOf(error: unknown, line: number): Row {
  if (error instanceof BadHeader) return error.row
  if (error instanceof LongLine || (error instanceof CsvError && error.fault === 'too_long'))
    return badRow(line, TOO_LONG)
  if (!(error instanceof CsvError)) throw error
  return badRow(error.line, `is not valid CSV, so the rest of the file was not read: ${error.words}`)
}

/** The issues of the names of the columns. */
function issuesOfHeader(row: CsvRow, file: FileText) {
  if (row.cells.some(isUnreadable)) return [{ path: '', message: unreadableIn(file) }]
  const names = columnNames(row)
  const unknown = new Set(unknownNames(names))
  return names.flatMap((name, index) => {
    const path = `/${name}`
    if (unknown.has(name)) return [{ path, message: `is no column; columns are ${QUOTA_COLUMNS.join(', ')}` }]
    return name !== '' && names.indexOf(name) < index ? [{ path, message: 'is there twice' }] : []
  })
}

function csvRow({ line, cells }: CsvRow, names: readonly string[], file: FileText): Row {
  const read = readQuotaRow(names, cells)
  if ('value' in read) return jsonRow(line, JSON.stringify(read.value), file)
  return badRow(line, ...faultInWords(read.fault, file))
}

const LOST = 'must be a text; what spreadsheets show in place of a value needs an apostrophe before it'

function faultInWords(fault: RowFault, file: FileText): [message: string, path?: string] {
  switch (fault.reason) {
    case 'too_many_cells':
      return [`has ${fault.cells} cells, and the header has ${fault.columns}`]
    case 'nameless_column':
      return [`has a value in column ${fault.column}, which has no name`]
    case 'unreadable':
      return [unreadableIn(file), `/${fault.column}`]
    case 'lost':
      return [`${LOST}, not ${JSON.stringify(fault.text)}`, `/${fault.column}`]
  }
}
