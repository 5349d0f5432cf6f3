import type { FastifyInstance } from 'fastify'
import { RateLine } from '../../contract/rate-cards.ts'
import { type FieldSchema, readCell } from '../../domain/basics/csv.ts'
import { CsvError, parseCsv } from '../../domain/basics/csv-rows.ts'
import { invalidRequest, Problem, type ValidationIssue } from '../../errors.ts'
import { isPlainUtf8 } from '../platform/json-body.ts'

const FIELDS: Readonly<Record<string, FieldSchema>> = RateLine.properties
const NAMES = Object.keys(FIELDS).join(', ')

/** Takes a list of prices as CSV, too: its rows become the lines of a body. */
export function parseCsvBodies(app: FastifyInstance, limit: number): void {
  app.addContentTypeParser('text/csv', (request, stream, done) =>
    app.bodyReader.read(stream, limit, (error, body) => {
      if (body === undefined) return done(error)
      if (!isPlainUtf8(request.headers))
        return done(new Problem('unsupported_media_type', 'Send CSV in UTF-8, without Content-Encoding.'))
      const lines = linesOfCsv(body.toString('utf8'))
      if ('issues' in lines) done(invalidRequest(lines.issues))
      else done(null, lines)
    }),
  )
}

/** The body that a file of prices stands for. Its first row names the fields; an empty cell is one that is left out. */
function linesOfCsv(text: string): { lines: object[] } | { issues: [ValidationIssue, ...ValidationIssue[]] } {
  try {
    const [head, ...rows] = parseCsv(text)
    const columns = head?.cells.map(cell => cell.trim()) ?? []
    const unknown = columns.find(column => !Object.hasOwn(FIELDS, column))
    if (unknown !== undefined || head === undefined)
      return { issues: [{ path: '/lines', message: `must begin with a row of names among ${NAMES}` }] }
    const lines = rows.map(({ cells }) =>
      Object.fromEntries(
        columns.flatMap((column, index) => {
          const cell = cells[index] ?? ''
          return cell.trim() === '' ? [] : [[column, readCell(FIELDS[column] ?? {}, cell)]]
        }),
      ),
    )
    return { lines }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { issues: [{ path: '/lines', message: error.message }] }
  }
}
