/** Reads files of CSV (RFC 4180), also as spreadsheets of other countries write them. Commands and console read with it. */

export interface CsvRow {
  /** Where the row begins in the file, from 1. A line break of any kind begins a line, also within quotation marks. */
  line: number
  cells: readonly string[]
}

/** A fault of a file, behind which the rest of it cannot be read. */
export type CsvFault = 'unclosed_quote' | 'text_after_quote' | 'quote_after_blank' | 'unknown_separator' | 'too_long'

const IN_WORDS: Record<CsvFault, string> = {
  unclosed_quote: 'a quotation mark is not closed',
  text_after_quote:
    'text follows the quotation mark that ends a cell; a quotation mark within such a cell is written twice',
  quote_after_blank: 'a cell begins with a blank and a quotation mark; leave out the blank',
  unknown_separator: 'sep= names the separator: a comma, a semicolon, a tab or a vertical bar',
  too_long: 'the row is too long',
}

export class CsvError extends Error {
  /** Of an unclosed quotation mark, where it was opened. */
  readonly line: number
  readonly fault: CsvFault
  readonly words: string

  constructor(line: number, fault: CsvFault) {
    super(`line ${line}: ${IN_WORDS[fault]}`)
    this.line = line
    this.fault = fault
    this.words = IN_WORDS[fault]
  }
}

/** @returns the rows that have a cell with text. @throws CsvError */
export function parseCsv(text: string): CsvRow[] {
  return [...createCsvReader().read(text, 'end')]
}

const SEPARATORS = [',', ';', '\t', '|'] as const

/** Characters of a row. What holds a quota is much shorter, and a quotation mark that is never closed is found here. */
const MAX_ROW_LENGTH = 256 * 1024

/** Reads a file part by part. */
export interface CsvReader {
  /** Where the first row begins that has not been read yet. */
  readonly line: number
  /** Reads on, and yields the rows that are complete. @throws CsvError after the rows before it */
  read(part: string, more: 'more' | 'end'): Iterable<CsvRow>
}

export const createCsvReader = (): CsvReader => new Reader()

class Reader implements CsvReader {
  line = 1
  private rest = ''
  private isBegun = false
  private separator = ''
  private endOfCell = /$/g

  /** Finds the separator. @returns the text without what only names it; null if the first line is not complete */
  private begin(text: string, more: 'more' | 'end'): string | null {
    // Export-Csv of Windows PowerShell writes the type of what it exports before the names of the columns.
    const [type = ''] = /^\uFEFF?#TYPE [^\r\n]*(?:\r\n|\n|\r(?=[\s\S]))/.exec(text) ?? []
    const source = text.slice(type.length).replace(/^\uFEFF/, '')
    const [blank = ''] = /^\s*/.exec(source) ?? []
    const [first = ''] = /^[^\r\n]*/.exec(source.slice(blank.length)) ?? []
    const end = source.slice(blank.length + first.length)
    // A carriage return may be the first half of a line break.
    const isComplete = more === 'end' || (end !== '' && end !== '\r')
    if (!isComplete && source.length <= MAX_ROW_LENGTH) return null
    this.isBegun = true
    this.line += breaksIn(type)
    // Blanks of the first line may be separators.
    const [, named] = /^"?sep=(.?)"?[,;\t|]*$/i.exec(first) ?? []
    const separator = named === undefined ? mostFrequent(first) : SEPARATORS.find(known => known === named)
    if (separator === undefined) throw new CsvError(this.line + breaksIn(blank), 'unknown_separator')
    this.separator = separator
    this.endOfCell = new RegExp(`[${separator}\\r\\n]`, 'g')
    if (named === undefined) return source
    const [before = ''] = /^[\s\S]*?sep=[^\r\n]*(?:\r\n|\r|\n)?/i.exec(source) ?? []
    this.line += breaksIn(before)
    return source.slice(before.length)
  }

  *read(part: string, more: 'more' | 'end'): Generator<CsvRow, void> {
    let source = this.rest + part
    this.rest = ''
    if (!this.isBegun) {
      const begun = this.begin(source, more)
      if (begun === null) {
        this.rest = source
        return
      }
      source = begun
    }
    let at = 0
    while (at < source.length) {
      const row = this.rowAt(source, at, more)
      const length = (row?.end ?? source.length) - at
      if (length > MAX_ROW_LENGTH) throw new CsvError(this.line, 'too_long')
      if (row === null) break
      const { cells, end, lines } = row
      if (cells.some(cell => cell.trim() !== '')) yield { line: this.line, cells }
      this.line += lines
      at = end
    }
    this.rest = source.slice(at)
  }

  /** The row that begins at a place; null if its end has not come. */
  private rowAt(source: string, start: number, more: 'more' | 'end') {
    const cells: string[] = []
    let lines = 1
    for (let at = start; ; at += 1) {
      const cell = source[at] === '"' ? this.quotedAt(source, at, more, lines) : this.plainAt(source, at)
      if (cell === null) return null
      cells.push(cell.text)
      at = cell.end
      if (source[at] === this.separator) {
        lines += cell.breaks
        continue
      }
      // A carriage return may be the first half of a line break.
      if (more === 'more' && (at >= source.length || (source[at] === '\r' && at + 1 === source.length))) return null
      const isPair = source[at] === '\r' && source[at + 1] === '\n'
      return { cells, end: at + (isPair ? 2 : 1), lines: lines + cell.breaks }
    }
  }

  private plainAt(source: string, start: number) {
    this.endOfCell.lastIndex = start
    const end = this.endOfCell.exec(source)?.index ?? source.length
    const text = source.slice(start, end)
    if (/^\s+"/.test(text)) throw new CsvError(this.line, 'quote_after_blank')
    return { text, end, breaks: 0 }
  }

  /** @param lines of the row so far, this one included */
  private quotedAt(source: string, start: number, more: 'more' | 'end', lines: number) {
    let end = source.indexOf('"', start + 1)
    while (end !== -1 && source[end + 1] === '"') end = source.indexOf('"', end + 2)
    if (end === -1 && more === 'more' && source.length - start <= MAX_ROW_LENGTH) return null
    if (end === -1) throw new CsvError(this.line + lines - 1, 'unclosed_quote')
    const text = source.slice(start + 1, end).replaceAll('""', '"')
    const after = source[end + 1]
    const breaks = breaksIn(text)
    // The next part may begin with a second quotation mark.
    if (after === undefined && more === 'more') return null
    const isEnd = after === undefined || after === this.separator || after === '\r' || after === '\n'
    if (!isEnd) throw new CsvError(this.line + lines - 1 + breaks, 'text_after_quote')
    return { text, end: end + 1, breaks }
  }
}

function breaksIn(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0
}

/** What the first line has most of, outside of quotation marks. */
function mostFrequent(line: string): string {
  const plain = line.replaceAll(/"(?:[^"]|"")*"/g, '')
  const counts = SEPARATORS.map(separator => ({ separator, count: plain.split(separator).length }))
  return counts.reduce((best, other) => (other.count > best.count ? other : best)).separator
}
