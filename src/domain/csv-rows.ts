/** Reads files of CSV (RFC 4180), also as spreadsheets of other countries write them. */

export interface CsvRow {
  /** Where the row begins in the file, from 1. */
  line: number
  cells: readonly string[]
}

/** A quotation mark that is never closed: the rest of the file would be one cell. */
export class UnclosedQuote extends Error {
  readonly line: number

  constructor(line: number) {
    super(`line ${line}: a quotation mark is not closed`)
    this.line = line
  }
}

/** @returns the rows that have a cell with text. @throws UnclosedQuote */
export function parseCsv(text: string): CsvRow[] {
  const source = text.replace(/^\uFEFF/, '')
  const separator = separatorOf(source)
  const rows: CsvRow[] = []
  let cells: string[] = []
  let line = 1
  let rowLine = 1
  // A cell, quoted or not, and what ends it.
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|((?!")[^${separator}\\r\\n]*))(${separator}|\\r\\n|\\n|\\r|$)`, 'y')
  while (cell.lastIndex < source.length || cells.length > 0) {
    const match = cell.exec(source)
    if (match === null) throw new UnclosedQuote(line)
    const [whole, quoted, plain = '', end] = match
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    line += whole.split('\n').length - 1
    if (end === separator) continue
    if (cells.some(text => text.trim() !== '')) rows.push({ line: rowLine, cells })
    cells = []
    rowLine = line
  }
  return rows
}

/** Comma, semicolon or tab: what the first line has most of. */
function separatorOf(text: string): string {
  const [first = ''] = text.split('\n', 1)
  const counts = [',', ';', '\t'].map(separator => ({ separator, count: first.split(separator).length }))
  return counts.reduce((best, other) => (other.count > best.count ? other : best)).separator
}
