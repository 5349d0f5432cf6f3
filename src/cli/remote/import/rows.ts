/** Reads the rows of a file of quotas, CSV or newline-delimited JSON, in bounded memory. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { ImportRow } from '../../../contract/import.ts'
import { readCell } from '../../../domain/csv.ts'
import type { ValidationIssue } from '../../../errors.ts'
import { readJson } from '../../../http/platform/json-text.ts'
import { linesOf } from '../../../http/platform/ndjson.ts'
import { compileCheck, type Issues } from '../../../http/platform/validation.ts'

/** A row longer than this, in bytes, is refused, as the service does. */
const MAX_ROW_BYTES = 64 * 1024

export interface Row {
  /** Where the row begins in the file, from 1. */
  line: number
  /** As a line of JSON. */
  json: string
  /** What is wrong with it; null if it can be sent. */
  issues: Issues | null
}

/** Reads groups of rows. A row is checked against the schema of the API; only the service knows whether the rest fits. */
export async function* rowsOf(path: string): AsyncGenerator<Row[], void> {
  yield* (await isJson(path)) ? jsonRows(path) : csvRows(path)
}

/** Whether the first character that is not blank begins an object: no CSV begins so. */
async function isJson(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(4_096) })
    return /^\uFEFF?\s*\{/.test(buffer.toString('utf8', 0, bytesRead))
  } finally {
    await file.close()
  }
}

const check = compileCheck(ImportRow)

async function* jsonRows(path: string): AsyncGenerator<Row[], void> {
  for await (const lines of linesOf(createReadStream(path), MAX_ROW_BYTES)) {
    yield lines.filter(({ text }) => text?.trim() !== '').map(({ number, text }) => jsonRow(number, text))
  }
}

function jsonRow(line: number, text: string | null): Row {
  if (text === null) return badRow(line, `must be a line of UTF-8 of at most ${MAX_ROW_BYTES} bytes`)
  const read = readJson(text)
  return { line, json: text, issues: 'issues' in read ? read.issues : check(read.value) }
}

const badRow = (line: number, message: string, path = ''): Row => ({ line, json: '', issues: [{ path, message }] })

const FIELDS = ImportRow.properties
const isField = (name: string): name is keyof typeof FIELDS => Object.hasOwn(FIELDS, name)

/** A line longer than this, in bytes, has no row that fits, however much of it are quotes. */
const MAX_LINE_BYTES = 4 * MAX_ROW_BYTES

class LongLine extends Error {
  readonly line: number

  constructor(line: number) {
    super()
    this.line = line
  }
}

/** Passes a file on. The parser bounds what the cells of a row hold, but not how many there are. @throws LongLine */
async function* boundedLines(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let line = 1
  let bytes = 0
  for await (const chunk of file) {
    let start = 0
    for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', start)) {
      if (bytes + at - start > MAX_LINE_BYTES) throw new LongLine(line)
      start = at + 1
      bytes = 0
      line += 1
    }
    bytes += chunk.length - start
    if (bytes > MAX_LINE_BYTES) throw new LongLine(line)
    yield chunk
  }
}

/** Rows of CSV in one group: enough to read on quickly, few enough to hold. */
const GROUP = 500

async function* csvRows(path: string): AsyncGenerator<Row[], void> {
  const file = Readable.from(boundedLines(createReadStream(path)))
  const records = file.pipe(
    parse({
      bom: true,
      info: true,
      relax_column_count: true,
      max_record_size: MAX_ROW_BYTES,
      record_delimiter: ['\r\n', '\n'],
    }),
  )
  file.on('error', error => records.destroy(error))
  let header: string[] | undefined
  let lastLine = 0
  let rows: Row[] = []
  try {
    for await (const { record, info } of records as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      const line = lastLine + 1
      lastLine = info.lines
      if (record.every(cell => cell === '')) continue
      if (header === undefined) {
        header = record.map(name => name.trim())
        const [first, ...others] = issuesOfHeader(header)
        if (first === undefined) continue
        // Every row would be wrong in the same way.
        return yield [{ line, json: '', issues: [first, ...others] }]
      }
      rows.push(csvRow(line, header, record))
      if (rows.length < GROUP) continue
      yield rows
      rows = []
    }
  } catch (error) {
    if (error instanceof LongLine) rows.push(badRow(error.line, `must be a line of at most ${MAX_LINE_BYTES} bytes`))
    else if (!(error instanceof CsvError)) throw error
    else rows.push(badRow(lastLine + 1, `is not valid CSV, so the rest of the file was not read: ${error.message}`))
  }
  yield rows
}

/** The issues of the names of the columns. */
function issuesOfHeader(header: readonly string[]): ValidationIssue[] {
  return header.flatMap((name, index) => {
    const path = `/${name}`
    if (!isField(name)) return [{ path, message: `is no column; columns are ${Object.keys(FIELDS).join(', ')}` }]
    return header.indexOf(name) < index ? [{ path, message: 'is there twice' }] : []
  })
}

/** An empty cell leaves the field out. */
function csvRow(line: number, header: readonly string[], cells: readonly string[]): Row {
  if (cells.length > header.length) {
    return badRow(line, `has ${cells.length} cells, and the header has ${header.length}`)
  }
  const value: Record<string, unknown> = {}
  for (const [index, name] of header.entries()) {
    const text = cells[index] ?? ''
    if (text !== '' && isField(name)) value[name] = readCell(FIELDS[name], text)
  }
  return jsonRow(line, JSON.stringify(value))
}
